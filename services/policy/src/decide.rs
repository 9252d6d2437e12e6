//! The decision about one call: ordered checks, the first that fails is the reason.

mod admit;
mod settle;

use countersign_wire::Value;

use self::settle::Subject;
use crate::explain::Step;
use crate::file::Mode;
use crate::ledger::CapLedger;
use crate::load::Policy;
use crate::rate::Limit;
use crate::rule::{Rule, Who};
use crate::{Arguments, Decision, Effect, Pin, PolicyMark, RateLimiter, Reason};

/// A call as the decision sees it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The server it goes to, by the name the policy knows it under.
    pub server: &'a str,
    /// The tool's own name at that server.
    pub name: &'a str,
    /// The arguments, from a strict parse of the bytes that would be forwarded.
    pub arguments: Option<Value<'a>>,
    /// What the server says about the tool now.
    pub live: Live,
    /// Whose calls are counted together.
    pub identity: &'a str,
    /// A clock that only goes forward, in milliseconds.
    pub now_milliseconds: u64,
}

/// What some rules want to know besides. Without it they refuse.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances<'a> {
    /// The groups of the caller, as the verified token says.
    pub groups: &'a [&'a str],
    /// The session the call belongs to.
    pub session: Option<&'a str>,
    /// The wall clock, in seconds since 1970-01-01 (UTC).
    pub unix_seconds: i64,
    /// What caps have counted.
    pub caps: Option<&'a CapLedger>,
}

/// What the server says about a tool now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Live {
    /// It does not offer it, or its definition cannot be hashed.
    NotOffered,
    /// It offers it with this definition.
    Offered(Pin),
}

/// Where a message stands in the count of its identity's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// It is looked at.
    Within,
    /// It is refused, and its refusal recorded for all that follow in this minute.
    FirstBeyond,
    /// It is refused.
    Beyond,
}

/// Who calls, what else is known, and where counts are kept.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub identity: &'a str,
    pub now_milliseconds: u64,
    pub circumstances: Circumstances<'a>,
    pub rates: &'a RateLimiter,
}

impl<'a> Context<'a> {
    fn who(&self) -> Who<'a> {
        Who {
            identity: self.identity,
            groups: self.circumstances.groups,
        }
    }
}

