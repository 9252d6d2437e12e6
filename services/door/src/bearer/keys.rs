//! The keys of a JWKS file (RFC 7517) that may verify tokens.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_wire::{Caps, Document, Value};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

/// Most keys of one file.
const KEYS_MAX: usize = 64;
/// Longest name of a key, in bytes.
const KEY_ID_BYTES_MAX: usize = 256;
/// Fewest bits of an RSA key's modulus.
const RSA_BYTES_MIN: usize = 256;
/// The members that only a private or a shared key has.
const PRIVATE: [&str; 8] = ["d", "dp", "dq", "k", "oth", "p", "q", "qi"];

/// Why a file of keys cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// No strict JSON object with a list of keys.
    #[error("no JSON object with a list `keys`")]
    Malformed,
    /// A private key, or a secret that both sides share, stands in it.
    #[error("it holds a private or a shared key: give the public ones alone")]
    Private,
    /// Two keys carry one id.
    #[error("two of its keys have the same `kid`")]
    Twice,
    /// A key that is of a kind known here is no sound one.
    #[error("the key {0} of its list is no sound key of its kind")]
    Unsound(usize),
    /// No key, or more than may be.
    #[error("it holds no key for EdDSA, ES256 or RS256 with a `kid`, or more than {KEYS_MAX}")]
    Count,
}

/// A key, and with it the one algorithm that it verifies.
pub enum Key {
    /// `EdDSA`: Ed25519 in its strict form.
    Ed25519(Box<ed25519_dalek::VerifyingKey>),
    /// `ES256`: an uncompressed point.
    P256(Vec<u8>),
    /// `RS256`: modulus and exponent.
    Rsa(Vec<u8>, Vec<u8>),
}

impl Key {
    /// The name of its algorithm.
    pub const fn algorithm(&self) -> &'static str {
        match self {
            Self::Ed25519(_) => "EdDSA",
            Self::P256(_) => "ES256",
            Self::Rsa(..) => "RS256",
        }
    }

    /// Whether a signature over these bytes is this key's.
    pub fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(signed, &signature).is_ok()),
            Self::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                .verify(signed, signature)
                .is_ok(),
            Self::Rsa(n, e) => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature)
                .is_ok(),
        }
    }

    /// The key of a JWK; none where it is of a kind that is not known here.
    fn of(jwk: Value<'_>) -> Result<Option<Self>, ()> {
        let text = |name| jwk.get(name).and_then(|value| value.as_str());
        let bytes = |name| {
            let text = text(name).ok_or(())?;
            URL_SAFE_NO_PAD.decode(text.as_bytes()).map_err(|_| ())
        };
        let (kind, curve) = (text("kty"), text("crv"));
        let key = match (kind.as_deref().ok_or(())?, curve.as_deref()) {
            ("OKP", Some("Ed25519")) => {
                let bytes: [u8; 32] = bytes("x")?.try_into().map_err(|_| ())?;
                let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes).map_err(|_| ())?;
                if key.is_weak() {
                    return Err(());
                }
                Self::Ed25519(Box::new(key))
            }
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes("x")?, bytes("y")?);
                if x.len() != 32 || y.len() != 32 {
                    return Err(());
                }
                let mut point = vec![4];
                point.extend(x);
                point.extend(y);
                Self::P256(point)
            }
            ("RSA", _) => {
                let (n, e) = (bytes("n")?, bytes("e")?);
                if n.len() < RSA_BYTES_MIN || n.first() == Some(&0) || e.is_empty() {
                    return Err(());
                }
                Self::Rsa(n, e)
            }
            _ => return Ok(None),
        };
        // A key that says what it is for is for that alone.
        let is_for_signatures = text("use").is_none_or(|use_| use_ == "sig");
        let mut verifies = true;
        if let Some(operations) = jwk.get("key_ops") {
            verifies = operations
                .elements()
                .any(|operation| operation.as_str().as_deref() == Some("verify"));
        }
        let agrees = text("alg").is_none_or(|algorithm| algorithm == key.algorithm());
        Ok((is_for_signatures && verifies && agrees).then_some(key))
    }
}

/// The keys, by their names.
pub struct Keys(HashMap<Box<str>, Key>);

impl Keys {
    /// Reads a file's keys. Those of a kind that is not known here, for another use or without a name
    /// verify nothing.
    ///
    /// # Errors
    /// [`KeysError`].
    pub fn read(bytes: &[u8]) -> Result<Self, KeysError> {
        let document = Document::read(bytes, &Caps::MESSAGE).map_err(|_| KeysError::Malformed)?;
        let list = document.root().get("keys").ok_or(KeysError::Malformed)?;
        if list.kind() != countersign_wire::Type::Array {
            return Err(KeysError::Malformed);
        }
        if list.len() > KEYS_MAX {
            return Err(KeysError::Count);
        }
        let mut keys = HashMap::new();
        for (at, jwk) in list.elements().enumerate() {
            if !jwk.is_object() {
                return Err(KeysError::Malformed);
            }
            if jwk.members().any(|(name, _)| PRIVATE.contains(&&*name)) {
                return Err(KeysError::Private);
            }
            let name = jwk.get("kid").and_then(|kid| kid.as_str());
            let name = name.filter(|name| (1..=KEY_ID_BYTES_MAX).contains(&name.len()));
            let key = Key::of(jwk).map_err(|()| KeysError::Unsound(at + 1))?;
            let Some((name, key)) = name.zip(key) else {
                tracing::warn!(at, "A key of the file verifies no token here");
                continue;
            };
            if keys.insert(Box::from(&*name), key).is_some() {
                return Err(KeysError::Twice);
            }
        }
        match keys.is_empty() {
            true => Err(KeysError::Count),
            false => Ok(Self(keys)),
        }
    }

    /// The key of this name.
    pub fn find(&self, name: &str) -> Option<&Key> {
        self.0.get(name)
    }
}
