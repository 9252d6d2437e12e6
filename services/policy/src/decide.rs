//! The decision about one call: ordered checks, the first that fails is the reason.

use countersign_wire::Value;

use crate::load::{Policy, Rule, Target};
use crate::name::check_name;
use crate::{Decision, Effect, Pin, RateLimiter, Reason};

/// A call as the decision sees it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The server it goes to, by the name the policy knows it under.
    pub server: &'a str,
    /// The tool's name.
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

impl Policy {
    /// Counts a message of any kind before it is looked at further.
    #[must_use]
    pub fn take_message(
        &self,
        identity: &str,
        now_milliseconds: u64,
        rates: &RateLimiter,
    ) -> Counted {
        // No tool and no method has a name with a space.
        let limit = Some(self.message_rate_per_minute);
        if rates.take(&[(("any message", identity), limit)], now_milliseconds) {
            return Counted::Within;
        }
        let noted = [(("flood noted", identity), Some(1))];
        match rates.take(&noted, now_milliseconds) {
            true => Counted::FirstBeyond,
            false => Counted::Beyond,
        }
    }

    /// Decides about a call of a tool.
    pub fn decide_call(&self, call: &Call<'_>, rates: &RateLimiter) -> Decision<'_> {
        let tool = match self.check_tool(call.server, call.name, call.live) {
            Ok(tool) => tool,
            Err(denied) => return denied,
        };
        if let Err(error) = tool.arguments.check(call.arguments) {
            return Decision::deny_arguments(error, &tool.rule);
        }
        let limits = [
            (("", call.identity), self.rate_per_minute),
            ((call.name, call.identity), tool.rate_per_minute),
        ];
        if !rates.take(&limits, call.now_milliseconds) {
            return Decision::deny(Reason::Rate, &tool.rule);
        }
        let decision = Decision {
            effect: Effect::Allow,
            reason: Reason::Allowed,
            rule: &tool.rule,
            argument: None,
            acknowledged: tool.acknowledged,
        };
        hold(&self.holds, decision, |target| match target {
            Target::Tool(glob) => glob.matches(call.name),
            Target::Method(glob) => glob.matches("tools/call"),
        })
    }

    /// Whether a tool would pass with the right arguments; lists show exactly those.
    #[must_use]
    pub fn would_pass(&self, server: &str, name: &str, live: Live) -> bool {
        self.check_tool(server, name, live).is_ok()
    }

    /// Whether the policy names a tool at all, so that its live definition matters.
    #[must_use]
    pub fn names_tool(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Whether the policy allows a method, so that lists of what it reads are shown.
    #[must_use]
    pub fn names_method(&self, method: &str) -> bool {
        let denied = self.denials.iter().any(|rule| match &rule.target {
            Target::Method(glob) => glob.matches(method),
            Target::Tool(_) => false,
        });
        self.methods.contains_key(method) && !denied
    }

    /// Decides about another method. `identity` and clock as in [`Call`].
    pub fn decide_method(
        &self,
        method: &str,
        params: Option<Value<'_>>,
        identity: &str,
        now_milliseconds: u64,
        rates: &RateLimiter,
    ) -> Decision<'_> {
        let matches = |target: &Target| match target {
            Target::Method(glob) => glob.matches(method),
            Target::Tool(_) => false,
        };
        if let Some(rule) = self.denials.iter().find(|rule| matches(&rule.target)) {
            return Decision::deny(Reason::DeniedByRule, &rule.id);
        }
        let Some(allowed) = self.methods.get(method) else {
            return Decision::deny(Reason::UnknownMethod, "default");
        };
        let checked = match params {
            None => allowed.arguments.check(None),
            Some(params) => allowed
                .arguments
                .check_object(params, |name| name == "_meta"),
        };
        if let Err(error) = checked {
            return Decision::deny_arguments(error, &allowed.rule);
        }
        let limits = [
            (("", identity), self.rate_per_minute),
            ((method, identity), allowed.rate_per_minute),
        ];
        if !rates.take(&limits, now_milliseconds) {
            return Decision::deny(Reason::Rate, &allowed.rule);
        }
        let decision = Decision {
            effect: Effect::Allow,
            reason: Reason::Allowed,
            rule: &allowed.rule,
            argument: None,
            acknowledged: None,
        };
        hold(&self.holds, decision, matches)
    }

    /// The checks that do not look at arguments: name, server, words, allowlist, pin.
    fn check_tool(
        &self,
        server: &str,
        name: &str,
        live: Live,
    ) -> Result<&crate::load::Tool, Decision<'_>> {
        if !check_name(name, self.allow_dots) {
            return Err(Decision::deny(Reason::BadName, "name"));
        }
        if !self.servers.contains(server) {
            return Err(Decision::deny(Reason::UnknownServer, "server"));
        }
        let tool = self.tool(name);
        let acknowledged = tool.is_some_and(|tool| tool.acknowledged.is_some());
        if !acknowledged && self.words.in_name(name) {
            return Err(Decision::deny(Reason::WriteWord, "write_words"));
        }
        let denial = self.denials.iter().find(|rule| match &rule.target {
            Target::Tool(glob) => glob.matches(name),
            Target::Method(glob) => glob.matches("tools/call"),
        });
        if let Some(rule) = denial {
            return Err(Decision::deny(Reason::DeniedByRule, &rule.id));
        }
        let Some(tool) = tool else {
            return Err(Decision::deny(Reason::NotListed, "default"));
        };
        let reason = match (live, tool.pin) {
            (Live::NotOffered, _) => Reason::NotOffered,
            (Live::Offered(_), None) if self.require_pins => Reason::NotPinned,
            (Live::Offered(live), Some(pin)) if live != pin => Reason::DefinitionChanged,
            (Live::Offered(_), _) => return Ok(tool),
        };
        Err(Decision::deny(reason, &tool.rule))
    }
}

/// Turns an allowed call into a held one where a rule asks for a person.
fn hold<'p>(
    holds: &'p [Rule],
    decision: Decision<'p>,
    matches: impl Fn(&Target) -> bool,
) -> Decision<'p> {
    match holds.iter().find(|rule| matches(&rule.target)) {
        None => decision,
        Some(rule) => Decision {
            effect: Effect::Hold,
            reason: Reason::ApprovalNeeded,
            rule: &rule.id,
            ..decision
        },
    }
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
        let decision = policy().holds_free_decision();
        assert_eq!(decision, Some(Acknowledgement::CreatesARequestOnly));
    }

    impl Policy {
        fn holds_free_decision(mut self) -> Option<Acknowledgement> {
            self.holds.clear();
            let call = call("request_transfer", Live::Offered(pin("a")));
            let decision = self.decide_call(&call, &RateLimiter::new());
            assert_eq!(decision.effect, Effect::Allow);
            decision.acknowledged
        }
    }

    #[test]
    fn the_order_of_rules_changes_nothing() {
        let mut reversed = policy();
        reversed.denials.reverse();
        reversed.holds.reverse();
        for name in ["request_refund", "request_transfer", "get_balance"] {
            let call = call(name, Live::Offered(pin("a")));
            let rates = RateLimiter::new();
            assert_eq!(
                policy().decide_call(&call, &rates).effect,
                reversed.decide_call(&call, &rates).effect
            );
        }
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
