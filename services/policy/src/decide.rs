//! The decision about one call: ordered checks, the first that fails is the reason.

use countersign_wire::Value;

use crate::explain::{Check, Outcome, Step};
use crate::file::{Mode, OnChangedTool};
use crate::ledger::{CapLedger, Counting};
use crate::load::{Method, Policy, Tool};
use crate::name::check_name;
use crate::rate::Limit;
use crate::rule::{self, HoldTerms, Rule, Who};
use crate::{Arguments, Decision, Effect, Hold, Pin, PolicyMark, RateLimiter, Reason};

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

/// What a call is allowed under once the checks that need no arguments have passed.
struct Admitted<'p> {
    rule: &'p str,
    changed: bool,
}

/// What all checks after the arguments need of a tool or a method.
struct Subject<'p> {
    /// Its counter's name.
    counter: (&'static str, &'p str),
    rate_per_minute: Option<u32>,
    arguments: &'p Arguments,
    cap: Option<&'p crate::cap::Cap>,
    rules: &'p [usize],
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
                let checked = match params {
                    None => subject.arguments.check(None),
                    Some(params) => subject
                        .arguments
                        .check_object(params, |name| name == "_meta"),
                };
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

    /// The checks that do not look at arguments: name, server, words, rules, allowlist, pin.
    fn admit_tool<'p>(
        &'p self,
        server: &str,
        name: &str,
        live: Live,
        who: Who<'_>,
        note: &mut impl FnMut(Step<'p>),
    ) -> Result<(&'p Tool, Admitted<'p>), Decision<'p>> {
        let mut check = |check, refused: Option<(Reason, &'p str)>| match refused {
            None => {
                note(Step::passed(check));
                Ok(())
            }
            Some((reason, rule)) => {
                let decision = Decision::deny(self, reason, rule);
                note(Step::refused(check, &decision));
                Err(decision)
            }
        };
        let plain = check_name(name, self.allow_dots);
        check(Check::Name, (!plain).then_some((Reason::BadName, "name")))?;
        let known = self.servers.contains_key(server);
        check(
            Check::Server,
            (!known).then_some((Reason::UnknownServer, "server")),
        )?;
        let tool = self.tools.get(server).and_then(|tools| tools.get(name));
        let unacknowledged = match tool {
            Some(tool) => tool.holds_write_word && tool.acknowledged.is_none(),
            None => self.words.in_name(name),
        };
        check(
            Check::WriteWords,
            unacknowledged.then_some((Reason::WriteWord, "write_words")),
        )?;
        let denial = match tool {
            Some(tool) => self.first_denial(self.rules_at(&tool.rules), who),
            None => {
                let key = format!("{server}__{name}");
                let about = self
                    .rules
                    .iter()
                    .filter(|rule| rule.is_about_tool(server, name, &key));
                self.first_denial(about, who)
            }
        };
        check(
            Check::DenyRules,
            denial.map(|rule| (Reason::DeniedByRule, &*rule.id)),
        )?;
        let Some(tool) = tool else {
            check(Check::Allowlist, Some((Reason::NotListed, "default")))?;
            return Err(Decision::deny(self, Reason::NotListed, "default"));
        };
        check(Check::Allowlist, None)?;
        let rule = self.allowed_by(&tool.rules, &tool.rule, who);
        check(
            Check::AllowRules,
            rule.is_none()
                .then_some((Reason::NotAllowedToCaller, &*tool.rule)),
        )?;
        let mut changed = false;
        let drift = match (live, tool.pin) {
            (Live::NotOffered, _) => Some(Reason::NotOffered),
            (Live::Offered(_), None) if self.require_pins => Some(Reason::NotPinned),
            (Live::Offered(live), Some(pin)) if live != pin => match self.on_changed_tool {
                OnChangedTool::Block => Some(Reason::DefinitionChanged),
                OnChangedTool::RequireApproval => {
                    changed = true;
                    None
                }
            },
            (Live::Offered(_), _) => None,
        };
        check(Check::Pin, drift.map(|reason| (reason, &*tool.rule)))?;
        let rule = rule.unwrap_or(&tool.rule);
        Ok((tool, Admitted { rule, changed }))
    }

    fn admit_method<'p>(
        &'p self,
        method: &str,
        who: Who<'_>,
        note: &mut impl FnMut(Step<'p>),
    ) -> Result<(&'p str, &'p Method, Admitted<'p>), Decision<'p>> {
        let mut check = |check, refused: Option<(Reason, &'p str)>| match refused {
            None => {
                note(Step::passed(check));
                Ok(())
            }
            Some((reason, rule)) => {
                let decision = Decision::deny(self, reason, rule);
                note(Step::refused(check, &decision));
                Err(decision)
            }
        };
        let listed = self.methods.get_key_value(method);
        let denial = match listed {
            Some((_, listed)) => self.first_denial(self.rules_at(&listed.rules), who),
            None => {
                let about = self.rules.iter();
                self.first_denial(about.filter(|rule| rule.is_about_method(method)), who)
            }
        };
        check(
            Check::DenyRules,
            denial.map(|rule| (Reason::DeniedByRule, &*rule.id)),
        )?;
        let Some((name, listed)) = listed else {
            check(Check::Allowlist, Some((Reason::UnknownMethod, "default")))?;
            return Err(Decision::deny(self, Reason::UnknownMethod, "default"));
        };
        check(Check::Allowlist, None)?;
        let rule = self.allowed_by(&listed.rules, &listed.rule, who);
        check(
            Check::AllowRules,
            rule.is_none()
                .then_some((Reason::NotAllowedToCaller, &*listed.rule)),
        )?;
        let rule = rule.unwrap_or(&listed.rule);
        let changed = false;
        Ok((name, listed, Admitted { rule, changed }))
    }

    /// The checks after those: arguments, rate, caps, approval.
    fn settle<'p>(
        &'p self,
        subject: &Subject<'p>,
        admitted: &Admitted<'p>,
        checked: Result<(), crate::ArgumentError<'p>>,
        arguments: Option<Value<'_>>,
        context: &Context<'_>,
        note: &mut impl FnMut(Step<'p>),
    ) -> Decision<'p> {
        let rule = admitted.rule;
        let mut refuse = |check, decision: Decision<'p>| {
            note(Step::refused(check, &decision));
            decision
        };
        if let Err(error) = checked {
            let decision = Decision::deny_arguments(self, error, rule);
            return refuse(Check::Arguments, decision);
        }
        let who = context.who();
        let applying = || {
            let rules = self.rules_at(subject.rules);
            rules.filter(move |rule| rule.is_about(who))
        };
        if !self.within_rates(subject, applying(), context) {
            note(Step::passed(Check::Arguments));
            let decision = Decision::deny(self, Reason::Rate, rule);
            note(Step::refused(Check::Rate, &decision));
            return decision;
        }
        let caps = subject
            .cap
            .into_iter()
            .chain(applying().filter_map(|rule| rule.cap.as_ref()));
        let counted = match count(caps, arguments, context) {
            Ok(counted) => counted,
            Err((cap, problem)) => {
                note(Step::passed(Check::Arguments));
                note(Step::passed(Check::Rate));
                let decision = Decision {
                    argument: Some(&cap.argument),
                    ..Decision::deny(self, Reason::Cap(problem), &cap.rule)
                };
                note(Step::refused(Check::Caps, &decision));
                return decision;
            }
        };
        for check in [Check::Arguments, Check::Rate, Check::Caps] {
            note(Step::passed(check));
        }
        let mut decision = Decision {
            counted,
            ..Decision::allow(self, rule)
        };
        if let Some((rule, hold)) = self.hold(applying(), admitted) {
            decision.effect = Effect::Hold;
            decision.reason = match admitted.changed {
                true => Reason::DefinitionChanged,
                false => Reason::ApprovalNeeded,
            };
            decision.rule = rule;
            decision.hold = Some(hold);
            note(Step::of(Check::Approval, Outcome::Held, &decision));
        } else {
            note(Step::passed(Check::Approval));
        }
        decision
    }

    fn within_rates<'p>(
        &'p self,
        subject: &Subject<'p>,
        applying: impl Iterator<Item = &'p Rule>,
        context: &Context<'_>,
    ) -> bool {
        let who = context.identity;
        let mut limits = Vec::new();
        let of_all = (("calls", ""), self.rate_per_minute);
        let of_this = (subject.counter, subject.rate_per_minute);
        let of_rules = applying.map(|rule| (("rule", &*rule.id), rule.rate_per_minute));
        for (what, most) in [of_all, of_this].into_iter().chain(of_rules) {
            limits.extend(most.map(|most| Limit { what, who, most }));
        }
        context.rates.take(&limits, context.now_milliseconds)
    }

    /// What holds a call, and the rule that is named for it: the strictest, then the first by id.
    fn hold<'p>(
        &'p self,
        applying: impl Iterator<Item = &'p Rule>,
        admitted: &Admitted<'p>,
    ) -> Option<(&'p str, Hold)> {
        let holds: Vec<_> = applying
            .filter_map(|rule| match &rule.effect {
                rule::Effect::Hold(terms) => Some((&*rule.id, terms)),
                _ => None,
            })
            .collect();
        // Nobody has looked at the new definition: no countdown, whatever a rule says.
        let of_change = admitted.changed.then(|| HoldTerms {
            ttl_seconds: self.approval.ttl_seconds(),
            reversible: false,
            countdown_seconds: None,
            ways: Box::new([crate::Way::Page]),
        });
        let named = holds
            .iter()
            .min_by_key(|(id, terms)| (terms.countdown_seconds.is_some(), *id))
            .map(|(id, _)| *id);
        let terms = holds.iter().map(|(_, terms)| *terms);
        let terms = HoldTerms::strictest(terms.chain(&of_change))?;
        let hold = Hold {
            ttl_seconds: terms.ttl_seconds,
            countdown_seconds: terms.countdown_seconds,
            reversible: terms.reversible,
            ways: terms.ways,
        };
        Some((named.unwrap_or(admitted.rule), hold))
    }

    fn rules_at<'p>(&'p self, places: &'p [usize]) -> impl Iterator<Item = &'p Rule> {
        places.iter().filter_map(|at| self.rules.get(*at))
    }

    /// The denial that is named: the first by id, whatever the order of the file.
    fn first_denial<'p>(
        &'p self,
        mut about: impl Iterator<Item = &'p Rule>,
        who: Who<'_>,
    ) -> Option<&'p Rule> {
        about.find(|rule| matches!(rule.effect, rule::Effect::Deny) && rule.is_about(who))
    }

    /// The line that allows it to this caller: its own entry where no rule allows it, else a rule.
    fn allowed_by<'p>(
        &'p self,
        rules: &'p [usize],
        entry: &'p str,
        who: Who<'_>,
    ) -> Option<&'p str> {
        let mut allows = self
            .rules_at(rules)
            .filter(|rule| matches!(rule.effect, rule::Effect::Allow))
            .peekable();
        if allows.peek().is_none() {
            return Some(entry);
        }
        allows.find(|rule| rule.is_about(who)).map(|rule| &*rule.id)
    }
}

