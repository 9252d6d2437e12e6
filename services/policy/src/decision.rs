//! What a decision says: what happens, why, and by which line of the policy.

mod words;

use crate::cap::CapProblem;
use crate::file::{Acknowledgement, Way};
use crate::ledger::Reservation;
use crate::{ArgumentError, ArgumentProblem, Policy};

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is forwarded.
    Allow,
    /// It is refused.
    Deny,
    /// It waits for a person.
    Hold,
}

impl Effect {
    /// The word in records and outputs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Hold => "hold",
        }
    }
}

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Every check passed.
    Allowed,
    /// The name is not a plain one.
    BadName,
    /// The policy knows no such server.
    UnknownServer,
    /// The name holds a payment or write word, and nobody acknowledged the tool.
    WriteWord,
    /// The policy does not allow the tool.
    NotListed,
    /// The policy does not allow the method.
    UnknownMethod,
    /// A rule denies it.
    DeniedByRule,
    /// Rules allow it, and none of them to this caller.
    NotAllowedToCaller,
    /// The server does not offer the tool.
    NotOffered,
    /// The tool has no pin and needs one.
    NotPinned,
    /// The definition is not the pinned one.
    DefinitionChanged,
    /// The arguments are not the declared ones.
    Arguments(ArgumentProblem),
    /// Too many calls in a minute.
    Rate,
    /// A cap is reached, or its amount cannot be counted.
    Cap(CapProblem),
    /// A person has to approve it.
    ApprovalNeeded,
}

impl Reason {
    /// The stable code in refusals and records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::BadName => "bad_name",
            Self::UnknownServer => "unknown_server",
            Self::WriteWord => "write_word",
            Self::NotListed => "not_listed",
            Self::UnknownMethod => "unknown_method",
            Self::DeniedByRule => "denied_by_rule",
            Self::NotAllowedToCaller => "not_allowed_to_caller",
            Self::NotOffered => "not_offered",
            Self::NotPinned => "not_pinned",
            Self::DefinitionChanged => "definition_changed",
            Self::Arguments(problem) => problem.code(),
            Self::Rate => "rate",
            Self::Cap(problem) => problem.code(),
            Self::ApprovalNeeded => "approval_needed",
        }
    }
}

/// The policy that a decision was made under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyMark<'p> {
    /// Its name.
    pub id: &'p str,
    /// SHA-256 of its file.
    pub hash: &'p [u8; 32],
}

/// How a call is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// How long at most, in seconds. After that it is denied.
    pub ttl_seconds: u32,
    /// After so many seconds it is released, unless a person holds or denies it. Only where what
    /// the call does can be taken back.
    pub countdown_seconds: Option<u32>,
    /// Whether the policy says that what the call does can be taken back.
    pub reversible: bool,
    /// How the question may reach a person.
    pub ways: Box<[Way]>,
}

/// A decision: what happens, why, and by which line of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'p> {
    /// What happens.
    pub effect: Effect,
    /// Why.
    pub reason: Reason,
    /// The line of the policy that decided, or the name of the built-in check.
    pub rule: &'p str,
    /// The declared argument that is the reason.
    pub argument: Option<&'p str>,
    /// The acknowledgement under which a payment or write tool passed.
    pub acknowledged: Option<Acknowledgement>,
    /// How it is held, when it is.
    pub hold: Option<Hold>,
    /// What caps have counted for it. Give it back when the call never runs.
    pub counted: Reservation,
    /// What would have happened, when the policy only observes and the call passes all the same.
    pub observed: Option<Effect>,
    /// The policy it was made under.
    pub policy: PolicyMark<'p>,
}

impl<'p> Decision<'p> {
    pub(crate) fn allow(policy: &'p Policy, rule: &'p str) -> Self {
        Self {
            effect: Effect::Allow,
            reason: Reason::Allowed,
            rule,
            argument: None,
            acknowledged: None,
            hold: None,
            counted: Reservation::default(),
            observed: None,
            policy: policy.mark(),
        }
    }

    pub(crate) fn deny(policy: &'p Policy, reason: Reason, rule: &'p str) -> Self {
        Self {
            effect: Effect::Deny,
            reason,
            ..Self::allow(policy, rule)
        }
    }

    pub(crate) fn deny_arguments(
        policy: &'p Policy,
        error: ArgumentError<'p>,
        rule: &'p str,
    ) -> Self {
        Self {
            argument: error.argument,
            ..Self::deny(policy, Reason::Arguments(error.problem), rule)
        }
    }
}
