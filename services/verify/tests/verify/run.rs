//! Running the command in a folder of files.

use std::path::{Path, PathBuf};
use std::process::Command;

use countersign_domain::Secret;
use countersign_receipts::permission::{KeyEntry, KeySet, KeyStatus};
use countersign_receipts::{LogKeyFile, LogSigner};
use ed25519_dalek::pkcs8::EncodePrivateKey as _;

pub fn signer_named(origin: &str, key_id: &str, seed: u8) -> LogSigner {
    let pem = ed25519_dalek::SigningKey::from_bytes(&[seed; 32])
        .to_pkcs8_pem(Default::default())
        .unwrap();
    let file = LogKeyFile {
        key_id: key_id.into(),
        pkcs8_pem: Secret::new(pem.as_str()),
    };
    LogSigner::new(origin, &file).unwrap()
}

pub fn key_set(signer: &LogSigner, status: KeyStatus) -> KeySet {
    KeySet {
        issuer: signer.origin().into(),
        keys: vec![KeyEntry {
            key_id: signer.key_id().into(),
            alg: "ed25519".into(),
            public_key_b64: signer.public_key_b64(),
            status,
            created_at: None,
            revoked_at: None,
            endorsed_by: None,
        }],
    }
}

/// A folder of its own.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("verify-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    pub fn write_json(&self, name: &str, value: &impl serde::Serialize) {
        self.write(name, &serde_json::to_string(value).unwrap());
    }

    /// The exit code, and what was printed.
    pub fn run(&self, arguments: &str) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_countersign-verify"))
            .args(arguments.split_whitespace())
            .current_dir(&self.0)
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), printed)
    }

    pub fn code(&self, arguments: &str) -> i32 {
        self.run(arguments).0
    }
}
