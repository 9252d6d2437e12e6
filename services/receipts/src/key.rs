//! Keys of a log: the private one that signs heads, the public one that checks them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_domain::Secret;
use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The signature type of Ed25519 in signed notes.
const ED25519: u8 = 0x01;

/// Domain separation of a key's word for the next one.
const ENDORSEMENT_CONTEXT: &[u8] = b"countersign/key-change/v1\0";

/// How the names of keys for demonstrations begin.
pub const DEMO_PREFIX: &str = "demo-";

/// Domain separation of salts.
const SALT_CONTEXT: &[u8] = b"countersign/salt/v1";

/// A log's private key as a configuration carries it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogKeyFile {
    /// The name of the key in configurations and audits.
    pub key_id: String,
    /// PKCS#8 PEM of an Ed25519 key. Prints as nothing.
    pub pkcs8_pem: Secret,
}

/// A log's public key as a verifier is given it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicKeyFile {
    /// The name of the key in configurations and audits.
    pub key_id: String,
    /// The origin of the log whose heads the key signs.
    pub origin: String,
    /// SPKI PEM of an Ed25519 key.
    pub public_pem: String,
}

/// Why a key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The origin is empty or has spaces, control characters or a plus sign.
    #[error("read a log's origin: a name without spaces or '+' is wanted")]
    Origin,
    /// The private key is no PKCS#8 PEM of an Ed25519 key.
    #[error("read log key {0}: not an Ed25519 key in PKCS#8 PEM")]
    Private(String),
    /// The public key is none of Ed25519, or a weak one.
    #[error("read a log's public key: not a sound Ed25519 key")]
    Public,
    /// The one-line form is not `name+hash+base64`, or its parts disagree.
    #[error("read a log's public key: not a verifier line")]
    Line,
}

/// Signs the heads of one log.
pub struct LogSigner {
    key_id: String,
    origin: String,
    key: SigningKey,
    hint: [u8; 4],
}

/// Checks the heads of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogVerifier {
    origin: String,
    key: VerifyingKey,
    hint: [u8; 4],
}

fn endorsement(origin: &str, public_key_b64: &str) -> String {
    format!("{origin}\n{public_key_b64}\n")
}

/// Whether a key of this name is one for demonstrations, which proves nothing elsewhere.
#[must_use]
pub fn is_demo_key(key_id: &str) -> bool {
    key_id.starts_with(DEMO_PREFIX) || key_id.starts_with("pp-demo")
}

pub(crate) fn check_origin(origin: &str) -> Result<(), KeyError> {
    let bad =
        |character: char| character.is_whitespace() || character.is_control() || character == '+';
    if origin.is_empty() || origin.len() > 255 || origin.contains(bad) {
        return Err(KeyError::Origin);
    }
    Ok(())
}

/// What a signature line carries so that the right key is tried.
fn hint(name: &str, key: &VerifyingKey) -> [u8; 4] {
    hint_of(name, ED25519, key)
}

/// The same for a signature of another kind.
pub(crate) fn hint_of(name: &str, kind: u8, key: &VerifyingKey) -> [u8; 4] {
    let mut hasher = Sha256::new();
    hasher.update(name.as_bytes());
    hasher.update([b'\n', kind]);
    hasher.update(key.as_bytes());
    let digest = hasher.finalize();
    [digest[0], digest[1], digest[2], digest[3]]
}

impl LogKeyFile {
    /// A new key from 32 bytes of the caller's random source.
    ///
    /// # Errors
    /// [`KeyError::Private`] when it cannot be written down, which 32 bytes always can.
    pub fn generate(random: &[u8; 32], key_id: &str) -> Result<Self, KeyError> {
        let pem = SigningKey::from_bytes(random)
            .to_pkcs8_pem(ed25519_dalek::pkcs8::spki::der::pem::LineEnding::LF)
            .map_err(|_| KeyError::Private(key_id.to_owned()))?;
        Ok(Self {
            key_id: key_id.to_owned(),
            pkcs8_pem: Secret::new(pem.as_str()),
        })
    }
}

impl LogSigner {
    /// The signer of the log with this origin.
    ///
    /// # Errors
    /// [`KeyError`] when origin or key are unusable.
    pub fn new(origin: &str, file: &LogKeyFile) -> Result<Self, KeyError> {
        check_origin(origin)?;
        let key = SigningKey::from_pkcs8_pem(file.pkcs8_pem.expose())
            .map_err(|_| KeyError::Private(file.key_id.clone()))?;
        Ok(Self {
            key_id: file.key_id.clone(),
            origin: origin.to_owned(),
            hint: hint(origin, &key.verifying_key()),
            key,
        })
    }

