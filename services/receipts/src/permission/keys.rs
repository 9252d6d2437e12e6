//! Sets of public keys (§5.3), which our own key files are, too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Serialize};

use super::refusal::{Refusal, RefusalCode};

/// Most keys of one set.
const KEYS_MAX: usize = 1_024;

/// What a key is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyStatus {
    /// Signs and verifies.
    Active,
    /// Verifies what it signed, signs nothing new.
    Rotated,
    /// Good for nothing.
    Revoked,
}

/// One public key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyEntry {
    /// Its name.
    pub key_id: String,
    /// Always `ed25519`.
    pub alg: String,
    /// The raw 32 bytes, in base64.
    pub public_key_b64: String,
    /// What it is good for.
    pub status: KeyStatus,
    /// When it was made.
    #[serde(default)]
    pub created_at: Option<String>,
    /// When it was revoked.
    #[serde(default)]
    pub revoked_at: Option<String>,
    /// The earlier key's signature over this one, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endorsed_by: Option<String>,
}

/// An issuer's public keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySet {
    /// Who issues; in our own key files the origin of the log.
    pub issuer: String,
    /// Its keys.
    pub keys: Vec<KeyEntry>,
}

impl KeySet {
    /// Reads a set. Members that are not known are passed over, as the format asks.
    ///
    /// # Errors
    /// [`RefusalCode::Malformed`] when it is none, or two keys have one name.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let set: Self = serde_json::from_str(text)
            .map_err(|_| Refusal::malformed("the key set is not of the form keys.json"))?;
        let mut names: Vec<&str> = set.keys.iter().map(|key| key.key_id.as_str()).collect();
        names.sort_unstable();
        if names.len() > KEYS_MAX || names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Refusal::malformed("two keys of the set have one name"));
        }
        Ok(set)
    }

    /// The key of this name, unless it was revoked.
    ///
    /// # Errors
    /// [`RefusalCode::KeyNotFound`], [`RefusalCode::KeyRevoked`] or [`RefusalCode::Malformed`].
    pub fn find(&self, key_id: &str) -> Result<VerifyingKey, Refusal> {
        let entry = self.keys.iter().find(|entry| entry.key_id == key_id);
        let entry = entry
            .filter(|entry| entry.alg == "ed25519")
            .ok_or_else(|| {
                Refusal::new(RefusalCode::KeyNotFound, "the key is not in the key set")
            })?;
        if entry.status == KeyStatus::Revoked {
            return Err(Refusal::new(RefusalCode::KeyRevoked, "the key is revoked"));
        }
        entry.key()
    }
}

impl KeyEntry {
    /// The key itself.
    ///
    /// # Errors
    /// [`RefusalCode::Malformed`] when it is no sound key.
    pub fn key(&self) -> Result<VerifyingKey, Refusal> {
        let malformed = || Refusal::malformed("a key of the set is not 32 bytes of a sound key");
        let bytes = STANDARD
            .decode(&self.public_key_b64)
            .map_err(|_| malformed())?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| malformed())?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| malformed())?;
        if key.is_weak() {
            return Err(malformed());
        }
        Ok(key)
    }
}
