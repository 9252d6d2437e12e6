//! Whose call it is: the one session token of a request, verified.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_identity::{
    KeyError, LEEWAY_SECONDS, SESSION_HEADER, SessionClaims, TokenError, VerifyingKeyFile,
    VerifyingKeys, exactly_one, verify_session,
};
use http::{HeaderMap, HeaderValue};
use sha2::{Digest as _, Sha256};

/// Most verified tokens remembered at once.
const REMEMBERED_MAX: usize = 4096;

/// A verified customer, and the name under which the policy counts their calls.
#[derive(Clone, Debug)]
pub struct Caller {
    /// What the token says.
    pub claims: Arc<SessionClaims>,
    /// The customer's id in text.
    pub identity: Arc<str>,
}

/// Verifies session tokens. A token that was verified is remembered until it ends.
pub struct Sessions {
    keys: VerifyingKeys,
    may_remember: bool,
    verified: Mutex<HashMap<[u8; 32], Caller>>,
}

impl Sessions {
    /// Sessions signed by one of these keys.
    ///
    /// # Errors
    /// [`KeyError`] when the set cannot be used.
    pub fn new(files: Vec<VerifyingKeyFile>) -> Result<Self, KeyError> {
        // A key that retires while the door runs takes its tokens with it at that second.
        let may_remember = files.iter().all(|file| file.accept_until.is_none());
        let keys = VerifyingKeys::new(files)?;
        Ok(Self {
            keys,
            may_remember,
            verified: Mutex::default(),
        })
    }

    /// The caller of a request.
    ///
    /// # Errors
    /// [`TokenError`], for the log; the client learns nothing of it.
    pub fn verify(&self, headers: &HeaderMap, now: u64) -> Result<Caller, TokenError> {
        let values = headers.get_all(SESSION_HEADER).iter();
        let token = exactly_one(values.map(HeaderValue::as_bytes))?;
        let digest = <[u8; 32]>::from(Sha256::digest(token.as_bytes()));
        let known = {
            let verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
            verified.get(&digest).cloned()
        };
        if let Some(caller) = known.filter(|caller| is_in_time(caller, now)) {
            return Ok(caller);
        }
        let claims = verify_session(&self.keys, token, now)?;
        let caller = Caller {
            identity: claims.customer.to_string().into(),
            claims: Arc::new(claims),
        };
        if self.may_remember {
            self.remember(digest, &caller, now);
        }
        Ok(caller)
    }

    fn remember(&self, digest: [u8; 32], caller: &Caller, now: u64) {
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.len() >= REMEMBERED_MAX {
            verified.retain(|_, caller| is_in_time(caller, now));
        }
        if verified.len() < REMEMBERED_MAX {
            verified.insert(digest, caller.clone());
        }
    }
}

/// Whether the token's own times still hold; the signature was checked when it was remembered.
fn is_in_time(caller: &Caller, now: u64) -> bool {
    caller.claims.issued_at <= now.saturating_add(LEEWAY_SECONDS)
        && now < caller.claims.expires_at.saturating_add(LEEWAY_SECONDS)
}
