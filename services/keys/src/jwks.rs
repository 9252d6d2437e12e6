//! The public file: a JWK set of Ed25519 keys.
//!
//! `iat`, `nbf`, `exp` and `revoked` are the members that OpenID Federation 1.0 (section 8.7) defines for keys
//! that were replaced, in Unix seconds.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_identity::{KeyError, VerifyingKeyFile};
use serde::{Deserialize, Serialize};

/// A set of public keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JwkSet {
    /// The keys, oldest first.
    pub keys: Vec<Jwk>,
}

/// One public key. A member that is not named here, such as a private part, refuses the whole file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jwk {
    kty: Okp,
    crv: Curve,
    #[serde(rename = "use")]
    used_for: Signing,
    alg: Algorithm,
    /// The name that a token's header carries.
    pub kid: String,
    /// The key, 32 bytes in base64url.
    pub x: String,
    /// When it was made, in Unix seconds.
    pub iat: u64,
    /// From when it signs. Verifiers accept it before that, since clocks differ.
    pub nbf: u64,
    /// From when it neither signs nor verifies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exp: Option<u64>,
    /// That it was taken out of use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revoked>,
}

/// When a key was taken out of use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revoked {
    /// In Unix seconds.
    pub revoked_at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Okp {
    #[serde(rename = "OKP")]
    Okp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Curve {
    Ed25519,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Signing {
    #[serde(rename = "sig")]
    Sig,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Algorithm {
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl Jwk {
    /// A key made now that signs from `nbf` on.
    ///
    /// # Errors
    /// [`KeyError`] when the file holds no sound key.
    pub fn new(file: &VerifyingKeyFile, now: u64, nbf: u64) -> Result<Self, KeyError> {
        Ok(Self {
            kty: Okp::Okp,
            crv: Curve::Ed25519,
            used_for: Signing::Sig,
            alg: Algorithm::EdDsa,
            kid: file.key_id.clone(),
            x: URL_SAFE_NO_PAD.encode(file.bytes()?),
            iat: now,
            nbf,
            exp: file.accept_until,
            revoked: None,
        })
    }

    /// Whether it verifies at this second.
    #[must_use]
    pub fn verifies(&self, now: u64) -> bool {
        self.revoked.is_none() && self.exp.is_none_or(|exp| now < exp)
    }

    /// Whether it may sign at this second.
    #[must_use]
    pub fn may_sign(&self, now: u64) -> bool {
        self.verifies(now) && self.nbf <= now
    }

    /// The key for verifiers.
    ///
    /// # Errors
    /// [`KeyError::Public`] when its bytes are no sound key.
    pub fn verifying_key_file(&self) -> Result<VerifyingKeyFile, KeyError> {
        let unsound = || KeyError::Public(self.kid.clone());
        let bytes = URL_SAFE_NO_PAD.decode(&self.x).map_err(|_| unsound())?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| unsound())?;
        Ok(VerifyingKeyFile {
            accept_until: self.exp,
            ..VerifyingKeyFile::from_bytes(&self.kid, &bytes)?
        })
    }
}

impl JwkSet {
    /// The key that signs at this second: of those that may, the one that began last.
    #[must_use]
    pub fn signing(&self, now: u64) -> Option<&Jwk> {
        let may_sign = self.keys.iter().filter(|key| key.may_sign(now));
        may_sign.max_by_key(|key| key.nbf)
    }
}