    /// The same key for one of several logs that are written beside each other, each under an origin of
    /// its own that begins with the key's.
    ///
    /// # Errors
    /// [`KeyError::Origin`] when the name makes no origin.
    pub fn beside(self, name: &str) -> Result<Self, KeyError> {
        let origin = format!("{}/{name}", self.origin);
        check_origin(&origin)?;
        Ok(Self {
            hint: hint(&origin, &self.key.verifying_key()),
            origin,
            ..self
        })
    }

    /// The log's origin, which is also the name its heads are signed under.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The key's name in configurations and audits.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// A salt that only the holder of the key can make again, for the record of one call.
    ///
    /// A log shows commitments to values that are easy to guess; whoever holds the key can open one
    /// commitment to somebody by handing out this salt, and nobody else can try values.
    #[must_use]
    pub fn salt(&self, context: &[u8]) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(SALT_CONTEXT);
        hasher.update(self.key.as_bytes());
        hasher.update(context);
        hasher.finalize().into()
    }

    /// The other half.
    #[must_use]
    pub fn verifier(&self) -> LogVerifier {
        LogVerifier {
            origin: self.origin.clone(),
            key: self.key.verifying_key(),
            hint: self.hint,
        }
    }

    /// The public key in the form for verifiers.
    ///
    /// # Errors
    /// [`KeyError::Public`] when the key cannot be written, which a read key can.
    pub fn public_key_file(&self) -> Result<PublicKeyFile, KeyError> {
        Ok(PublicKeyFile {
            key_id: self.key_id.clone(),
            origin: self.origin.clone(),
            public_pem: self
                .key
                .verifying_key()
                .to_public_key_pem(ed25519_dalek::pkcs8::spki::der::pem::LineEnding::LF)
                .map_err(|_| KeyError::Public)?,
        })
    }

    /// Signs bytes that are no note, in base64. The context keeps one use from passing for another;
    /// it ends with a NUL, which no note holds.
    pub(crate) fn sign_with_context(&self, context: &[u8], bytes: &[u8]) -> String {
        let signature = self.key.sign(&[context, bytes].concat());
        STANDARD.encode(signature.to_bytes())
    }

    /// Whether the key is marked as one for demonstrations, by its name.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        is_demo_key(&self.key_id)
    }

    /// Signs a digest by itself, as the Permission Protocol asks.
    ///
    /// Nothing else that this key signs is 32 bytes long: notes and contexts are longer.
    pub(crate) fn sign_digest(&self, digest: &[u8; 32]) -> [u8; 64] {
        self.key.sign(digest).to_bytes()
    }

    /// The raw public key in base64, as key sets hold it.
    #[must_use]
    pub fn public_key_b64(&self) -> String {
        STANDARD.encode(self.key.verifying_key().as_bytes())
    }

    /// This key's word for the one that takes its place, in base64.
    #[must_use]
    pub fn endorse(&self, public_key_b64: &str) -> String {
        let text = endorsement(&self.origin, public_key_b64);
        self.sign_with_context(ENDORSEMENT_CONTEXT, text.as_bytes())
    }

    /// The line under a note with this text.
    pub(crate) fn signature_line(&self, text: &str) -> String {
        let mut bytes = self.hint.to_vec();
        bytes.extend(self.key.sign(text.as_bytes()).to_bytes());
        format!("\u{2014} {} {}\n", self.origin, STANDARD.encode(bytes))
    }
}

impl std::fmt::Debug for LogSigner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "LogSigner({}, {})", self.origin, self.key_id)
    }
}

impl LogVerifier {
    /// The verifier of the log with this origin and public key in SPKI PEM.
    ///
    /// # Errors
    /// [`KeyError`] when origin or key are unusable.
    pub fn new(origin: &str, public_pem: &str) -> Result<Self, KeyError> {
        let key = VerifyingKey::from_public_key_pem(public_pem).map_err(|_| KeyError::Public)?;
        Self::from_key(origin, key)
    }

    /// Reads a public key file: the JSON of [`PublicKeyFile`], or the one-line form
    /// `origin+hash+base64` that other tools for signed notes use.
    ///
    /// # Errors
    /// [`KeyError`] when it is neither.
    pub fn read(text: &str) -> Result<Self, KeyError> {
        if text.trim_start().starts_with('{') {
            let file: PublicKeyFile = serde_json::from_str(text).map_err(|_| KeyError::Public)?;
            return Self::new(&file.origin, &file.public_pem);
        }
        let mut parts = text.trim_end().splitn(3, '+');
        let (Some(origin), Some(digits), Some(key)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(KeyError::Line);
        };
        let key = STANDARD.decode(key).map_err(|_| KeyError::Line)?;
        let Some((&ED25519, key)) = key.split_first() else {
            return Err(KeyError::Line);
        };
        let key: &[u8; 32] = key.try_into().map_err(|_| KeyError::Line)?;
        let key = VerifyingKey::from_bytes(key).map_err(|_| KeyError::Public)?;
        let verifier = Self::from_key(origin, key)?;
        if hex::encode(verifier.hint) != digits {
            return Err(KeyError::Line);
        }
        Ok(verifier)
    }

