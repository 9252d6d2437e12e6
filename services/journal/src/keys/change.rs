//! Making, replacing and revoking keys, by hand alone.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use countersign_receipts::permission::{KeyEntry, KeySet, KeyStatus};
use countersign_receipts::{DEMO_PREFIX, LogKeyFile, LogSigner, is_demo_key};

use super::{KeysError, failed, private_file, public_file, read_private, read_public};
use crate::state_file;

/// A name that says when the key was made and differs between keys.
fn name(demo: bool, now: &str, public_key_b64: &str) -> String {
    let day: String = now.chars().filter(char::is_ascii_digit).take(8).collect();
    let mark = countersign_receipts::leaf_hash(public_key_b64.as_bytes()).to_string();
    let prefix = if demo { DEMO_PREFIX } else { "door-" };
    format!("{prefix}{day}-{}", &mark[..8])
}

/// Writes a new private key and returns it with its public entry.
fn make(
    directory: &Path,
    origin: &str,
    demo: bool,
    now: &str,
    random: &[u8; 32],
) -> Result<(LogSigner, KeyEntry), KeysError> {
    let malformed = |what: String| KeysError::Malformed {
        path: directory.to_owned(),
        what,
    };
    let key = |key_id: &str| {
        let file = LogKeyFile::generate(random, key_id)?;
        LogSigner::new(origin, &file).map(|signer| (file, signer))
    };
    let unusable = |error: countersign_receipts::KeyError| malformed(error.to_string());
    let (_, unnamed) = key("").map_err(unusable)?;
    let key_id = name(demo, now, &unnamed.public_key_b64());
    let (file, signer) = key(&key_id).map_err(unusable)?;
    let path = private_file(directory, &key_id);
    let text = serde_json::to_string_pretty(&file).map_err(|error| malformed(error.to_string()))?;
    let mut private = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed(&path))?;
    private
        .write_all(text.as_bytes())
        .and_then(|()| private.sync_all())
        .map_err(failed(&path))?;
    let entry = KeyEntry {
        key_id,
        alg: "ed25519".into(),
        public_key_b64: signer.public_key_b64(),
        status: KeyStatus::Active,
        created_at: Some(now.to_owned()),
        revoked_at: None,
        endorsed_by: None,
    };
    Ok((signer, entry))
}

fn write_public(directory: &Path, set: &KeySet) -> Result<(), KeysError> {
    let path = public_file(directory);
    let text = serde_json::to_string_pretty(set).map_err(|error| KeysError::Malformed {
        path: path.clone(),
        what: error.to_string(),
    })?;
    state_file::replace(&path, &format!("{text}\n")).map_err(failed(&path))
}

/// Makes the first key of a record with this origin, in a directory of its own.
///
/// `now` is RFC 3339; `random` is 32 bytes of the caller's random source, which become the key.
///
/// # Errors
/// [`KeysError::Exists`] when there are keys already, or what cannot be written.
pub fn init(
    directory: &Path,
    origin: &str,
    demo: bool,
    now: &str,
    random: &[u8; 32],
) -> Result<KeyEntry, KeysError> {
    if public_file(directory).exists() {
        return Err(KeysError::Exists(directory.to_owned()));
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(failed(directory))?;
    let (_, entry) = make(directory, origin, demo, now, random)?;
    let set = KeySet {
        issuer: origin.to_owned(),
        keys: vec![entry.clone()],
    };
    write_public(directory, &set)?;
    Ok(entry)
}

/// Puts a new key in the active one's place. The old one stays, for what it signed; the new one
/// carries its word, unless it was revoked before.
///
/// # Errors
/// [`KeysError`] when there are no keys, or what cannot be read or written.
pub fn rotate(directory: &Path, now: &str, random: &[u8; 32]) -> Result<KeyEntry, KeysError> {
    let mut set = read_public(directory)?;
    let active = set
        .keys
        .iter()
        .position(|entry| entry.status == KeyStatus::Active);
    let demo = set
        .keys
        .last()
        .is_some_and(|entry| is_demo_key(&entry.key_id));
    let earlier = active
        .map(|active| read_private(directory, &set, &set.keys[active].key_id))
        .transpose()?;
    let (_, mut entry) = make(directory, &set.issuer, demo, now, random)?;
    entry.endorsed_by = earlier.map(|earlier| earlier.endorse(&entry.public_key_b64));
    if let Some(active) = active {
        set.keys[active].status = KeyStatus::Rotated;
    }
    set.keys.push(entry.clone());
    write_public(directory, &set)?;
    Ok(entry)
}

/// Takes a key out of use for good: nothing it signed counts any more.
///
/// # Errors
/// [`KeysError::Unknown`] when there is none of this name, or what cannot be written.
pub fn revoke(directory: &Path, key_id: &str, now: &str) -> Result<KeyEntry, KeysError> {
    let mut set = read_public(directory)?;
    let entry = set
        .keys
        .iter_mut()
        .find(|entry| entry.key_id == key_id)
        .ok_or_else(|| KeysError::Unknown(key_id.to_owned()))?;
    if entry.status != KeyStatus::Revoked {
        entry.status = KeyStatus::Revoked;
        entry.revoked_at = Some(now.to_owned());
    }
    let entry = entry.clone();
    write_public(directory, &set)?;
    Ok(entry)
}
