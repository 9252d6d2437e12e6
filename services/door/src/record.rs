//! What the record says about a call: who, which tool, which line of the policy. Never a value.

use std::borrow::Cow;
use std::sync::Arc;

use countersign_policy::{Decision, Effect, Policy, check_name};
use countersign_receipts::Hash;
use countersign_wire::{Frame, Value};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::caller::Caller;
use crate::clock;
use crate::judge::catalogue::CatalogueMark;

/// Version of the lines' form.
const VERSION: u32 = 1;
/// Most argument names that one line repeats.
const NAMES_MAX: usize = 32;

/// The policy that decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyMark {
    id: String,
    sha256: String,
}

impl PolicyMark {
    /// The mark of a policy.
    pub fn of(policy: &Policy) -> Self {
        Self {
            id: policy.id().to_owned(),
            sha256: hex::encode(policy.hash()),
        }
    }

    /// The policy's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// SHA-256 of its file, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

/// A decision about one message.
#[derive(Serialize)]
pub struct Decided<'a> {
    v: u32,
    at: String,
    /// `allowed`, `denied` or `held`.
    event: &'static str,
    /// The call's own name; an allowed call's request token has it too.
    call: Digits<16>,
    /// Whose call: the customer of a session token, or another identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    customer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<String>,
    /// What the server offered, and what of it the caller was not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    catalogue: Option<&'a CatalogueMark>,
    policy: &'a PolicyMark,
    rule: &'a str,
    reason: &'a str,
    /// What an observing policy would have done with a call it let pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledged: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Arguments<'a>>,
    /// Commitment to the message as it was received.
    received: Digits<32>,
    /// Commitment to the message as it is forwarded; only of allowed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    forwarded: Option<Digits<32>>,
    /// The message, for whoever tells of it; no part of the line.
    #[serde(skip)]
    frame: Option<&'a Frame<'a>>,
}

/// The arguments of a call, without their values.
#[derive(Debug, Serialize)]
struct Arguments<'a> {
    names: Vec<Cow<'a, str>>,
    /// How many more there are, or have names that are not plain ones.
    unnamed: usize,
    commitment: Digits<32>,
}

/// What a line is about, as far as it is known when it is written.
pub struct Subject<'a> {
    /// Whose message.
    pub caller: &'a Caller,
    /// The call's own name.
    pub call: &'a [u8; 16],
    /// The salt of its commitments.
    pub salt: [u8; 32],
    /// The server it goes to.
    pub server: &'a str,
    /// The policy that decided.
    pub policy: &'a PolicyMark,
    /// The bytes of the message.
    pub body: &'a [u8],
    /// The message; none when it is malformed.
    pub frame: Option<&'a Frame<'a>>,
    /// The definition the tool has now.
    pub definition: Option<String>,
    /// What the server offers.
    pub catalogue: Option<Arc<CatalogueMark>>,
}

impl<'a> Decided<'a> {
    /// The line about a decision.
    pub fn new(subject: &'a Subject<'a>, decision: &Decision<'a>) -> Self {
        let event = |effect| match effect {
            Effect::Allow => "allowed",
            Effect::Deny => "denied",
            Effect::Hold => "held",
        };
        let forwarded = decision.effect == Effect::Allow;
        let mut line = Self::build(
            subject,
            event(decision.effect),
            decision.rule,
            decision.reason.code(),
            forwarded,
        );
        line.observed = decision.observed.map(event);
        line.acknowledged = decision.acknowledged.map(|given| given.text());
        line
    }

    /// What was decided: `allowed`, `denied` or `held`.
    pub const fn event(&self) -> &'static str {
        self.event
    }

    /// Why, by its published code, and by which line of the policy.
    pub const fn why(&self) -> (&'a str, &'a str) {
        (self.reason, self.rule)
    }

    /// The method, and the tool of a call where it has a plain name.
    pub fn about(&self) -> (Option<&'a str>, Option<&str>) {
        (self.method, self.tool.as_deref())
    }

    /// Whether the message goes on to its server now.
    pub const fn is_forwarded(&self) -> bool {
        self.forwarded.is_some()
    }

    /// The message it is about; none where that is malformed.
    pub const fn frame(&self) -> Option<&'a Frame<'a>> {
        self.frame
    }

    /// The line about a message that the policy passes without deciding.
    pub fn plumbing(subject: &'a Subject<'a>) -> Self {
        Self::build(subject, "allowed", "plumbing", "plumbing", true)
    }

    /// The line about a call of a tool of the door's own, which reaches no server.
    pub fn answered(subject: &'a Subject<'a>) -> Self {
        Self::build(subject, "allowed", "door", "own_tool", false)
    }

    /// The line about a question of the door's own.
    pub fn own(subject: &'a Subject<'a>) -> Self {
        Self::build(subject, "allowed", "door", "own_question", true)
    }

    /// The line about a message that is refused before the policy is asked.
    pub fn refused(subject: &'a Subject<'a>, rule: &'a str, reason: &'a str) -> Self {
        Self::build(subject, "denied", rule, reason, false)
    }

    fn build(
        subject: &'a Subject<'a>,
        event: &'static str,
        rule: &'a str,
        reason: &'a str,
        forwarded: bool,
    ) -> Self {
        let claims = subject.caller.claims.as_deref();
        let identity = &*subject.caller.identity;
        let params = subject.frame.and_then(|frame| frame.params());
        let method = subject.frame.and_then(|frame| frame.method());
        let tool = params
            .filter(|_| method == Some("tools/call"))
            .and_then(|params| params.get("name"))
            .and_then(|name| name.as_str())
            .filter(|name| check_name(name, true));
        let received = commit(&subject.salt, subject.body);
        Self {
            v: VERSION,
            at: clock::timestamp(),
            event,
            call: Digits(*subject.call),
            customer: claims.map(|_| identity),
            identity: claims.is_none().then_some(identity),
            conversation: claims.map(|claims| claims.conversation.to_string()),
            turn: claims.map(|claims| claims.turn.to_string()),
            server: subject.server,
            method,
            tool,
            definition: subject.definition.clone(),
            catalogue: subject.catalogue.as_deref(),
            policy: subject.policy,
            rule,
            reason,
            observed: None,
            acknowledged: None,
            arguments: params
                .and_then(|params| params.get("arguments"))
                .map(|arguments| Arguments::of(arguments, &subject.salt)),
            forwarded: forwarded.then_some(received),
            received,
            frame: subject.frame,
        }
    }
}

