//! What a decision says: what happens, why, and by which line of the policy.

use crate::file::Acknowledgement;
use crate::{ArgumentError, ArgumentProblem};

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
            Self::NotOffered => "not_offered",
            Self::NotPinned => "not_pinned",
            Self::DefinitionChanged => "definition_changed",
            Self::Arguments(problem) => problem.code(),
            Self::Rate => "rate",
            Self::ApprovalNeeded => "approval_needed",
        }
    }
}

/// A decision: what happens, why, and by which line of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl<'p> Decision<'p> {
    pub(crate) const fn deny(reason: Reason, rule: &'p str) -> Self {
        Self {
            effect: Effect::Deny,
            reason,
            rule,
            argument: None,
            acknowledged: None,
        }
    }

    pub(crate) const fn deny_arguments(error: ArgumentError<'p>, rule: &'p str) -> Self {
        Self {
            argument: error.argument,
            ..Self::deny(Reason::Arguments(error.problem), rule)
        }
    }
}
