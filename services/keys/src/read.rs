//! The files of one folder.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use countersign_identity::SigningKeyFile;

use crate::{JwkSet, KeysError};

/// Longest file of keys that is read, in bytes.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Most keys of a set that may still verify; the verifiers' own limit.
const KEYS_MAX: usize = 16;
/// Bits of a mode that let everybody at a file, or a group change it. A group may read it: orchestrators mount secrets so.
const OTHERS: u32 = 0o027;

/// The public file in a folder.
#[must_use]
pub fn public_file(folder: &Path) -> PathBuf {
    folder.join("jwks.json")
}

/// The private file of a key in a folder.
#[must_use]
pub fn private_file(folder: &Path, key_id: &str) -> PathBuf {
    folder.join(format!("{key_id}.key"))
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, KeysError> {
    let mut text = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text))
        .map_err(KeysError::file(path))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(KeysError::malformed(
            path,
            "longer than a file of keys may be",
        ));
    }
    Ok(text)
}

/// Reads a set of public keys.
///
/// # Errors
/// [`KeysError`] when there is none, it has another form, or a name stands in it twice.
pub fn read_set(path: &Path) -> Result<JwkSet, KeysError> {
    let text = read_bounded(path)?;
    // An object: serde would read a list as its members in order.
    if text.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(KeysError::malformed(
            path,
            "no JSON object with a list `keys`",
        ));
    }
    let set: JwkSet = serde_json::from_slice(&text).map_err(|error| {
        KeysError::malformed(path, format!("no set of public Ed25519 keys: {error}"))
    })?;
    let mut names: Vec<&str> = set.keys.iter().map(|key| &*key.kid).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(KeysError::malformed(path, "two of its keys have one `kid`"));
    }
    let usable = set.keys.iter().filter(|key| key.revoked.is_none());
    if usable.count() > KEYS_MAX {
        return Err(KeysError::malformed(
            path,
            format!("more than {KEYS_MAX} keys that are not revoked"),
        ));
    }
    Ok(set)
}

/// Writes a set in the place of the one that is there: a reader sees the old one or the new one.
///
/// # Errors
/// [`KeysError::File`].
pub fn write_set(path: &Path, set: &JwkSet) -> Result<(), KeysError> {
    let text =
        serde_json::to_string_pretty(set).map_err(|error| KeysError::malformed(path, error))?;
    let beside = path.with_extension("json.new");
    let write = || {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o644)
            .open(&beside)?;
        file.write_all(format!("{text}\n").as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().map_err(KeysError::file(path))
}

/// Reads a private key; none where the file is not there, such as at a verifier's or before it was handed out.
pub(crate) fn read_private(
    folder: &Path,
    key_id: &str,
) -> Result<Option<SigningKeyFile>, KeysError> {
    let path = private_file(folder, key_id);
    let mode = match std::fs::metadata(&path) {
        Ok(metadata) => metadata.permissions().mode(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(KeysError::file(&path)(error)),
    };
    if mode & OTHERS != 0 {
        return Err(KeysError::Exposed(path));
    }
    // Its words would hold the key.
    let file: SigningKeyFile = serde_json::from_slice(&read_bounded(&path)?)
        .map_err(|_| KeysError::malformed(&path, "no private key"))?;
    if file.key_id != key_id {
        return Err(KeysError::Mismatched(path));
    }
    Ok(Some(file))
}

/// Writes a new private key, for its owner alone.
pub(crate) fn write_private(folder: &Path, file: &SigningKeyFile) -> Result<(), KeysError> {
    let path = private_file(folder, &file.key_id);
    let text = serde_json::to_string(file).map_err(|error| KeysError::malformed(&path, error))?;
    let write = || {
        let mut out = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()
    };
    write().map_err(KeysError::file(&path))
}
