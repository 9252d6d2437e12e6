//! Making, replacing and revoking keys, by hand alone.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use countersign_identity::{LEEWAY_SECONDS, generate_key};

use crate::read::{private_file, public_file, read_set, write_private, write_set};
use crate::{Jwk, JwkSet, KeysError, Revoked};

/// Time that everybody has for reading a new key before it signs, in seconds: they look once a second.
const LEAD_SECONDS: u64 = 10;
/// How long a key that is of no use any more stays in the set, for whoever asks what became of it.
const KEEP_SECONDS: u64 = 7 * 24 * 3600;

/// How long the replaced key is accepted after the new one has begun to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap(u64);

impl Overlap {
    /// So many seconds, for tokens that live `token_seconds_max`.
    ///
    /// # Errors
    /// [`KeysError::Overlap`] when a token that was signed a moment before the change would be refused.
    pub fn new(seconds: u64, token_seconds_max: u64) -> Result<Self, KeysError> {
        let least = Self::least(token_seconds_max).0;
        if seconds < least {
            return Err(KeysError::Overlap {
                asked: seconds,
                least,
            });
        }
        Ok(Self(seconds))
    }

    /// The least that refuses nobody: a token's life, what clocks may differ, and the second in which a signer
    /// has not looked yet.
    #[must_use]
    pub const fn least(token_seconds_max: u64) -> Self {
        Self(token_seconds_max + LEEWAY_SECONDS + 2)
    }
}

/// A name that says what the key is for and when it was made, and differs between keys.
fn name(kind: &str, now: u64, random: &[u8; 32]) -> Result<String, KeysError> {
    let unnamed = generate_key(*random, kind).verifying_key_file()?.bytes()?;
    let mark: String = unnamed[..4]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!("{kind}-{now}-{mark}"))
}

fn make(
    folder: &Path,
    kind: &str,
    now: u64,
    nbf: u64,
    random: &[u8; 32],
) -> Result<Jwk, KeysError> {
    let file = generate_key(*random, &name(kind, now, random)?);
    write_private(folder, &file)?;
    Ok(Jwk::new(&file.verifying_key_file()?, now, nbf)?)
}

/// Makes the first key of a kind of token, in a folder of its own. It signs at once.
///
/// `now` is in Unix seconds; `random` is 32 bytes of the caller's random source, which become the key.
///
/// # Errors
/// [`KeysError::Exists`] when there are keys already, or what cannot be written.
pub fn init(folder: &Path, kind: &str, now: u64, random: &[u8; 32]) -> Result<Jwk, KeysError> {
    let public = public_file(folder);
    if public.exists() {
        return Err(KeysError::Exists(folder.to_owned()));
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(KeysError::file(folder))?;
    let key = make(folder, kind, now, now, random)?;
    write_set(
        &public,
        &JwkSet {
            keys: vec![key.clone()],
        },
    )?;
    Ok(key)
}

/// Puts a new key in the active one's place: it signs once everybody had time to read it, or at once where
/// nothing signs now. Keys that signed until then end after the overlap.
///
/// # Errors
/// [`KeysError`] when there are no keys, or what cannot be read or written.
pub fn rotate(
    folder: &Path,
    kind: &str,
    overlap: Overlap,
    now: u64,
    random: &[u8; 32],
) -> Result<Jwk, KeysError> {
    let public = public_file(folder);
    let mut set = read_set(&public)?;
    let nbf = match set.signing(now) {
        Some(_) => now + LEAD_SECONDS,
        None => now,
    };
    let key = make(folder, kind, now, nbf, random)?;
    for earlier in set.keys.iter_mut().filter(|key| key.verifies(now)) {
        let end = nbf + overlap.0;
        earlier.exp = Some(earlier.exp.map_or(end, |exp| exp.min(end)));
    }
    set.keys.retain(|key| is_remembered(key, now));
    set.keys.push(key.clone());
    write_set(&public, &set)?;
    // What cannot sign any more has no reason to lie around.
    for ended in set.keys.iter().filter(|key| !key.verifies(now)) {
        let _ = std::fs::remove_file(private_file(folder, &ended.kid));
    }
    Ok(key)
}

fn is_remembered(key: &Jwk, now: u64) -> bool {
    let ended = key
        .revoked
        .as_ref()
        .map(|revoked| revoked.revoked_at)
        .or(key.exp);
    ended.is_none_or(|ended| now < ended.saturating_add(KEEP_SECONDS))
}

/// Takes a key out of use for good: within a second nothing it signed is accepted.
///
/// # Errors
/// [`KeysError::Unknown`] when there is none of this name, or what cannot be written.
pub fn revoke(folder: &Path, key_id: &str, now: u64) -> Result<Jwk, KeysError> {
    let public = public_file(folder);
    let mut set = read_set(&public)?;
    let key = set
        .keys
        .iter_mut()
        .find(|key| key.kid == key_id)
        .ok_or_else(|| KeysError::Unknown(key_id.to_owned()))?;
    key.revoked.get_or_insert(Revoked { revoked_at: now });
    let key = key.clone();
    write_set(&public, &set)?;
    let _ = std::fs::remove_file(private_file(folder, &key.kid));
    Ok(key)
}
