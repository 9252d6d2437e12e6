//! Directories, keys and events for the tests.

use std::path::{Path, PathBuf};

use countersign_domain::Secret;
use countersign_journal::{Files, Journal, LineReader, OpenError, Options, Read};
use countersign_receipts::{Checkpoint, Follower, Frontier, LogKeyFile, LogSigner};
use ed25519_dalek::pkcs8::EncodePrivateKey as _;
use serde_json::{Value, json};

pub const ORIGIN: &str = "log.example/door";

pub fn signer(seed: u8) -> LogSigner {
    let pem = ed25519_dalek::SigningKey::from_bytes(&[seed; 32])
        .to_pkcs8_pem(Default::default())
        .unwrap();
    let file = LogKeyFile {
        key_id: format!("receipts-{seed}"),
        pkcs8_pem: Secret::new(pem.to_string()),
    };
    LogSigner::new(ORIGIN, &file).unwrap()
}

pub fn event(number: u64) -> Value {
    json!({"event": "allowed", "n": number})
}

/// A record's directory of its own, gone with the test.
pub struct Place {
    pub directory: PathBuf,
}

impl Place {
    pub fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("journal-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        Self { directory }
    }

    /// A signed record of so many lines.
    pub fn filled(name: &str, lines: u64) -> Self {
        let place = Self::new(name);
        let journal = place.open();
        for line in 0..lines {
            journal.append(&event(line)).unwrap();
        }
        journal.sign_head().unwrap();
        place
    }

    pub fn files(&self) -> Files {
        Files::new(&self.directory)
    }

    pub fn open(&self) -> Journal {
        self.open_with(Options::default()).unwrap().0
    }

    pub fn open_with(&self, options: Options) -> Result<(Journal, u64), OpenError> {
        Journal::open_with(&self.directory, signer(1), options)
    }

    pub fn refused(&self) -> OpenError {
        Journal::open(&self.directory, signer(1)).err().unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// All lines, read as a stranger would, and checked against the saved head, whose size is
    /// returned with them.
    pub fn audited(&self) -> (Vec<Value>, u64) {
        self.audited_from(Follower::new())
    }

    pub fn audited_from(&self, mut follower: Follower) -> (Vec<Value>, u64) {
        let head = Checkpoint::verify(&self.text("decisions.checkpoint"), &signer(1).verifier());
        let head = head.unwrap().checkpoint;
        let mut lines = Vec::new();
        let mut root = (head.size == 0).then(|| Frontier::new().root());
        for path in self.files().all_lines().unwrap() {
            let mut reader = LineReader::new(std::fs::File::open(path).unwrap(), 0).unwrap();
            while let Read::Line(line) = reader.read().unwrap() {
                lines.push(follower.push(line).unwrap().1);
                if follower.frontier().size() == head.size {
                    root = Some(follower.frontier().root());
                }
            }
        }
        assert_eq!(root, Some(head.root), "the head is over these lines");
        (lines, head.size)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// What is in a directory, to be put back later.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
