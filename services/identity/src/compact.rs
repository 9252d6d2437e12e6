//! What session and request tokens have in common: the compact form and its strict reading.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_wire::{Caps, Document};
use ed25519_dalek::Signer as _;
use jsonwebtoken::{Algorithm, Validation, errors::ErrorKind};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{SigningKey, VerifyingKeys, random_id::lower_hex};

/// Longest token, in bytes. Longer ones are refused unread.
pub const TOKEN_BYTES_MAX: usize = 4096;
/// How far apart the clocks of two services may be, in seconds.
pub const LEEWAY_SECONDS: u64 = 5;
/// Length of an Ed25519 signature, in bytes.
const SIGNATURE_BYTES: usize = 64;

/// Why a token was not accepted. For logs; the caller is told no more than 401.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// No token header.
    #[error("verify token: there is none")]
    Missing,
    /// Two token headers, or several values in one.
    #[error("verify token: more than one was sent")]
    MoreThanOne,
    /// Too long, not three parts, or not base64url in its one canonical form.
    #[error("verify token: not in compact form")]
    Form,
    /// The header is no strict JSON object of exactly `alg`, `kid` and `typ`.
    #[error("verify token: header holds something else than alg, kid and typ")]
    Header,
    /// An algorithm other than EdDSA.
    #[error("verify token: other algorithm than EdDSA")]
    Algorithm,
    /// A token of another kind.
    #[error("verify token: other type of token")]
    Type,
    /// A key id outside the pinned set, or one that is retired.
    #[error("verify token: key is not pinned or is retired")]
    Key,
    /// The signature does not belong to these bytes.
    #[error("verify token: signature does not fit")]
    Signature,
    /// Claims are missing, undeclared, twice there or not of their type.
    #[error("verify token: claims are not of the declared form")]
    Claims,
    /// Made by or for somebody else.
    #[error("verify token: other issuer or audience")]
    Audience,
    /// Made in the future, or ended.
    #[error("verify token: not valid at this time")]
    Time,
    /// Lives longer than a token of this kind may, or ends before it began.
    #[error("verify token: lifetime is not allowed")]
    Lifetime,
    /// For another method or path.
    #[error("verify token: made for another method or path")]
    Target,
    /// For another body.
    #[error("verify token: made for another body")]
    Body,
}

/// Claims were handed in that no verifier would accept, so nothing was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The lifetime is longer than allowed, or ends before it begins.
    #[error("sign token: lifetime is not allowed")]
    Lifetime,
    /// The grant secret is not 64 lower-case hexadecimal digits.
    #[error("sign token: grant secret has another form")]
    GrantSecret,
    /// The key could not sign.
    #[error("sign token: key cannot sign")]
    Key,
}

/// What is fixed for one kind of token.
pub(crate) struct Kind {
    pub(crate) typ: &'static str,
    pub(crate) issuer: &'static str,
    pub(crate) audience: &'static str,
    pub(crate) lifetime_seconds_max: u64,
}

/// The times every kind of token carries.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) issued_at: u64,
    pub(crate) expires_at: u64,
}

/// The one algorithm, as headers name it (RFC 8037 §3.1).
const ALGORITHM: &str = "EdDSA";

/// The members every header has.
#[derive(Serialize)]
struct WrittenHeader<'k> {
    typ: &'static str,
    alg: &'static str,
    kid: &'k str,
}

/// The only members a header may have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredHeader {
    alg: String,
    kid: String,
    typ: String,
}

impl Kind {
    /// Whether a lifetime is one this kind may have.
    pub(crate) fn allows(&self, times: Times) -> bool {
        times
            .expires_at
            .checked_sub(times.issued_at)
            .is_some_and(|lifetime| (1..=self.lifetime_seconds_max).contains(&lifetime))
    }

