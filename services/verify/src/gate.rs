//! The gate: whether something may go on because a person approved exactly it.
//!
//! It answers 0, 1 or 2 and nothing else: authorised, refused, or an input is missing. Whatever
//! cannot be judged is refused.

use std::fmt;
use std::path::Path;

use countersign_receipts::permission::{KeySet, is_instant, verify_artifact};
use countersign_receipts::{
    Approval, CallOpening, Hash, LogVerifier, SignedApproval, TrustedKeys, is_demo_key,
};
use serde_json::Value;

use crate::clock;
use crate::command::GateArguments;

/// Longest life of an approval, in milliseconds.
const LIFE_MILLISECONDS_MAX: i64 = 86_400_000;

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may go on; who said so.
    Authorised(String),
    /// It may not; why.
    Refused(String),
    /// A file that was named is not there.
    Missing(String),
}

impl Answer {
    /// The process's exit code.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Authorised(_) => 0,
            Self::Refused(_) => 1,
            Self::Missing(_) => 2,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authorised(what) => write!(formatter, "authorised: {what}"),
            Self::Refused(what) => write!(formatter, "REFUSED: {what}"),
            Self::Missing(what) => write!(formatter, "MISSING: {what}"),
        }
    }
}

fn refused(what: impl Into<String>) -> Answer {
    Answer::Refused(what.into())
}

/// What an approval says, whatever its format.
struct Claims {
    key_id: String,
    approver: String,
    /// Names one of which must be the scope asked for.
    scopes: Vec<String>,
    commit: Option<String>,
    digest: Option<Hash>,
    decided_at: String,
    expires_at: String,
}

/// Judges.
pub fn judge(arguments: &GateArguments) -> Answer {
    check(arguments).unwrap_or_else(|answer| answer)
}

fn read(path: &Path) -> Result<String, Answer> {
    match std::fs::read_to_string(path) {
        Ok(text) if text.trim().is_empty() => {
            Err(Answer::Missing(format!("{} is empty", path.display())))
        }
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Answer::Missing(format!("{} is not there", path.display())))
        }
        Err(error) => Err(refused(format!("{}: {error}", path.display()))),
    }
}

fn check(arguments: &GateArguments) -> Result<Answer, Answer> {
    let approval = read(&arguments.approval)?;
    let keys = KeySet::read(&read(&arguments.keys)?)
        .map_err(|error| refused(format!("the key set: {error}")))?;
    let trusted = Trusted::read(&read(&arguments.trust)?)?;
    let call = arguments.call.as_deref().map(read_call).transpose()?;
    if arguments.scope.is_empty() {
        return Err(Answer::Missing("the scope is empty".into()));
    }
    let value: Value =
        serde_json::from_str(&approval).map_err(|_| refused("the approval is not JSON"))?;
    let claims = if value.get("artifact").is_some() {
        from_artifact(&approval, &keys)?
    } else {
        from_approval(&approval, &keys)?
    };
    trusted.check(&claims.key_id, &keys)?;
    if !claims.scopes.contains(&arguments.scope) {
        return Err(refused(format!(
            "it approves {}, not {}",
            claims.scopes.join(" or ").escape_debug(),
            arguments.scope.escape_debug()
        )));
    }
    if let Some(commit) = &arguments.scope_sha
        && !claims
            .commit
            .as_ref()
            .is_some_and(|approved| same_commit(approved, commit))
    {
        return Err(refused("it approves another commit, or none"));
    }
    if let Some(digest) = call
        && claims.digest != Some(digest)
    {
        return Err(refused("it approves another call"));
    }
    check_times(&claims, arguments.at.as_deref())?;
    Ok(Answer::Authorised(format!(
        "{} by {}, good until {}",
        arguments.scope.escape_debug(),
        claims.approver.escape_debug(),
        claims.expires_at
    )))
}

