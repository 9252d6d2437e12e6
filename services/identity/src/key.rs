//! Keys as the services' configuration carries them.

use std::fmt;

use countersign_domain::Secret;
use ed25519_dalek::{
    VerifyingKey,
    pkcs8::{
        DecodePrivateKey, DecodePublicKey, EncodePrivateKey, KeypairBytes,
        spki::{EncodePublicKey, der::pem::LineEnding},
    },
};
use jsonwebtoken::DecodingKey;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use crate::provider;

/// Longest key id, in bytes.
const KEY_ID_BYTES_MAX: usize = 64;
/// Most keys that may verify one kind of token at one time: active, next and a few retired ones.
const VERIFYING_KEYS_MAX: usize = 16;

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key id is empty, too long, or holds more than letters, digits, dot, dash and underscore.
    #[error("read a key id: 1 to 64 letters, digits, '.', '-' or '_' are allowed")]
    KeyId,
    /// The private key is no PKCS#8 PEM of an Ed25519 key.
    #[error("read private key {0}: not an Ed25519 key in PKCS#8 PEM")]
    Private(String),
    /// The public key is no SPKI PEM of an Ed25519 key, or a weak one.
    #[error("read public key {0}: not a sound Ed25519 key in SPKI PEM")]
    Public(String),
    /// Two keys carry one id.
    #[error("read public keys: key id {0} stands there twice")]
    Twice(String),
    /// No key at all, or more than a set may hold.
    #[error("read public keys: a set holds 1 to 16 keys")]
    Count,
    /// Another crate of this process chose a different token cryptography first.
    #[error("use the strict token cryptography: this process already has another")]
    Provider,
}

/// A private key with its id, as a service's configuration carries it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SigningKeyFile {
    /// The name under which verifiers know the key.
    pub key_id: String,
    /// The private key in PKCS#8 PEM. Prints as nothing.
    pub pkcs8_pem: Secret,
}

impl SigningKeyFile {
    /// The public half, for the configuration of those who verify.
    ///
    /// # Errors
    /// [`KeyError::Private`] when the PEM is no Ed25519 key.
    pub fn verifying_key_file(&self) -> Result<VerifyingKeyFile, KeyError> {
        let public_pem = read_private(self)?
            .verifying_key()
            .to_public_key_pem(LineEnding::LF)
            .map_err(|_| KeyError::Private(self.key_id.clone()))?;
        Ok(VerifyingKeyFile {
            key_id: self.key_id.clone(),
            public_pem,
            accept_until: None,
        })
    }
}

/// A public key with its id, as a service's configuration carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyingKeyFile {
    /// The name that a token's header must carry.
    pub key_id: String,
    /// The public key in SPKI PEM.
    pub public_pem: String,
    /// For a retired key: the Unix second from which it verifies nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_until: Option<u64>,
}

impl VerifyingKeyFile {
    /// The key of these 32 bytes, as a set of public keys holds them.
    ///
    /// # Errors
    /// [`KeyError::Public`] when they are no point of the curve, or a weak one.
    pub fn from_bytes(key_id: &str, bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let public_pem = VerifyingKey::from_bytes(bytes)
            .ok()
            .filter(|key| !key.is_weak())
            .and_then(|key| key.to_public_key_pem(LineEnding::LF).ok())
            .ok_or_else(|| KeyError::Public(key_id.to_owned()))?;
        Ok(Self {
            key_id: key_id.to_owned(),
            public_pem,
            accept_until: None,
        })
    }

    /// The key's 32 bytes.
    ///
    /// # Errors
    /// [`KeyError::Public`] when the PEM is no Ed25519 key.
    pub fn bytes(&self) -> Result<[u8; 32], KeyError> {
        VerifyingKey::from_public_key_pem(&self.public_pem)
            .map(|key| key.to_bytes())
            .map_err(|_| KeyError::Public(self.key_id.clone()))
    }
}

/// Makes an Ed25519 key from 32 bytes of the caller's random source.
pub fn generate_key(mut random: [u8; 32], key_id: &str) -> SigningKeyFile {
    // Without the optional public half the PEM is the older form, which every OpenSSL reads.
    let pair = KeypairBytes {
        secret_key: random,
        public_key: None,
    };
    random.zeroize();
    let pem = pair
        .to_pkcs8_pem(LineEnding::LF)
        .expect("32 bytes always have a PKCS#8 form");
    SigningKeyFile {
        key_id: key_id.to_owned(),
        pkcs8_pem: Secret::new(pem.as_str()),
    }
}

fn read_private(file: &SigningKeyFile) -> Result<ed25519_dalek::SigningKey, KeyError> {
    ed25519_dalek::SigningKey::from_pkcs8_pem(file.pkcs8_pem.expose())
        .map_err(|_| KeyError::Private(file.key_id.clone()))
}

fn check_key_id(key_id: &str) -> Result<(), KeyError> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    if key_id.is_empty() || key_id.len() > KEY_ID_BYTES_MAX || !key_id.bytes().all(allowed) {
        return Err(KeyError::KeyId);
    }
    Ok(())
}

/// A private key that is ready to sign tokens. Prints its id alone.
#[derive(Clone)]
pub struct SigningKey {
    pub(crate) key_id: String,
    /// Read once: making it of its private half takes as long as a signature.
    pub(crate) key: ed25519_dalek::SigningKey,
}

