//! Whose call it is: the one token of a request, verified.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_identity::{
    KeyError, LEEWAY_SECONDS, SESSION_HEADER, TokenError, VerifyingKeyFile, VerifyingKeys,
    exactly_one, verify_session,
};
use http::{HeaderMap, HeaderValue};
use sha2::{Digest as _, Sha256};

use super::metadata::Resource;
use crate::bearer::Bearers;
use crate::caller::Caller;

/// Most verified tokens remembered at once.
const REMEMBERED_MAX: usize = 4096;

/// Who may call.
pub enum Identity {
    /// Nobody is verified: whoever reaches the door is one and the same caller.
    Local(Caller),
    /// The customers of session tokens.
    Sessions(Sessions),
    /// The bearers of another issuer's tokens.
    Bearers {
        /// What makes a token good.
        bearers: Arc<Bearers>,
        /// What is said to those who have none.
        resource: Resource,
    },
}

impl Identity {
    /// The caller of a request.
    ///
    /// # Errors
    /// [`TokenError`], for the log; the client learns nothing of it.
    pub fn verify(&self, headers: &HeaderMap, now: u64) -> Result<Caller, TokenError> {
        match self {
            Self::Local(caller) => Ok(caller.clone()),
            Self::Sessions(sessions) => sessions.verify(headers, now),
            Self::Bearers { bearers, .. } => bearers.verify(headers, now),
        }
    }
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
        let caller = Caller::customer(verify_session(&self.keys, token, now)?);
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
    caller.claims.as_deref().is_some_and(|claims| {
        claims.issued_at <= now.saturating_add(LEEWAY_SECONDS)
            && now < claims.expires_at.saturating_add(LEEWAY_SECONDS)
    })
}