    /// The verifier of the log with this origin and key.
    ///
    /// # Errors
    /// [`KeyError`] when origin or key are unusable.
    pub fn from_key(origin: &str, key: VerifyingKey) -> Result<Self, KeyError> {
        check_origin(origin)?;
        if key.is_weak() {
            return Err(KeyError::Public);
        }
        Ok(Self {
            origin: origin.to_owned(),
            hint: hint(origin, &key),
            key,
        })
    }

    /// The log's origin.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The same key for another log, where its origin is this one's or one beside it: this one's with
    /// a name behind it.
    #[must_use]
    pub fn at(&self, origin: &str) -> Option<Self> {
        let behind = origin.strip_prefix(&*self.origin)?;
        let is_beside = behind.is_empty() || behind.starts_with('/');
        is_beside.then(|| Self::from_key(origin, self.key).ok())?
    }

    /// Whether this key gave its word for the one that took its place.
    #[must_use]
    pub fn endorsed(&self, public_key_b64: &str, endorsement_b64: &str) -> bool {
        let text = endorsement(&self.origin, public_key_b64);
        self.verifies_with_context(ENDORSEMENT_CONTEXT, text.as_bytes(), endorsement_b64)
    }

    /// The one-line form `origin+hash+base64`.
    #[must_use]
    pub fn line(&self) -> String {
        let mut key = vec![ED25519];
        key.extend(self.key.as_bytes());
        format!(
            "{}+{}+{}",
            self.origin,
            hex::encode(self.hint),
            STANDARD.encode(key)
        )
    }

    /// Whether a signature over bytes that are no note is this key's.
    pub(crate) fn verifies_with_context(
        &self,
        context: &[u8],
        bytes: &[u8],
        signature: &str,
    ) -> bool {
        let Ok(signature) = STANDARD.decode(signature) else {
            return false;
        };
        let message = [context, bytes].concat();
        Signature::from_slice(&signature)
            .is_ok_and(|signature| self.key.verify_strict(&message, &signature).is_ok())
    }

    /// Whether a signature line is this key's: nothing for another's, else whether it holds.
    pub(crate) fn judge(&self, name: &str, bytes: &[u8], text: &str) -> Option<bool> {
        let (hint, signature) = bytes.split_at_checked(4)?;
        if name != self.origin || hint != self.hint {
            return None;
        }
        let holds = Signature::from_slice(signature)
            .is_ok_and(|signature| self.key.verify_strict(text.as_bytes(), &signature).is_ok());
        Some(holds)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn pem(seed: u8) -> Secret {
        let pem = SigningKey::from_bytes(&[seed; 32])
            .to_pkcs8_pem(Default::default())
            .unwrap();
        Secret::new(pem.to_string())
    }

    pub(crate) fn signer(origin: &str, seed: u8) -> LogSigner {
        let file = LogKeyFile {
            key_id: format!("key-{seed}"),
            pkcs8_pem: pem(seed),
        };
        LogSigner::new(origin, &file).unwrap()
    }

    #[test]
    fn both_forms_of_a_public_key_read_back() {
        let signer = signer("log.example/door", 1);
        let verifier = signer.verifier();
        assert_eq!(LogVerifier::read(&verifier.line()), Ok(verifier.clone()));
        let json = serde_json::to_string(&signer.public_key_file().unwrap()).unwrap();
        assert_eq!(LogVerifier::read(&json), Ok(verifier.clone()));
        let mut other = verifier.line();
        other.replace_range(0..1, "m");
        assert_eq!(LogVerifier::read(&other), Err(KeyError::Line));
    }

    #[test]
    fn a_salt_depends_on_key_and_context() {
        let salt = |seed, context: &[u8]| signer("log.example", seed).salt(context);
        assert_eq!(salt(1, b"a"), salt(1, b"a"));
        assert_ne!(salt(1, b"a"), salt(1, b"b"));
        assert_ne!(salt(1, b"a"), salt(2, b"a"));
    }

    #[test]
    fn unusable_origins_and_keys_are_refused() {
        let file = LogKeyFile {
            key_id: "k".into(),
            pkcs8_pem: Secret::new("-----BEGIN PRIVATE KEY-----"),
        };
        assert_eq!(
            LogSigner::new("log.example", &file).unwrap_err(),
            KeyError::Private("k".into())
        );
        for origin in ["", "a b", "a+b", "a\nb"] {
            assert_eq!(LogSigner::new(origin, &file).unwrap_err(), KeyError::Origin);
        }
        // The neutral element is a public key under which anybody can sign.
        let mut weak = [0; 33];
        weak[0] = ED25519;
        weak[1] = 1;
        let line = format!("log.example+00000000+{}", STANDARD.encode(weak));
        assert_eq!(LogVerifier::read(&line), Err(KeyError::Public));
    }
}
