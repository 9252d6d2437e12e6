//! The session token: chat origin → door, for one turn of one conversation.

use countersign_domain::{ConversationId, CustomerId, Secret};
use serde::{Deserialize, Serialize};

use crate::{
    SignError, SigningKey, TokenError, TokenId, TurnId, VerifyingKeys,
    compact::{Kind, Times, is_grant_secret},
};

/// The HTTP header that carries a session token, in lower case.
pub const SESSION_HEADER: &str = "countersign-session";
/// Longest life of a session token, in seconds.
pub const SESSION_LIFETIME_SECONDS_MAX: u64 = 120;

const KIND: Kind = Kind {
    typ: "cs-session+jwt",
    issuer: "countersign-intake",
    audience: "door",
    lifetime_seconds_max: SESSION_LIFETIME_SECONDS_MAX,
};

/// Who the customer of this turn is, as the chat origin knows it.
#[derive(Debug, Clone)]
pub struct SessionClaims {
    /// The customer who typed.
    pub customer: CustomerId,
    /// The conversation they typed in.
    pub conversation: ConversationId,
    /// The turn the token is good for.
    pub turn: TurnId,
    /// The secret of the turn's grant: what the bank server's database role presents.
    pub grant_secret: Secret,
    /// Unix second from which the token is good.
    pub issued_at: u64,
    /// Unix second at which it ends, at most [`SESSION_LIFETIME_SECONDS_MAX`] later.
    pub expires_at: u64,
    /// The token's own name.
    pub token_id: TokenId,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireClaims {
    iss: String,
    aud: String,
    sub: CustomerId,
    sid: ConversationId,
    turn: TurnId,
    gsec: Secret,
    iat: u64,
    exp: u64,
    jti: TokenId,
}

/// Signs a session token. The text is a bearer secret: it belongs into the header and nowhere else.
///
/// # Errors
/// [`SignError`] when no verifier would accept the claims.
pub fn sign_session(key: &SigningKey, claims: &SessionClaims) -> Result<String, SignError> {
    let times = Times {
        issued_at: claims.issued_at,
        expires_at: claims.expires_at,
    };
    if !KIND.allows(times) {
        return Err(SignError::Lifetime);
    }
    if !is_grant_secret(claims.grant_secret.expose()) {
        return Err(SignError::GrantSecret);
    }
    KIND.sign(
        key,
        &WireClaims {
            iss: KIND.issuer.to_owned(),
            aud: KIND.audience.to_owned(),
            sub: claims.customer,
            sid: claims.conversation,
            turn: claims.turn,
            gsec: claims.grant_secret.clone(),
            iat: claims.issued_at,
            exp: claims.expires_at,
            jti: claims.token_id,
        },
    )
}

/// Verifies a session token at a Unix second of the caller's clock.
///
/// # Errors
/// [`TokenError`], for the log. Over HTTP every one of them is the same 401.
pub fn verify_session(
    keys: &VerifyingKeys,
    token: &str,
    now_unix_seconds: u64,
) -> Result<SessionClaims, TokenError> {
    let claims: WireClaims = KIND.verify(keys, token, now_unix_seconds)?;
    KIND.check_times(
        Times {
            issued_at: claims.iat,
            expires_at: claims.exp,
        },
        now_unix_seconds,
    )?;
    if !is_grant_secret(claims.gsec.expose()) {
        return Err(TokenError::Claims);
    }
    Ok(SessionClaims {
        customer: claims.sub,
        conversation: claims.sid,
        turn: claims.turn,
        grant_secret: claims.gsec,
        issued_at: claims.iat,
        expires_at: claims.exp,
        token_id: claims.jti,
    })
}