/// Whole commit names alone; a shortened one could be another's.
fn same_commit(approved: &str, wanted: &str) -> bool {
    let whole = |text: &str| {
        matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    whole(approved) && whole(wanted) && approved.eq_ignore_ascii_case(wanted)
}

fn check_times(claims: &Claims, at: Option<&str>) -> Result<(), Answer> {
    let now = at.map_or_else(clock::timestamp, str::to_owned);
    if ![&now, &claims.decided_at, &claims.expires_at]
        .into_iter()
        .all(|time| is_instant(time))
    {
        return Err(refused("a time is not RFC 3339 in UTC with milliseconds"));
    }
    // All have one spelling, in which they compare as text.
    if now < claims.decided_at {
        return Err(refused("it was decided later than now; check the clock"));
    }
    if now >= claims.expires_at {
        return Err(refused(format!("it expired at {}", claims.expires_at)));
    }
    let life = clock::milliseconds_between(&claims.decided_at, &claims.expires_at);
    if life.is_none_or(|life| life > LIFE_MILLISECONDS_MAX) {
        return Err(refused("it would count for more than a day"));
    }
    Ok(())
}

fn read_call(path: &Path) -> Result<Hash, Answer> {
    let text = read(path)?;
    if let Ok(hash) = Hash::from_hexadecimal(text.trim()) {
        return Ok(hash);
    }
    let opening: CallOpening = serde_json::from_str(&text)
        .map_err(|_| refused("the call is neither an opening nor a digest"))?;
    Ok(opening.digest())
}

/// A door's own approval.
fn from_approval(text: &str, keys: &KeySet) -> Result<Claims, Answer> {
    let signed: SignedApproval = serde_json::from_str(text)
        .map_err(|_| refused("the approval is of no form that is known here"))?;
    let named: Value = serde_json::from_str(&signed.payload).unwrap_or_default();
    let key_id = named
        .get("key_id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let key = keys
        .find(key_id)
        .map_err(|error| refused(error.to_string()))?;
    let verifier =
        LogVerifier::from_key(&keys.issuer, key).map_err(|error| refused(error.to_string()))?;
    let approval: Approval = signed
        .verify(&verifier)
        .map_err(|error| refused(error.to_string()))?;
    if approval.demo {
        return Err(refused("it is signed by a key for demonstrations"));
    }
    if !approval.is_released_by_a_person() {
        return Err(refused("no person released it"));
    }
    let approver = approval.decided_by.as_ref().map(|by| by.name.clone());
    let what = approval.tool.as_ref().unwrap_or(&approval.method);
    Ok(Claims {
        key_id: approval.key_id.clone(),
        approver: approver.unwrap_or_default(),
        scopes: vec![format!("{}:{what}", approval.server)],
        commit: approval.commit.clone(),
        digest: Some(approval.digest),
        decided_at: approval.decided_at.clone(),
        expires_at: approval.expires_at,
    })
}

/// A receipt in the Permission Protocol's format.
fn from_artifact(text: &str, keys: &KeySet) -> Result<Claims, Answer> {
    let verified = verify_artifact(text, keys, None).map_err(|error| refused(error.to_string()))?;
    let member = |name: &str| verified.text(name).unwrap_or_default().to_owned();
    if member("scope") != "production" {
        return Err(refused("it is one for demonstrations"));
    }
    if member("status") != "APPROVED" {
        return Err(refused("it denies"));
    }
    let by_a_person = member("deciderId").starts_with("user:")
        && member("deciderAuthMethod").starts_with("session")
        && member("attributionConfidence") != "unattributed";
    if !by_a_person {
        return Err(refused("no person approved it"));
    }
    let private: Value;
    let shown = match &verified.projection {
        Some(projection) => projection,
        None => {
            private = serde_json::from_str(&member("requestJson")).unwrap_or_default();
            &private
        }
    };
    let text = |path: &str| shown.pointer(path).and_then(Value::as_str);
    let action = text("/action/tool")
        .zip(text("/action/operation"))
        .map(|(tool, operation)| format!("{tool}:{operation}"));
    Ok(Claims {
        key_id: member("signatureKeyId"),
        approver: member("deciderDisplay"),
        scopes: action
            .into_iter()
            .chain(text("/scope/capability").map(str::to_owned))
            .collect(),
        commit: text("/scope/commitSha").map(str::to_owned),
        digest: None,
        decided_at: member("createdAt"),
        expires_at: member("expiresAt"),
    })
}

/// The keys that the gate's own side pinned.
struct Trusted {
    keys: Vec<TrustedKeys>,
}

impl Trusted {
    /// A key set, a key file, or one-line forms with comments.
    fn read(text: &str) -> Result<Self, Answer> {
        let whole = TrustedKeys::read(text);
        let keys = match whole {
            Ok(keys) => vec![keys],
            Err(_) => text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(TrustedKeys::read)
                .collect::<Result<_, _>>()
                .map_err(|error| refused(format!("the trusted keys: {error}")))?,
        };
        Ok(Self { keys })
    }

    /// The key that signed must be pinned here, under the issuer it is pinned for.
    fn check(&self, key_id: &str, keys: &KeySet) -> Result<(), Answer> {
        if is_demo_key(key_id) {
            return Err(refused("it is signed by a key for demonstrations"));
        }
        let key = keys
            .find(key_id)
            .map_err(|error| refused(error.to_string()))?;
        let signing =
            LogVerifier::from_key(&keys.issuer, key).map_err(|error| refused(error.to_string()))?;
        let pinned = self
            .keys
            .iter()
            .flat_map(|keys| keys.usable())
            .any(|(_, trusted)| *trusted == signing);
        if pinned {
            Ok(())
        } else {
            Err(refused(
                "the key that signed it is not one that is trusted here",
            ))
        }
    }
}