/// Counts what a call comes to under its caps.
fn count<'p>(
    caps: impl Iterator<Item = &'p crate::cap::Cap>,
    arguments: Option<Value<'_>>,
    context: &Context<'_>,
) -> Result<crate::Reservation, (&'p crate::cap::Cap, crate::CapProblem)> {
    use crate::CapProblem;
    let mut amounts = Vec::new();
    for cap in caps {
        let amount = cap.amount(arguments).map_err(|problem| (cap, problem))?;
        if cap.per_call.is_some_and(|limit| amount >= limit) {
            return Err((cap, CapProblem::PerCall));
        }
        amounts.push((cap, amount));
    }
    let sums = |cap: &&crate::cap::Cap| cap.per_day.is_some() || cap.per_session.is_some();
    let Some(first) = amounts.iter().map(|(cap, _)| *cap).find(sums) else {
        return Ok(crate::Reservation::default());
    };
    let ledger = context.circumstances.caps;
    let ledger = ledger.ok_or((first, CapProblem::NotCounted))?;
    let counting = Counting {
        identity: context.identity,
        session: context.circumstances.session,
        unix_seconds: context.circumstances.unix_seconds,
    };
    ledger
        .reserve(&amounts, counting)
        .map_err(|(at, problem)| (amounts[at].0, problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Acknowledgement;
    use crate::{ArgumentProblem, definition_pin};

    fn pin(text: &str) -> Pin {
        definition_pin(&format!(r#"{{"name":"{text}"}}"#)).unwrap()
    }

    fn policy() -> Policy {
        let yaml = format!(
            "version: 1\nid: t\ndefault: deny\nservers: {{bank: {{}}}}\ntools:\n\
             \x20 get_balance: {{schema_sha256: '{a}'}}\n\
             \x20 list_cards: {{schema_sha256: '{a}', rate_per_minute: 2}}\n\
             \x20 request_transfer: {{schema_sha256: '{a}', acknowledged: creates-a-request-only}}\n\
             \x20 send_money: {{schema_sha256: '{a}'}}\n\
             \x20 request_refund: {{schema_sha256: '{a}', acknowledged: creates-a-request-only}}\n\
             \x20 unpinned: {{}}\n\
             methods:\n  prompts/get: {{args: {{name: {{type: string, required: true}}}}}}\n\
             rules:\n\
             \x20 - {{id: hold-all, tool: 'request_*', effect: require_approval}}\n\
             \x20 - {{id: no-refunds, tool: '*_refund', effect: deny}}\n\
             \x20 - {{id: hold-prompts, method: 'prompts/*', effect: require_approval}}\n",
            a = pin("a")
        );
        Policy::load(&yaml).unwrap()
    }

    fn call<'a>(name: &'a str, live: Live) -> Call<'a> {
        Call {
            server: "bank",
            name,
            arguments: None,
            live,
            identity: "ada",
            now_milliseconds: 0,
        }
    }

    #[test]
    fn the_first_check_that_fails_is_the_reason() {
        let policy = policy();
        let rates = RateLimiter::new();
        let offered = Live::Offered(pin("a"));
        for (name, live, effect, reason, rule) in [
            (
                "get_balance",
                offered,
                Effect::Allow,
                Reason::Allowed,
                "tools.get_balance",
            ),
            (
                "get balance",
                offered,
                Effect::Deny,
                Reason::BadName,
                "name",
            ),
            (
                "transfer_all",
                offered,
                Effect::Deny,
                Reason::WriteWord,
                "write_words",
            ),
            (
                "send_money",
                offered,
                Effect::Deny,
                Reason::WriteWord,
                "write_words",
            ),
            (
                "secret",
                offered,
                Effect::Deny,
                Reason::NotListed,
                "default",
            ),
            (
                "Get_Balance",
                offered,
                Effect::Deny,
                Reason::NotListed,
                "default",
            ),
            (
                "unpinned",
                offered,
                Effect::Deny,
                Reason::NotPinned,
                "tools.unpinned",
            ),
            (
                "get_balance",
                Live::Offered(pin("b")),
                Effect::Deny,
                Reason::DefinitionChanged,
                "tools.get_balance",
            ),
            (
                "get_balance",
                Live::NotOffered,
                Effect::Deny,
                Reason::NotOffered,
                "tools.get_balance",
            ),
            (
                "request_refund",
                offered,
                Effect::Deny,
                Reason::DeniedByRule,
                "no-refunds",
            ),
            (
                "request_transfer",
                offered,
                Effect::Hold,
                Reason::ApprovalNeeded,
                "hold-all",
            ),
        ] {
            let decision = policy.decide_call(&call(name, live), &rates);
            assert_eq!(
                (decision.effect, decision.reason, decision.rule),
                (effect, reason, rule),
                "{name}"
            );
        }
        let elsewhere = Call {
            server: "other",
            ..call("get_balance", offered)
        };
        assert_eq!(
            policy.decide_call(&elsewhere, &rates).reason,
            Reason::UnknownServer
        );
    }

    #[test]
    fn an_acknowledged_request_tool_says_so() {
        let mut policy = policy();
        policy.rules.clear();
        let call = call("request_transfer", Live::Offered(pin("a")));
        let decision = policy.decide_call(&call, &RateLimiter::new());
        assert_eq!(decision.effect, Effect::Allow);
        let acknowledged = Some(Acknowledgement::CreatesARequestOnly);
        assert_eq!(decision.acknowledged, acknowledged);
        assert_eq!(decision.policy.id, "t");
        assert_eq!(decision.policy.hash, policy.hash());
    }

    #[test]
    fn a_list_shows_what_would_pass() {
        let policy = policy();
        let offered = Live::Offered(pin("a"));
        assert!(policy.would_pass("bank", "get_balance", offered));
        assert!(policy.would_pass("bank", "request_transfer", offered));
        for name in ["secret", "send_money", "unpinned", "request_refund"] {
            assert!(!policy.would_pass("bank", name, offered), "{name}");
        }
        assert!(!policy.would_pass("bank", "get_balance", Live::Offered(pin("b"))));
    }

    #[test]
    fn a_rate_is_one_identitys_and_one_tools() {
        let policy = policy();
        let rates = RateLimiter::new();
        let mut call = call("list_cards", Live::Offered(pin("a")));
        assert_eq!(policy.decide_call(&call, &rates).reason, Reason::Allowed);
        assert_eq!(policy.decide_call(&call, &rates).reason, Reason::Allowed);
        assert_eq!(policy.decide_call(&call, &rates).reason, Reason::Rate);
        call.identity = "kabir";
        assert_eq!(policy.decide_call(&call, &rates).reason, Reason::Allowed);
        call.identity = "ada";
        call.name = "get_balance";
        assert_eq!(policy.decide_call(&call, &rates).reason, Reason::Allowed);
        call.name = "list_cards";
        call.now_milliseconds = 60_000;
        assert_eq!(policy.decide_call(&call, &rates).reason, Reason::Allowed);
    }

    #[test]
    fn methods_are_governed_like_tools() {
        let policy = policy();
        let rates = RateLimiter::new();
        let decide = |method: &str, params: &str| {
            let document = countersign_wire::Document::read(
                params.as_bytes(),
                &countersign_wire::Caps::MESSAGE,
            )
            .unwrap();
            let decision = policy.decide_method(method, Some(document.root()), "ada", 0, &rates);
            (decision.effect, decision.reason)
        };
        assert_eq!(
            decide("prompts/get", r#"{"name":"a","_meta":{"x":1}}"#),
            (Effect::Hold, Reason::ApprovalNeeded)
        );
        let undeclared = Reason::Arguments(ArgumentProblem::Undeclared);
        assert_eq!(
            decide("prompts/get", r#"{"name":"a","uri":"b"}"#),
            (Effect::Deny, undeclared)
        );
        for method in ["resources/read", "x/private", "completion/complete"] {
            assert_eq!(
                decide(method, "{}"),
                (Effect::Deny, Reason::UnknownMethod),
                "{method}"
            );
        }
    }

    #[test]
    fn an_empty_policy_allows_nothing() {
        let policy =
            Policy::load("version: 1\nid: t\ndefault: deny\nservers: {bank: {}}\ntools: {}\n")
                .unwrap();
        let decision = policy.decide_call(
            &call("get_balance", Live::Offered(pin("a"))),
            &RateLimiter::new(),
        );
        assert_eq!(decision.effect, Effect::Deny);
    }
}