impl<'a> Arguments<'a> {
    fn of(arguments: Value<'a>, salt: &[u8; 32]) -> Self {
        let total = arguments.members().count();
        let names: Vec<_> = arguments
            .members()
            .map(|(name, _)| name)
            .filter(|name| check_name(name, false))
            .take(NAMES_MAX)
            .collect();
        Self {
            unnamed: total - names.len(),
            names,
            commitment: commit(salt, arguments.raw().as_bytes()),
        }
    }
}

/// SHA-256 of the salt and the bytes, in hexadecimal.
fn commit(salt: &[u8; 32], bytes: &[u8]) -> Digits<32> {
    let mut hasher = Sha256::new();
    hasher.update(salt);
    hasher.update(bytes);
    Digits(hasher.finalize().into())
}

/// Bytes that are written in hexadecimal, without a text of their own in between.
#[derive(Clone, Copy, Debug)]
struct Digits<const N: usize>([u8; N]);

impl<const N: usize> Serialize for Digits<N> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error as _;
        let mut digits = [0; 64];
        let digits = digits
            .get_mut(..2 * N)
            .ok_or_else(|| S::Error::custom("too long"))?;
        hex::encode_to_slice(self.0, digits).map_err(S::Error::custom)?;
        let text = std::str::from_utf8(digits).map_err(S::Error::custom)?;
        serializer.serialize_str(text)
    }
}

/// How a forwarded call ended.
#[derive(Debug, Serialize)]
pub struct Outcome {
    v: u32,
    at: String,
    /// `answered`, `cancelled` or `failed`.
    event: &'static str,
    /// The leaf of the decision that let it pass.
    decision: Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    bytes: u64,
}

impl Outcome {
    /// The line about how a call ended.
    pub fn new(event: &'static str, decision: Hash, status: Option<u16>, bytes: u64) -> Self {
        Self {
            v: VERSION,
            at: clock::timestamp(),
            event,
            decision,
            status,
            bytes,
        }
    }
}

/// A run of the door begins or ends.
#[derive(Debug, Serialize)]
pub struct Run<'a> {
    v: u32,
    at: String,
    /// `log_opened`, `policy_changed` or `log_closed`.
    event: &'static str,
    door: &'static str,
    key: &'a str,
    policy: &'a PolicyMark,
    #[serde(skip_serializing_if = "is_zero")]
    torn_bytes: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl<'a> Run<'a> {
    /// The first line of a run; `torn_bytes` of an unfinished line were cut off before it.
    pub fn opened(key: &'a str, policy: &'a PolicyMark, torn_bytes: u64) -> Self {
        Self::new("log_opened", key, policy, torn_bytes)
    }

    /// The line about other rules that took the place of these.
    pub fn policy_changed(key: &'a str, policy: &'a PolicyMark) -> Self {
        Self::new("policy_changed", key, policy, 0)
    }

    /// The last line of a run that ended in order.
    pub fn closed(key: &'a str, policy: &'a PolicyMark) -> Self {
        Self::new("log_closed", key, policy, 0)
    }

    fn new(event: &'static str, key: &'a str, policy: &'a PolicyMark, torn_bytes: u64) -> Self {
        Self {
            v: VERSION,
            at: clock::timestamp(),
            event,
            door: env!("CARGO_PKG_VERSION"),
            key,
            policy,
            torn_bytes,
        }
    }
}

/// The definition of a tool is not the one it was, or is new to this run.
#[derive(Debug, Serialize)]
pub struct DefinitionSeen<'a> {
    v: u32,
    at: String,
    event: &'static str,
    server: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
}

impl<'a> DefinitionSeen<'a> {
    /// The line about a pinned tool whose definition is not the pinned one.
    pub fn changed(
        server: &'a str,
        tool: &'a str,
        pinned: Option<String>,
        found: Option<String>,
    ) -> Self {
        Self {
            v: VERSION,
            at: clock::timestamp(),
            event: "definition_changed",
            server,
            tool,
            pinned,
            found,
        }
    }
}
