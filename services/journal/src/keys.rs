//! The keys that sign a record, as files of one directory.
//!
//! `keys.json` is for everybody: the public keys with what each is good for, in the form in which
//! verifiers of the Permission Protocol find an issuer's keys; the issuer is the record's origin.
//! `<name>.key` is a private key, for its owner alone. Nothing here makes a key unasked: a door
//! without one does not start.

mod change;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use countersign_receipts::permission::{KeySet, KeyStatus};
use countersign_receipts::{LogKeyFile, LogSigner, LogVerifier, WitnessSigner, is_demo_key};

pub use change::{init, revoke, rotate};

/// Bits of a mode that let others than the owner at a file.
const OTHERS: u32 = 0o077;
/// Bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// Why keys cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// There are none.
    #[error("{0}: no keys here; make them with `countersign-door keys init`")]
    None(PathBuf),
    /// A file cannot be read or written.
    #[error("{path}")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Others than the owner can read the key, or change the directory.
    #[error(
        "{0}: others than its owner can get at it; `chmod go= {0}`, and rotate the key if it was exposed"
    )]
    Exposed(PathBuf),
    /// A file has another form.
    #[error("{path}: {what}")]
    Malformed {
        /// Which one.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// No key is active.
    #[error(
        "{0}: the key was revoked or replaced and none took its place; make one with `countersign-door keys rotate`"
    )]
    Revoked(PathBuf),
    /// Private and public half do not belong together.
    #[error("{0}: this private key is not the one that keys.json names")]
    Mismatched(PathBuf),
    /// A key for demonstrations, elsewhere.
    #[error(
        "{0}: a key for demonstrations signs demonstrations alone; make one with `countersign-door keys init`"
    )]
    Demo(PathBuf),
    /// There are keys already.
    #[error("{0}: there are keys here already; replace one with `countersign-door keys rotate`")]
    Exists(PathBuf),
    /// No key of this name.
    #[error("{0}: no key of this name here")]
    Unknown(String),
}

/// The keys of one record.
#[derive(Debug)]
pub struct KeyRing {
    /// The one that signs.
    pub signer: LogSigner,
    /// The ones that signed before and were replaced, not revoked.
    pub earlier: Vec<LogVerifier>,
    /// All of them, as others are given them.
    pub set: KeySet,
}

/// The public file in a directory of keys.
#[must_use]
pub fn public_file(directory: &Path) -> PathBuf {
    directory.join("keys.json")
}

fn private_file(directory: &Path, key_id: &str) -> PathBuf {
    directory.join(format!("{key_id}.key"))
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> KeysError + use<> {
    let path = path.to_owned();
    move |source| KeysError::File { path, source }
}

/// Reads the public keys of a directory.
///
/// # Errors
/// [`KeysError`] when there are none.
pub fn read_public(directory: &Path) -> Result<KeySet, KeysError> {
    let path = public_file(directory);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(KeysError::None(directory.to_owned()));
        }
        Err(error) => return Err(failed(&path)(error)),
    };
    KeySet::read(&text).map_err(|refusal| KeysError::Malformed {
        path,
        what: refusal.what,
    })
}

fn refuse_exposed(path: &Path, bits: u32) -> Result<(), KeysError> {
    let metadata = std::fs::metadata(path).map_err(failed(path))?;
    if metadata.permissions().mode() & bits != 0 {
        return Err(KeysError::Exposed(path.to_owned()));
    }
    Ok(())
}

/// The private key of this name, when nobody else can read it and it is the one that is named.
fn read_private(directory: &Path, set: &KeySet, key_id: &str) -> Result<LogSigner, KeysError> {
    read_pair(directory, set, key_id).map(|(_, signer)| signer)
}

/// The key of a witness in a directory of keys; its origin is the witness's name.
///
/// # Errors
/// As [`KeyRing::open`].
pub fn open_witness(directory: &Path, demo: bool) -> Result<WitnessSigner, KeysError> {
    let ring = KeyRing::open(directory, demo)?;
    let (file, _) = read_pair(directory, &ring.set, ring.signer.key_id())?;
    WitnessSigner::new(ring.signer.origin(), &file).map_err(|error| KeysError::Malformed {
        path: public_file(directory),
        what: error.to_string(),
    })
}

fn read_pair(
    directory: &Path,
    set: &KeySet,
    key_id: &str,
) -> Result<(LogKeyFile, LogSigner), KeysError> {
    let path = private_file(directory, key_id);
    refuse_exposed(directory, OTHERS_WRITE)?;
    // Whoever may write here says which key counts.
    refuse_exposed(&public_file(directory), OTHERS_WRITE)?;
    refuse_exposed(&path, OTHERS)?;
    let text = std::fs::read_to_string(&path).map_err(failed(&path))?;
    let malformed = |what: String| KeysError::Malformed {
        path: path.clone(),
        what,
    };
    let file: LogKeyFile =
        serde_json::from_str(&text).map_err(|_| malformed("not a key file".into()))?;
    let signer =
        LogSigner::new(&set.issuer, &file).map_err(|error| malformed(error.to_string()))?;
    let named = set.keys.iter().find(|entry| entry.key_id == key_id);
    let matches = named.is_some_and(|entry| entry.public_key_b64 == signer.public_key_b64());
    if !matches || file.key_id != key_id {
        return Err(KeysError::Mismatched(path));
    }
    Ok((file, signer))
}

impl KeyRing {
    /// Reads the keys of a directory. A key for demonstrations is taken only when `demo` says so.
    ///
    /// # Errors
    /// [`KeysError`] when there is no key, or an exposed, revoked or mismatched one; whoever asked
    /// does not start then.
    pub fn open(directory: &Path, demo: bool) -> Result<Self, KeysError> {
        let set = read_public(directory)?;
        let public = public_file(directory);
        let mut active = set
            .keys
            .iter()
            .filter(|entry| entry.status == KeyStatus::Active);
        let entry = active
            .next()
            .ok_or_else(|| KeysError::Revoked(public.clone()))?;
        let malformed = |what: &str| KeysError::Malformed {
            path: public.clone(),
            what: what.to_owned(),
        };
        if active.next().is_some() {
            return Err(malformed("more than one key is active"));
        }
        if is_demo_key(&entry.key_id) && !demo {
            return Err(KeysError::Demo(private_file(directory, &entry.key_id)));
        }
        let signer = read_private(directory, &set, &entry.key_id)?;
        let earlier = set
            .keys
            .iter()
            .filter(|entry| entry.status == KeyStatus::Rotated)
            .map(|entry| {
                let key = entry.key().map_err(|refusal| malformed(&refusal.what))?;
                LogVerifier::from_key(&set.issuer, key)
                    .map_err(|error| malformed(&error.to_string()))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            signer,
            earlier,
            set,
        })
    }
}
