//! The public keys a verifier was told to trust: one, or a set with what each is good for.

use crate::permission::{KeySet, KeyStatus};
use crate::{Checkpoint, CheckpointError, KeyError, LogVerifier, SignedCheckpoint, is_demo_key};

/// Keys of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKeys {
    keys: Vec<TrustedKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TrustedKey {
    /// Its name, where the file gave one.
    key_id: Option<String>,
    verifier: LogVerifier,
    revoked: bool,
    /// Whether it is of a set: the key of every log that an issuer writes.
    of_set: bool,
}

impl TrustedKeys {
    /// Reads a key file: a set of keys (`keys.json`), the JSON of a
    /// [`PublicKeyFile`](crate::PublicKeyFile), or the one-line form `origin+hash+base64`.
    ///
    /// # Errors
    /// [`KeyError`] when it is none of them.
    pub fn read(text: &str) -> Result<Self, KeyError> {
        let Ok(set) = KeySet::read(text) else {
            let file: Option<crate::PublicKeyFile> = serde_json::from_str(text).ok();
            return Ok(Self {
                keys: vec![TrustedKey {
                    key_id: file.map(|file| file.key_id),
                    verifier: LogVerifier::read(text)?,
                    revoked: false,
                    of_set: false,
                }],
            });
        };
        let keys = set
            .keys
            .iter()
            .map(|entry| {
                let key = entry.key().map_err(|_| KeyError::Public)?;
                Ok(TrustedKey {
                    key_id: Some(entry.key_id.clone()),
                    verifier: LogVerifier::from_key(&set.issuer, key)?,
                    revoked: entry.status == KeyStatus::Revoked,
                    of_set: true,
                })
            })
            .collect::<Result<Vec<_>, KeyError>>()?;
        if keys.is_empty() {
            return Err(KeyError::Public);
        }
        Ok(Self { keys })
    }

    /// The keys that were not revoked, each with its name where it has one.
    pub fn usable(&self) -> impl Iterator<Item = (Option<&str>, &LogVerifier)> {
        self.keys
            .iter()
            .filter(|key| !key.revoked)
            .map(|key| (key.key_id.as_deref(), &key.verifier))
    }

    /// The origin of the log they are for.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.keys.first().map_or("", |key| key.verifier.origin())
    }

    /// Whether every one of them is for demonstrations.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        self.keys
            .iter()
            .all(|key| key.key_id.as_deref().is_some_and(is_demo_key))
    }

    /// The same keys for the log that a note is about, where it is theirs: a set's keys sign the logs of
    /// one issuer, each under an origin that begins with the issuer's.
    #[must_use]
    pub fn for_note(&self, note: &str) -> Self {
        let origin = note.lines().next().unwrap_or_default();
        let mut keys = self.clone();
        for key in keys.keys.iter_mut().filter(|key| key.of_set) {
            if let Some(verifier) = key.verifier.at(origin) {
                key.verifier = verifier;
            }
        }
        keys
    }

    /// Checks a note against the keys that were not revoked.
    ///
    /// # Errors
    /// [`CheckpointError`] when none of them signed it, or it is broken.
    pub fn verify(&self, note: &str) -> Result<SignedCheckpoint, CheckpointError> {
        let mut refused = CheckpointError::UnknownKey;
        for (_, key) in self.for_note(note).usable() {
            match Checkpoint::verify(note, key) {
                Err(CheckpointError::UnknownKey) => {}
                Err(error) => refused = error,
                signed => return signed,
            }
        }
        Err(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::tests::signer;
    use crate::leaf_hash;

    #[test]
    fn every_form_of_a_key_file_is_read_and_revoked_keys_check_nothing() {
        let (old, new) = (signer("log.example/a", 1), signer("log.example/a", 2));
        let note = |signer: &crate::LogSigner| {
            let checkpoint = Checkpoint {
                origin: "log.example/a".into(),
                size: 1,
                root: leaf_hash(b""),
            };
            checkpoint.sign(signer).unwrap().note
        };
        let set = |status: &str| {
            let entry = |signer: &crate::LogSigner, status: &str| {
                serde_json::json!({"key_id": signer.key_id(), "alg": "ed25519", "status": status,
                    "public_key_b64": signer.public_key_b64()})
            };
            let set = serde_json::json!({"issuer": "log.example/a",
                "keys": [entry(&old, status), entry(&new, "active")]});
            TrustedKeys::read(&set.to_string()).unwrap()
        };
        assert!(set("rotated").verify(&note(&old)).is_ok());
        assert!(set("rotated").verify(&note(&new)).is_ok());
        let refused = set("revoked").verify(&note(&old));
        assert_eq!(refused, Err(CheckpointError::UnknownKey));
        for text in [
            new.verifier().line(),
            serde_json::to_string(&new.public_key_file().unwrap()).unwrap(),
        ] {
            let keys = TrustedKeys::read(&text).unwrap();
            assert!(keys.verify(&note(&new)).is_ok());
            assert!(keys.verify(&note(&old)).is_err());
        }
        // A set's keys are those of every log of their issuer; a single key is one log's.
        let beside = |name: &str| {
            let signer = signer("log.example/a", 2).beside(name).unwrap();
            let checkpoint = Checkpoint {
                origin: signer.origin().into(),
                size: 1,
                root: leaf_hash(b""),
            };
            checkpoint.sign(&signer).unwrap().note
        };
        assert!(set("rotated").verify(&beside("p/2")).is_ok());
        let one = TrustedKeys::read(&new.verifier().line()).unwrap();
        assert!(one.verify(&beside("p/2")).is_err());
        let another = beside("p/2").replace("log.example/a/p/2", "log.example/ab");
        assert!(set("rotated").verify(&another).is_err());
        let swapped = beside("p/2").replace("a/p/2", "a/p/3");
        assert!(set("rotated").verify(&swapped).is_err());
        assert!(signer("log.example/a", 2).beside("a b").is_err());
        for text in ["", "{}", r#"{"issuer":"a","keys":[]}"#] {
            assert!(TrustedKeys::read(text).is_err(), "{text}");
        }
    }
}
