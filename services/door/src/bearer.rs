//! Callers known by a bearer token (RFC 6750) that somebody else issued: a JWT, verified with the keys
//! of a JWKS file.
//!
//! What makes a token good is fixed here and by who started the door: the issuer, the audience, the
//! keys and three algorithms. Nothing in a token chooses how it is verified, no key is fetched, and the
//! token itself goes no further than this.

mod claims;
mod keys;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use anyhow::Context as _;
use countersign_identity::{TokenError, compact_parts};
use countersign_wire::{Caps, Document};
use http::{HeaderMap, HeaderValue, header};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::caller::Caller;
use claims::Claims;
use keys::Keys;

/// Longest token, in bytes. Longer ones are refused unread.
const TOKEN_BYTES_MAX: usize = 16 << 10;
/// Longest file of keys, in bytes.
const FILE_BYTES_MAX: u64 = 256 << 10;
/// Most verified tokens remembered at once.
const REMEMBERED_MAX: usize = 4_096;
/// The limits of a token's parts.
const CAPS: Caps = Caps {
    bytes: 16 << 10,
    members_per_object: 128,
    nodes: 1_024,
    ..Caps::TOKEN
};
/// The types of token that are taken, in lower case: access tokens (RFC 9068) and JWTs that say no more
/// than that they are.
const TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "jwt"];
/// Members of a header that would have a reader take the token's word for its own key, or read it in a
/// way that is not known here.
const REFUSED: [&str; 8] = ["b64", "crit", "enc", "jku", "jwk", "x5c", "x5u", "zip"];

/// Whose tokens are taken, and for whom they must be.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The exact `iss`.
    pub issuer: String,
    /// What `aud` must be or hold.
    pub audience: String,
}

/// Verifies bearer tokens. A token that was verified is remembered until it ends or the keys change.
pub struct Bearers {
    terms: Terms,
    file: PathBuf,
    state: Mutex<State>,
}

struct State {
    keys: Keys,
    seen: Option<(SystemTime, u64)>,
    verified: HashMap<[u8; 32], (Caller, Claims)>,
}

impl Bearers {
    /// Tokens of these terms, verified with the keys of a file.
    ///
    /// # Errors
    /// When the file cannot be read or holds no key that can be used.
    pub fn open(file: PathBuf, terms: Terms) -> anyhow::Result<Self> {
        anyhow::ensure!(!terms.issuer.is_empty(), "the issuer of tokens is empty");
        anyhow::ensure!(
            !terms.audience.is_empty(),
            "the audience of tokens is empty"
        );
        let seen = state_of(&file);
        let keys = read(&file)?;
        Ok(Self {
            terms,
            file,
            state: Mutex::new(State {
                keys,
                seen,
                verified: HashMap::new(),
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the file again if it changed; nothing else ever does, whatever key a token names.
    /// Whatever is wrong with it, the old keys stay.
    pub fn look(&self) {
        let seen = state_of(&self.file);
        if self.state().seen == seen {
            return;
        }
        let read = read(&self.file);
        let mut state = self.state();
        state.seen = seen;
        match read {
            Ok(keys) => {
                // What another key vouched for is asked for again.
                state.verified.clear();
                state.keys = keys;
                tracing::info!("Other keys verify tokens now");
            }
            Err(error) => {
                let error = format!("{error:#}");
                tracing::error!(%error, "The file of keys is no good; the old keys stay");
            }
        }
    }

    /// The caller of a request.
    ///
    /// # Errors
    /// [`TokenError`], for the log; the client learns nothing of it.
    pub fn verify(&self, headers: &HeaderMap, now: u64) -> Result<Caller, TokenError> {
        let token = token_of(headers)?;
        let digest = <[u8; 32]>::from(Sha256::digest(token.as_bytes()));
        let mut state = self.state();
        if let Some((caller, claims)) = state.verified.get(&digest) {
            claims.check_times(now)?;
            return Ok(caller.clone());
        }
        let claims = check(&state.keys, &self.terms, token, now)?;
        let caller = claims.caller();
        if state.verified.len() >= REMEMBERED_MAX {
            let is_in_time = |(_, claims): &(Caller, Claims)| claims.check_times(now).is_ok();
            state.verified.retain(|_, known| is_in_time(known));
        }
        if state.verified.len() < REMEMBERED_MAX {
            state.verified.insert(digest, (caller.clone(), claims));
        }
        Ok(caller)
    }
}

/// The one token of a request, out of its `Authorization`.
fn token_of(headers: &HeaderMap) -> Result<&str, TokenError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or(TokenError::Missing)?;
    if values.next().is_some() {
        return Err(TokenError::MoreThanOne);
    }
    let value = HeaderValue::to_str(value).map_err(|_| TokenError::Form)?;
    let (scheme, token) = value.split_once(' ').ok_or(TokenError::Form)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(TokenError::Missing);
    }
    if token.contains(',') {
        return Err(TokenError::MoreThanOne);
    }
    Ok(token)
}

/// What a header may say that matters.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
    #[serde(default)]
    typ: Option<String>,
}

fn check(keys: &Keys, terms: &Terms, token: &str, now: u64) -> Result<Claims, TokenError> {
    let [header, claims, signature] = compact_parts(token, TOKEN_BYTES_MAX)?;
    let document = Document::read(&header, &CAPS).map_err(|_| TokenError::Header)?;
    let root = document.root();
    if !root.is_object() || root.members().any(|(name, _)| REFUSED.contains(&&*name)) {
        return Err(TokenError::Header);
    }
    let header: Header = serde_json::from_slice(&header).map_err(|_| TokenError::Header)?;
    let is_taken = header.typ.as_ref().is_none_or(|typ| {
        let typ = typ.to_ascii_lowercase();
        TYPES.contains(&&*typ)
    });
    if !is_taken {
        return Err(TokenError::Type);
    }
    let key = keys.find(&header.kid).ok_or(TokenError::Key)?;
    // The key knows its algorithm; the token only has to agree.
    if key.algorithm() != header.alg {
        return Err(TokenError::Algorithm);
    }
    let (signed, _) = token.rsplit_once('.').ok_or(TokenError::Form)?;
    if !key.verifies(signed.as_bytes(), &signature) {
        return Err(TokenError::Signature);
    }
    let claims = Claims::read(&claims, terms)?;
    claims.check_times(now)?;
    Ok(claims)
}

fn state_of(file: &PathBuf) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn read(file: &PathBuf) -> anyhow::Result<Keys> {
    let what = || format!("read the keys that verify tokens, {}", file.display());
    let length = std::fs::metadata(file).with_context(what)?.len();
    anyhow::ensure!(length <= FILE_BYTES_MAX, "{}: it is too long", what());
    let bytes = std::fs::read(file).with_context(what)?;
    Keys::read(&bytes).with_context(what)
}

#[cfg(test)]
mod tests;
