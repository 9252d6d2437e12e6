//! Every check of a decision, in order, with its outcome.

use countersign_wire::Value;

use crate::decide::{Call, Circumstances, Context};
use crate::{Decision, Policy, RateLimiter, Reason};

/// A check, in the order they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The name is plain.
    Name,
    /// The policy knows the server.
    Server,
    /// No word of the name pays or writes, or the tool is acknowledged.
    WriteWords,
    /// No rule denies it.
    DenyRules,
    /// It has an entry of its own.
    Allowlist,
    /// A rule allows it to this caller, where rules allow it.
    AllowRules,
    /// The server offers it with the pinned definition.
    Pin,
    /// The arguments are the declared ones.
    Arguments,
    /// There were not too many calls.
    Rate,
    /// No cap is reached.
    Caps,
    /// No rule holds it for a person.
    Approval,
}

impl Check {
    /// The checks of a call of a tool.
    pub const OF_CALLS: [Self; 11] = [
        Self::Name,
        Self::Server,
        Self::WriteWords,
        Self::DenyRules,
        Self::Allowlist,
        Self::AllowRules,
        Self::Pin,
        Self::Arguments,
        Self::Rate,
        Self::Caps,
        Self::Approval,
    ];

    /// The checks of another method.
    pub const OF_METHODS: [Self; 7] = [
        Self::DenyRules,
        Self::Allowlist,
        Self::AllowRules,
        Self::Arguments,
        Self::Rate,
        Self::Caps,
        Self::Approval,
    ];

    /// Its name in outputs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Server => "server",
            Self::WriteWords => "write words",
            Self::DenyRules => "deny rules",
            Self::Allowlist => "allowlist",
            Self::AllowRules => "allow rules",
            Self::Pin => "pin",
            Self::Arguments => "arguments",
            Self::Rate => "rate",
            Self::Caps => "caps",
            Self::Approval => "approval",
        }
    }
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The call goes on to the next check.
    Passed,
    /// The call is refused; no further check is made.
    Refused,
    /// The call waits for a person.
    Held,
}

/// One check and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'p> {
    /// The check.
    pub check: Check,
    /// What came of it.
    pub outcome: Outcome,
    /// Why, unless it passed.
    pub reason: Option<Reason>,
    /// By which line of the policy, unless it passed.
    pub rule: Option<&'p str>,
    /// The declared argument that is the reason.
    pub argument: Option<&'p str>,
}

impl<'p> Step<'p> {
    pub(crate) const fn passed(check: Check) -> Self {
        Self {
            check,
            outcome: Outcome::Passed,
            reason: None,
            rule: None,
            argument: None,
        }
    }

    pub(crate) const fn refused(check: Check, decision: &Decision<'p>) -> Self {
        Self::of(check, Outcome::Refused, decision)
    }

    pub(crate) const fn of(check: Check, outcome: Outcome, decision: &Decision<'p>) -> Self {
        Self {
            check,
            outcome,
            reason: Some(decision.reason),
            rule: Some(decision.rule),
            argument: decision.argument,
        }
    }
}

impl Policy {
    /// Decides about a call and tells every check that was made.
    pub fn explain_call(
        &self,
        call: &Call<'_>,
        circumstances: &Circumstances<'_>,
        rates: &RateLimiter,
    ) -> (Vec<Step<'_>>, Decision<'_>) {
        let mut steps = Vec::new();
        let context = Context {
            identity: call.identity,
            now_milliseconds: call.now_milliseconds,
            circumstances: *circumstances,
            rates,
        };
        let decision = self.walk_call(call, &context, &mut |step| steps.push(step));
        (steps, decision)
    }

    /// Decides about another method and tells every check that was made. `caller` is its identity
    /// and the clock as in [`Call`].
    pub fn explain_method(
        &self,
        method: &str,
        params: Option<Value<'_>>,
        caller: (&str, u64),
        circumstances: &Circumstances<'_>,
        rates: &RateLimiter,
    ) -> (Vec<Step<'_>>, Decision<'_>) {
        let mut steps = Vec::new();
        let context = Context {
            identity: caller.0,
            now_milliseconds: caller.1,
            circumstances: *circumstances,
            rates,
        };
        let decision = self.walk_method(method, params, &context, &mut |step| steps.push(step));
        (steps, decision)
    }
}
