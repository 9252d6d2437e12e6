//! Decisions about calls and methods, one by one.

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
        let document =
            countersign_wire::Document::read(params.as_bytes(), &countersign_wire::Caps::MESSAGE)
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
        Policy::load("version: 1\nid: t\ndefault: deny\nservers: {bank: {}}\ntools: {}\n").unwrap();
    let decision = policy.decide_call(
        &call("get_balance", Live::Offered(pin("a"))),
        &RateLimiter::new(),
    );
    assert_eq!(decision.effect, Effect::Deny);
}