    /// Signs claims. The caller has checked that a verifier would accept them.
    pub(crate) fn sign(
        &self,
        key: &SigningKey,
        claims: &impl Serialize,
    ) -> Result<String, SignError> {
        // RFC 7515 §3.1. Written here, since the library would read the private key anew for every token.
        let header = WrittenHeader {
            typ: self.typ,
            alg: ALGORITHM,
            kid: &key.key_id,
        };
        let header = serde_json::to_vec(&header).map_err(|_| SignError::Key)?;
        let claims = serde_json::to_vec(claims).map_err(|_| SignError::Key)?;
        let mut token =
            String::with_capacity((header.len() + claims.len() + SIGNATURE_BYTES + 4) * 4 / 3);
        URL_SAFE_NO_PAD.encode_string(header, &mut token);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signature = key
            .key
            .try_sign(token.as_bytes())
            .map_err(|_| SignError::Key)?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature.to_bytes(), &mut token);
        Ok(token)
    }

    /// Reads and verifies everything but the claims' own meaning.
    pub(crate) fn verify<C: DeserializeOwned>(
        &self,
        keys: &VerifyingKeys,
        token: &str,
        now_unix_seconds: u64,
    ) -> Result<C, TokenError> {
        let [header, claims, signature] = compact_parts(token, TOKEN_BYTES_MAX)?;
        if signature.len() != SIGNATURE_BYTES {
            return Err(TokenError::Form);
        }
        strict_object(&header).ok_or(TokenError::Header)?;
        let header: DeclaredHeader =
            serde_json::from_slice(&header).map_err(|_| TokenError::Header)?;
        if header.alg != ALGORITHM {
            return Err(TokenError::Algorithm);
        }
        if header.typ != self.typ {
            return Err(TokenError::Type);
        }
        let key = keys
            .find(&header.kid, now_unix_seconds)
            .ok_or(TokenError::Key)?;
        strict_object(&claims).ok_or(TokenError::Claims)?;

        let mut validation = Validation::new(Algorithm::EdDSA);
        // The clock is an argument here, so time is checked by the caller's number below.
        validation.validate_exp = false;
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[self.issuer]);
        validation.set_audience(&[self.audience]);
        jsonwebtoken::decode::<C>(token, key, &validation)
            .map(|data| data.claims)
            .map_err(|error| match error.kind() {
                ErrorKind::InvalidSignature => TokenError::Signature,
                ErrorKind::InvalidIssuer | ErrorKind::InvalidAudience => TokenError::Audience,
                _ => TokenError::Claims,
            })
    }

    /// Checks the times of verified claims against the caller's clock.
    pub(crate) fn check_times(
        &self,
        times: Times,
        now_unix_seconds: u64,
    ) -> Result<(), TokenError> {
        if !self.allows(times) {
            return Err(TokenError::Lifetime);
        }
        let begun = times.issued_at <= now_unix_seconds.saturating_add(LEEWAY_SECONDS);
        let ended = now_unix_seconds >= times.expires_at.saturating_add(LEEWAY_SECONDS);
        if !begun || ended {
            return Err(TokenError::Time);
        }
        Ok(())
    }
}

/// The three parts of a token in compact form (RFC 7515 §3.1), decoded. Only the one canonical base64url
/// text of each is accepted.
///
/// # Errors
/// [`TokenError::Form`], also for a token longer than this many bytes.
pub fn compact_parts(token: &str, bytes_max: usize) -> Result<[Vec<u8>; 3], TokenError> {
    if token.len() > bytes_max {
        return Err(TokenError::Form);
    }
    let mut texts = token.split('.');
    let mut next = || -> Option<Vec<u8>> {
        let text = texts.next().filter(|text| !text.is_empty())?;
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        // The decoder refuses stray bits already; encoding again holds that without trusting it.
        (URL_SAFE_NO_PAD.encode(&bytes) == text).then_some(bytes)
    };
    let three = [next(), next(), next()];
    if texts.next().is_some() {
        return Err(TokenError::Form);
    }
    match three {
        [Some(header), Some(claims), Some(signature)] => Ok([header, claims, signature]),
        _ => Err(TokenError::Form),
    }
}

/// Holds that the bytes are one JSON object in which no reader can see two meanings.
///
/// The typed readers that follow would take a list for a struct and know nothing of lone surrogates.
fn strict_object(bytes: &[u8]) -> Option<()> {
    let document = Document::read(bytes, &Caps::TOKEN).ok()?;
    document.root().is_object().then_some(())
}

/// Whether a text is a grant secret: 256 random bits as 64 lower-case hexadecimal digits.
pub(crate) fn is_grant_secret(text: &str) -> bool {
    lower_hex::<32>(text).is_some()
}
