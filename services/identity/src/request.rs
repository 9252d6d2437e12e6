//! The request token: door → bank server, for one call with exactly these bytes.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_domain::{ConversationId, CustomerId, Secret};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    SignError, SigningKey, TokenError, TokenId, VerifyingKeys,
    compact::{Kind, Times, is_grant_secret},
    random_id::lower_hex,
};

/// The HTTP header that carries a request token, in lower case.
pub const REQUEST_HEADER: &str = "countersign-request";
/// Life of a request token, in seconds.
pub const REQUEST_LIFETIME_SECONDS: u64 = 30;

const KIND: Kind = Kind {
    typ: "cs-request+jwt",
    issuer: "countersign-door",
    audience: "bank-mcp",
    lifetime_seconds_max: REQUEST_LIFETIME_SECONDS,
};
/// Who acts for the customer. There is one door, so the claim has one value.
const ACTOR: &str = "door";

/// One call the door allowed.
#[derive(Debug, Clone)]
pub struct RequestClaims {
    /// The customer, from the session token the door verified.
    pub customer: CustomerId,
    /// The conversation, from the same token.
    pub conversation: ConversationId,
    /// The secret of the turn's grant, from the same token.
    pub grant_secret: Secret,
    /// Unix second at which the door made it. It ends [`REQUEST_LIFETIME_SECONDS`] later.
    pub issued_at: u64,
    /// The token's own name, good for one call.
    pub token_id: TokenId,
    /// The HTTP method of the call, in upper case.
    pub method: String,
    /// The path of the call.
    pub path: String,
    /// SHA-256 of the exact body bytes, see [`body_digest`].
    pub body_digest: [u8; 32],
    /// Leaf hash of the door's record of having allowed the call.
    pub record_leaf: [u8; 32],
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireClaims {
    iss: String,
    aud: String,
    sub: CustomerId,
    sid: ConversationId,
    gsec: Secret,
    act: String,
    iat: u64,
    exp: u64,
    jti: TokenId,
    htm: String,
    htu: String,
    bd: String,
    rcpt: String,
}

/// SHA-256 of a request body.
pub fn body_digest(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// Signs a request token. The text is a bearer secret: it belongs into the header and nowhere else.
///
/// # Errors
/// [`SignError`] when no verifier would accept the claims.
pub fn sign_request(key: &SigningKey, claims: &RequestClaims) -> Result<String, SignError> {
    if !is_grant_secret(claims.grant_secret.expose()) {
        return Err(SignError::GrantSecret);
    }
    let exp = claims
        .issued_at
        .checked_add(REQUEST_LIFETIME_SECONDS)
        .ok_or(SignError::Lifetime)?;
    KIND.sign(
        key,
        &WireClaims {
            iss: KIND.issuer.to_owned(),
            aud: KIND.audience.to_owned(),
            sub: claims.customer,
            sid: claims.conversation,
            gsec: claims.grant_secret.clone(),
            act: ACTOR.to_owned(),
            iat: claims.issued_at,
            exp,
            jti: claims.token_id,
            htm: claims.method.clone(),
            htu: claims.path.clone(),
            bd: URL_SAFE_NO_PAD.encode(claims.body_digest),
            rcpt: hex::encode(claims.record_leaf),
        },
    )
}

/// Verifies a request token against the call that carried it, at a Unix second of the caller's clock.
///
/// `body` is what arrived, byte for byte, before anything parsed it.
///
/// # Errors
/// [`TokenError`], for the log. Over HTTP every one of them is the same 401.
pub fn verify_request(
    keys: &VerifyingKeys,
    token: &str,
    now_unix_seconds: u64,
    method: &str,
    path: &str,
    body: &[u8],
) -> Result<RequestClaims, TokenError> {
    let claims: WireClaims = KIND.verify(keys, token, now_unix_seconds)?;
    let times = Times {
        issued_at: claims.iat,
        expires_at: claims.exp,
    };
    KIND.check_times(times, now_unix_seconds)?;
    let record_leaf = lower_hex(&claims.rcpt).ok_or(TokenError::Claims)?;
    if claims.act != ACTOR || !is_grant_secret(claims.gsec.expose()) {
        return Err(TokenError::Claims);
    }
    if claims.htm != method || claims.htu != path {
        return Err(TokenError::Target);
    }
    let body_digest = body_digest(body);
    if claims.bd != URL_SAFE_NO_PAD.encode(body_digest) {
        return Err(TokenError::Body);
    }
    Ok(RequestClaims {
        customer: claims.sub,
        conversation: claims.sid,
        grant_secret: claims.gsec,
        issued_at: claims.iat,
        token_id: claims.jti,
        method: claims.htm,
        path: claims.htu,
        body_digest,
        record_leaf,
    })
}
