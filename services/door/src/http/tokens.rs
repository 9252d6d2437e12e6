//! Whose call it is: the one token of a request, verified.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_identity::{
    LEEWAY_SECONDS, SESSION_HEADER, TokenError, VerifyingKeys, exactly_one, verify_session,
};
use countersign_keys::{KeysError, Verifier, VerifyingKeySource};
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
    keys: Verifier,
    verified: Mutex<Remembered>,
}

/// What was verified with one set of keys; another set begins anew.
#[derive(Default)]
struct Remembered {
    keys: Option<Arc<VerifyingKeys>>,
    /// The second at which the next key of the set ends, and takes its tokens with it.
    until: Option<u64>,
    callers: HashMap<[u8; 32], Caller>,
}

impl Remembered {
    /// Forgets what another set verified, or one of whose keys has ended since.
    fn renew(&mut self, keys: &Arc<VerifyingKeys>, now: u64) {
        let is_the_same = self.keys.as_ref().is_some_and(|own| Arc::ptr_eq(own, keys));
        if is_the_same && self.until.is_none_or(|until| now < until) {
            return;
        }
        self.callers.clear();
        self.until = keys.next_end(now);
        self.keys = Some(Arc::clone(keys));
    }
}

impl Sessions {
    /// Sessions signed by one of these keys.
    ///
    /// # Errors
    /// [`KeysError`] when the set cannot be used.
    pub fn new(source: VerifyingKeySource, now: u64) -> Result<Self, KeysError> {
        Ok(Self {
            keys: Verifier::open(source, now)?,
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
        let keys = self.keys.keys(now).ok_or(TokenError::Key)?;
        let known = {
            let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
            verified.renew(&keys, now);
            verified.callers.get(&digest).cloned()
        };
        if let Some(caller) = known.filter(|caller| is_in_time(caller, now)) {
            return Ok(caller);
        }
        let caller = Caller::customer(verify_session(&keys, token, now)?);
        self.remember(digest, &caller, now, &keys);
        Ok(caller)
    }

    fn remember(&self, digest: [u8; 32], caller: &Caller, now: u64, keys: &Arc<VerifyingKeys>) {
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        verified.renew(keys, now);
        let callers = &mut verified.callers;
        if callers.len() >= REMEMBERED_MAX {
            callers.retain(|_, caller| is_in_time(caller, now));
        }
        if callers.len() < REMEMBERED_MAX {
            callers.insert(digest, caller.clone());
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
