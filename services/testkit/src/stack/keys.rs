//! The keys of one bank, made once and kept.

use std::fs;
use std::path::Path;

use anyhow::Context;
use countersign_identity::{SigningKeyFile, VerifyingKeyFile, generate_key};

use crate::files;
use crate::secrets::random_bytes;

/// Every private key of the bank; each goes to exactly one process.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Signs session tokens; `intake` holds it.
    pub session: SigningKeyFile,
    /// Signs request tokens; `door` holds it.
    pub request: SigningKeyFile,
    /// Signs heads of the door's record; `door` holds it.
    pub receipt: SigningKeyFile,
    /// Signs heads of the bank's log; `panel`'s notary holds it.
    pub notary: SigningKeyFile,
}

impl Keys {
    /// Reads the keys in `folder`, making those that are not there yet. Files are its owner's alone.
    ///
    /// # Errors
    /// When a file cannot be read or written, or holds no key.
    pub fn load_or_make(folder: &Path) -> anyhow::Result<Self> {
        files::make_folder(folder, 0o700)?;
        Ok(Self {
            session: load_or_make(folder, "session")?,
            request: load_or_make(folder, "request")?,
            receipt: load_or_make(folder, "receipt")?,
            notary: load_or_make(folder, "notary")?,
        })
    }
}

fn load_or_make(folder: &Path, name: &str) -> anyhow::Result<SigningKeyFile> {
    let path = folder.join(format!("{name}.json"));
    if path.exists() {
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        return serde_json::from_str(&text)
            .map_err(|_| anyhow::anyhow!("{} holds no key", path.display()));
    }
    // Two banks' keys of one name must not be taken for each other.
    let suffix = hex::encode(random_bytes::<2>()?);
    let key = generate_key(random_bytes()?, &format!("{name}-{suffix}"));
    files::write_private(&path, &serde_json::to_string(&key)?)?;
    Ok(key)
}

/// The public half, for the processes that verify.
///
/// # Errors
/// When the private half is no key.
pub fn public(key: &SigningKeyFile) -> anyhow::Result<VerifyingKeyFile> {
    Ok(key.verifying_key_file()?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn keys_are_made_once_and_closed_to_others() {
        let folder = std::env::temp_dir().join(format!("countersign-keys-{}", std::process::id()));
        let made = Keys::load_or_make(&folder).expect("made");
        let read = Keys::load_or_make(&folder).expect("read");
        assert_eq!(made.session.key_id, read.session.key_id);
        assert_ne!(made.session.key_id, made.request.key_id);
        for entry in fs::read_dir(&folder).expect("list") {
            let mode = entry
                .expect("entry")
                .metadata()
                .expect("metadata")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(folder.join("notary.json"), "{}").expect("write");
        assert!(Keys::load_or_make(&folder).is_err());
        fs::remove_dir_all(folder).expect("clean up");
    }
}
