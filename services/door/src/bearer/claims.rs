//! What a token says of its bearer.

use countersign_identity::{LEEWAY_SECONDS, TokenError};
use countersign_wire::{Document, Type, Value};

use super::{CAPS, Terms};
use crate::caller::Caller;

/// Longest subject, in bytes (OpenID Connect Core §2 has the same).
const SUBJECT_BYTES_MAX: usize = 255;
/// Longest name of a group, in bytes.
const GROUP_BYTES_MAX: usize = 128;
/// Most groups of one caller.
const GROUPS_MAX: usize = 64;
/// The session of callers whose token and transport name none.
const SESSION: &str = "http";

/// The claims that matter here, each of exactly the type it must have.
#[derive(Clone, Debug)]
pub struct Claims {
    subject: Box<str>,
    groups: Vec<Box<str>>,
    session: Option<Box<str>>,
    not_before: u64,
    issued_at: u64,
    expires_at: u64,
}

impl Claims {
    /// Reads the claims of a token whose signature was verified.
    ///
    /// # Errors
    /// [`TokenError::Claims`] for what is missing or of another type, [`TokenError::Audience`] for
    /// another issuer or audience.
    pub fn read(bytes: &[u8], terms: &Terms) -> Result<Self, TokenError> {
        let document = Document::read(bytes, &CAPS).map_err(|_| TokenError::Claims)?;
        let root = document.root();
        if !root.is_object() {
            return Err(TokenError::Claims);
        }
        let text = |name| {
            let value = root.get(name).and_then(|value| value.as_str());
            value.ok_or(TokenError::Claims)
        };
        if text("iss")? != terms.issuer {
            return Err(TokenError::Audience);
        }
        let audience = root.get("aud").ok_or(TokenError::Claims)?;
        let is_ours = |value: Value<'_>| match value.as_str() {
            Some(text) => Ok(text == terms.audience),
            None => Err(TokenError::Claims),
        };
        let is_for_us = match audience.kind() {
            Type::Array => {
                let each = audience.elements().map(is_ours);
                each.collect::<Result<Vec<_>, _>>()?.contains(&true)
            }
            _ => is_ours(audience)?,
        };
        if !is_for_us {
            return Err(TokenError::Audience);
        }
        // Bound to a key that the bearer has to show (RFC 7800): nobody here asks for it.
        if root.get("cnf").is_some() {
            return Err(TokenError::Type);
        }
        let subject = text("sub")?;
        if !is_plain(&subject, SUBJECT_BYTES_MAX) {
            return Err(TokenError::Claims);
        }
        let session = match root.get("sid") {
            None => None,
            Some(_) => Some(text("sid")?).filter(|sid| is_plain(sid, SUBJECT_BYTES_MAX)),
        };
        let not_before = seconds(root.get("nbf"))?.ok_or(TokenError::Claims)?;
        Ok(Self {
            groups: groups(root.get("groups"))?,
            session: session.map(Into::into),
            not_before,
            issued_at: seconds(root.get("iat"))?.unwrap_or(not_before),
            expires_at: seconds(root.get("exp"))?.ok_or(TokenError::Claims)?,
            subject: subject.into(),
        })
    }

    /// Whether the token is good at a Unix second.
    ///
    /// # Errors
    /// [`TokenError::Time`] or [`TokenError::Lifetime`].
    pub fn check_times(&self, now: u64) -> Result<(), TokenError> {
        if self.expires_at <= self.not_before {
            return Err(TokenError::Lifetime);
        }
        let begun = self.not_before.max(self.issued_at) <= now.saturating_add(LEEWAY_SECONDS);
        let ended = now >= self.expires_at.saturating_add(LEEWAY_SECONDS);
        match begun && !ended {
            true => Ok(()),
            false => Err(TokenError::Time),
        }
    }

    /// The bearer.
    pub fn caller(&self) -> Caller {
        Caller {
            identity: (&*self.subject).into(),
            groups: self.groups.clone().into(),
            session: self.session.as_deref().unwrap_or(SESSION).into(),
            claims: None,
        }
    }
}

/// One word of visible ASCII: what rules compare and records repeat.
fn is_plain(text: &str, bytes_max: usize) -> bool {
    (1..=bytes_max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A Unix second, written as a plain integer: `"1"`, `1e3` and `1.5` are none.
fn seconds(value: Option<Value<'_>>) -> Result<Option<u64>, TokenError> {
    let Some(value) = value else { return Ok(None) };
    let seconds = value.as_exact_integer();
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds.map(Some).ok_or(TokenError::Claims)
}

/// The groups; a token that names none has none.
fn groups(value: Option<Value<'_>>) -> Result<Vec<Box<str>>, TokenError> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    if value.kind() != Type::Array || value.len() > GROUPS_MAX {
        return Err(TokenError::Claims);
    }
    let groups = value.elements().map(|group| {
        let group = group
            .as_str()
            .filter(|group| is_plain(group, GROUP_BYTES_MAX));
        group.map(Into::into).ok_or(TokenError::Claims)
    });
    groups.collect()
}