impl SigningKey {
    /// Reads a private key.
    ///
    /// # Errors
    /// [`KeyError::KeyId`], [`KeyError::Private`] or [`KeyError::Provider`].
    pub fn from_file(file: &SigningKeyFile) -> Result<Self, KeyError> {
        if !provider::is_installed() {
            return Err(KeyError::Provider);
        }
        check_key_id(&file.key_id)?;
        Ok(Self {
            key_id: file.key_id.clone(),
            key: read_private(file)?,
        })
    }

    /// The id that stands in the header of every token it signs.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.key_id)
    }
}

/// The pinned set of public keys for one kind of token.
#[derive(Debug, Clone)]
pub struct VerifyingKeys {
    keys: Vec<VerifyingEntry>,
}

#[derive(Debug, Clone)]
struct VerifyingEntry {
    key_id: String,
    key: DecodingKey,
    accept_until: Option<u64>,
}

impl VerifyingKeys {
    /// Reads the set.
    ///
    /// # Errors
    /// [`KeyError::Count`] for an empty or oversized set, [`KeyError::Twice`] for an id that
    /// repeats, [`KeyError::KeyId`] or [`KeyError::Public`] for a key that cannot be used,
    /// [`KeyError::Provider`] when the strict cryptography is not this process's own.
    pub fn new(files: Vec<VerifyingKeyFile>) -> Result<Self, KeyError> {
        if !provider::is_installed() {
            return Err(KeyError::Provider);
        }
        if files.is_empty() || files.len() > VERIFYING_KEYS_MAX {
            return Err(KeyError::Count);
        }
        let mut keys: Vec<VerifyingEntry> = Vec::with_capacity(files.len());
        for file in files {
            check_key_id(&file.key_id)?;
            if keys.iter().any(|known| known.key_id == file.key_id) {
                return Err(KeyError::Twice(file.key_id));
            }
            let key = VerifyingKey::from_public_key_pem(&file.public_pem)
                .ok()
                .filter(|key| !key.is_weak())
                .ok_or_else(|| KeyError::Public(file.key_id.clone()))?;
            keys.push(VerifyingEntry {
                key: DecodingKey::from_ed_der(key.as_bytes()),
                key_id: file.key_id,
                accept_until: file.accept_until,
            });
        }
        Ok(Self { keys })
    }

    /// The next second at which a key of the set ends, if one does: what was verified before it may be good
    /// no longer after it.
    pub fn next_end(&self, now_unix_seconds: u64) -> Option<u64> {
        self.keys
            .iter()
            .filter_map(|entry| entry.accept_until)
            .filter(|until| *until > now_unix_seconds)
            .min()
    }

    /// The key of that id, if it is in the set and not past its retirement.
    pub(crate) fn find(&self, key_id: &str, now_unix_seconds: u64) -> Option<&DecodingKey> {
        self.keys
            .iter()
            .find(|entry| entry.key_id == key_id)
            .filter(|entry| {
                entry
                    .accept_until
                    .is_none_or(|until| now_unix_seconds < until)
            })
            .map(|entry| &entry.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(byte: u8, key_id: &str) -> VerifyingKeyFile {
        generate_key([byte; 32], key_id)
            .verifying_key_file()
            .unwrap()
    }

    #[test]
    fn a_made_key_reads_back_and_never_prints_itself() {
        let file = generate_key([7; 32], "session-1");
        let key = SigningKey::from_file(&file).unwrap();
        assert_eq!(format!("{key:?}"), "SigningKey(session-1)");
        assert!(!format!("{file:?}").contains("PRIVATE"));
        let again: SigningKeyFile =
            serde_json::from_str(&serde_json::to_string(&file).unwrap()).unwrap();
        assert_eq!(
            again.verifying_key_file().unwrap(),
            file.verifying_key_file().unwrap()
        );
    }

    #[test]
    fn a_set_refuses_no_key_a_double_id_and_an_odd_id() {
        assert_eq!(VerifyingKeys::new(vec![]).unwrap_err(), KeyError::Count);
        assert_eq!(
            VerifyingKeys::new(vec![public(1, "a"), public(2, "a")]).unwrap_err(),
            KeyError::Twice("a".into())
        );
        for key_id in ["", "../../k", "' OR 1=1", &"k".repeat(65)] {
            let file = VerifyingKeyFile {
                key_id: key_id.into(),
                ..public(1, "a")
            };
            assert_eq!(
                VerifyingKeys::new(vec![file]).unwrap_err(),
                KeyError::KeyId,
                "{key_id}"
            );
        }
    }

    #[test]
    fn a_weak_public_key_is_refused() {
        // The neutral point signs anything under the lax equation.
        let mut neutral = [0; 32];
        neutral[0] = 1;
        let pem = VerifyingKey::from_bytes(&neutral)
            .unwrap()
            .to_public_key_pem(LineEnding::LF)
            .unwrap();
        let file = VerifyingKeyFile {
            public_pem: pem,
            ..public(1, "weak")
        };
        assert_eq!(
            VerifyingKeys::new(vec![file]).unwrap_err(),
            KeyError::Public("weak".into())
        );
    }

    #[test]
    fn a_private_key_in_the_place_of_a_public_one_is_refused_and_reversed() {
        let private = generate_key([3; 32], "k");
        let file = VerifyingKeyFile {
            key_id: "k".into(),
            public_pem: private.pkcs8_pem.expose().into(),
            accept_until: None,
        };
        assert!(VerifyingKeys::new(vec![file]).is_err());
        let file = SigningKeyFile {
            key_id: "k".into(),
            pkcs8_pem: Secret::new(public(3, "k").public_pem),
        };
        assert!(SigningKey::from_file(&file).is_err());
    }
}