impl Policy {
    /// This policy as decisions and records name it.
    #[must_use]
    pub const fn mark(&self) -> PolicyMark<'_> {
        PolicyMark {
            id: &self.id,
            hash: &self.hash,
        }
    }

    /// Counts a message of any kind before it is looked at further.
    #[must_use]
    pub fn take_message(
        &self,
        identity: &str,
        now_milliseconds: u64,
        rates: &RateLimiter,
    ) -> Counted {
        let limit = Limit {
            what: ("messages", ""),
            who: identity,
            most: self.message_rate_per_minute,
        };
        if rates.take(&[limit], now_milliseconds) {
            return Counted::Within;
        }
        let noted = Limit {
            what: ("flood noted", ""),
            who: identity,
            most: 1,
        };
        match rates.take(&[noted], now_milliseconds) {
            true => Counted::FirstBeyond,
            false => Counted::Beyond,
        }
    }

    /// Decides about a call of a tool, knowing nothing besides: rules that want to know more
    /// refuse.
    pub fn decide_call(&self, call: &Call<'_>, rates: &RateLimiter) -> Decision<'_> {
        self.decide_call_in(call, &Circumstances::default(), rates)
    }

    /// Decides about a call of a tool.
    pub fn decide_call_in(
        &self,
        call: &Call<'_>,
        circumstances: &Circumstances<'_>,
        rates: &RateLimiter,
    ) -> Decision<'_> {
        let context = Context {
            identity: call.identity,
            now_milliseconds: call.now_milliseconds,
            circumstances: *circumstances,
            rates,
        };
        self.walk_call(call, &context, &mut |_| {})
    }

    /// Decides about another method, knowing nothing besides. `identity` and clock as in [`Call`].
    pub fn decide_method(
        &self,
        method: &str,
        params: Option<Value<'_>>,
        identity: &str,
        now_milliseconds: u64,
        rates: &RateLimiter,
    ) -> Decision<'_> {
        let circumstances = Circumstances::default();
        self.decide_method_in(
            method,
            params,
            (identity, now_milliseconds),
            &circumstances,
            rates,
        )
    }

    /// Decides about another method. `caller` is its identity and the clock as in [`Call`].
    pub fn decide_method_in(
        &self,
        method: &str,
        params: Option<Value<'_>>,
        caller: (&str, u64),
        circumstances: &Circumstances<'_>,
        rates: &RateLimiter,
    ) -> Decision<'_> {
        let context = Context {
            identity: caller.0,
            now_milliseconds: caller.1,
            circumstances: *circumstances,
            rates,
        };
        self.walk_method(method, params, &context, &mut |_| {})
    }

    /// Whether a tool would pass with the right arguments, for a caller nothing is known of; lists
    /// show exactly those.
    #[must_use]
    pub fn would_pass(&self, server: &str, name: &str, live: Live) -> bool {
        self.would_pass_for(server, name, live, "", &[])
    }

    /// Whether a tool would pass with the right arguments for this caller. Lists show exactly
    /// those, and a changed definition never.
    #[must_use]
    pub fn would_pass_for(
        &self,
        server: &str,
        name: &str,
        live: Live,
        identity: &str,
        groups: &[&str],
    ) -> bool {
        let who = Who { identity, groups };
        match self.admit_tool(server, name, live, who, &mut |_| {}) {
            Ok((_, admitted)) => !admitted.changed,
            Err(refused) => self.lets_pass(refused.reason),
        }
    }

    /// Whether the policy names a tool at all, by its own name at any server or by its name in the
    /// file, so that its live definition matters.
    #[must_use]
    pub fn names_tool(&self, name: &str) -> bool {
        self.mode == Mode::Observe
            || self.tools.values().any(|tools| tools.contains_key(name))
            || self.tool(name).is_some()
    }

    /// Whether a call of this tool may ask to go on as a task after its answer.
    #[must_use]
    pub fn allows_task(&self, server: &str, name: &str) -> bool {
        let tool = self.tools.get(server).and_then(|tools| tools.get(name));
        self.mode == Mode::Observe || tool.is_some_and(|tool| tool.task)
    }

    /// Whether the policy allows a method, so that lists of what it reads are shown.
    #[must_use]
    pub fn names_method(&self, method: &str) -> bool {
        self.names_method_for(method, "", &[])
    }

    /// Whether the policy allows a method to this caller.
    #[must_use]
    pub fn names_method_for(&self, method: &str, identity: &str, groups: &[&str]) -> bool {
        let who = Who { identity, groups };
        self.mode == Mode::Observe || self.admit_method(method, who, &mut |_| {}).is_ok()
    }

    /// Whether what is refused passes all the same: where the policy only observes, and the door
    /// knows where the call goes.
    fn lets_pass(&self, reason: Reason) -> bool {
        self.mode == Mode::Observe && !matches!(reason, Reason::BadName | Reason::UnknownServer)
    }

    /// Decides about a call, telling every check's outcome.
    pub(crate) fn walk_call<'p>(
        &'p self,
        call: &Call<'_>,
        context: &Context<'_>,
        note: &mut impl FnMut(Step<'p>),
    ) -> Decision<'p> {
        let who = context.who();
        let decision = match self.admit_tool(call.server, call.name, call.live, who, note) {
            Err(denied) => denied,
            Ok((tool, admitted)) => {
                let subject = Subject {
                    counter: ("tool", &tool.key),
                    rate_per_minute: tool.rate_per_minute,
                    arguments: &tool.arguments,
                    cap: tool.cap.as_ref(),
                    rules: &tool.rules,
                };
                let checked = subject.arguments.check(call.arguments);
                let decided =
                    self.settle(&subject, &admitted, checked, call.arguments, context, note);
                Decision {
                    acknowledged: match decided.effect {
                        Effect::Deny => None,
                        Effect::Allow | Effect::Hold => tool.acknowledged,
                    },
                    ..decided
                }
            }
        };
        self.finish(decision)
    }

    /// Decides about another method, telling every check's outcome.
    pub(crate) fn walk_method<'p>(
        &'p self,
        method: &str,
        params: Option<Value<'_>>,
        context: &Context<'_>,
        note: &mut impl FnMut(Step<'p>),
    ) -> Decision<'p> {
        let decision = match self.admit_method(method, context.who(), note) {
            Err(denied) => denied,
            Ok((name, method, admitted)) => {
                let subject = Subject {
                    counter: ("method", name),
                    rate_per_minute: method.rate_per_minute,
                    arguments: &method.arguments,
                    cap: None,
                    rules: &method.rules,
                };
                let checked = check_params(subject.arguments, params);
                self.settle(&subject, &admitted, checked, params, context, note)
            }
        };
        self.finish(decision)
    }

    fn finish<'p>(&self, decision: Decision<'p>) -> Decision<'p> {
        if decision.effect == Effect::Allow || !self.lets_pass(decision.reason) {
            return decision;
        }
        Decision {
            effect: Effect::Allow,
            observed: Some(decision.effect),
            hold: None,
            ..decision
        }
    }

    fn rules_at<'p>(&'p self, places: &'p [usize]) -> impl Iterator<Item = &'p Rule> {
        places.iter().filter_map(|at| self.rules.get(*at))
    }
}

/// Checks the parameters of a method; `_meta` is everybody's.
fn check_params<'p>(
    arguments: &'p Arguments,
    params: Option<Value<'_>>,
) -> Result<(), crate::ArgumentError<'p>> {
    match params {
        None => arguments.check(None),
        Some(params) => arguments.check_object(params, |name| name == "_meta"),
    }
}

#[cfg(test)]
mod tests;
