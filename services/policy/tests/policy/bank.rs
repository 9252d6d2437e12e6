//! The demo bank's policy, and what a model might try on its tools.

use countersign_policy::{Call, Decision, Effect, Live, Policy, RateLimiter};
use countersign_wire::{Caps, Document};

const BANK: &str = include_str!("../../../../fixtures/policy/bank.yaml");

fn policy() -> Policy {
    Policy::load(BANK).unwrap_or_else(|error| panic!("fixtures/policy/bank.yaml: {error}"))
}

/// The reason's code for a call with these arguments.
fn decide(policy: &Policy, name: &str, arguments: &str) -> (Effect, &'static str) {
    let document = match Document::read(arguments.as_bytes(), &Caps::MESSAGE) {
        Ok(document) => document,
        Err(_) => return (Effect::Deny, "malformed"),
    };
    let live = policy.pin(name).map_or(Live::NotOffered, Live::Offered);
    let call = Call {
        server: "bank",
        name,
        arguments: Some(document.root()),
        live,
        identity: "cus",
        now_milliseconds: 0,
    };
    let Decision { effect, reason, .. } = policy.decide_call(&call, &RateLimiter::new());
    (effect, reason.code())
}

fn id(prefix: &str) -> String {
    format!("{prefix}_{}", "0123456789abcdef".repeat(2))
}

/// A transfer of this amount, which is JSON.
fn transfer(amount: &str) -> String {
    format!(
        r#"{{"payments":[{{"payee":"{}","amount":{amount}}}]}}"#,
        id("pye")
    )
}

#[test]
fn every_tool_is_pinned_and_every_request_tool_acknowledged() {
    let policy = policy();
    let tools: Vec<_> = policy.tools().collect();
    assert_eq!(tools.len(), 20);
    for (name, pin) in tools {
        assert!(pin.is_some(), "{name}");
        let document = Document::read(b"{}", &Caps::MESSAGE).unwrap();
        let call = Call {
            server: "bank",
            name,
            arguments: Some(document.root()),
            live: pin.map_or(Live::NotOffered, Live::Offered),
            identity: "cus",
            now_milliseconds: 0,
        };
        let decision = policy.decide_call(&call, &RateLimiter::new());
        assert!(
            decision.effect == Effect::Allow || decision.reason.code() == "missing_argument",
            "{name}: {decision:?}"
        );
        if decision.effect == Effect::Allow {
            let asks = name.starts_with("request_");
            assert_eq!(decision.acknowledged.is_some(), asks, "{name}");
        }
    }
}

#[test]
fn ordinary_calls_pass() {
    let policy = policy();
    for (name, arguments) in [
        ("list_accounts", "{}".to_owned()),
        ("get_balance", format!(r#"{{"account":"{}"}}"#, id("acc"))),
        ("get_spending_by_category", r#"{"month":"2026-11"}"#.to_owned()),
        ("request_transfer", transfer("\"20.00\"")),
        ("request_transfer", transfer("\"0.005\"")),
        ("request_transfer", r#"{"payments":[{}]}"#.to_owned()),
        ("request_card_freeze", "{}".to_owned()),
        (
            "request_standing_order",
            r#"{"operation":"create","amount":"5","frequency":"monthly","start_date":"2026-12-01"}"#
                .to_owned(),
        ),
    ] {
        assert_eq!(decide(&policy, name, &arguments).0, Effect::Allow, "{name} {arguments}");
    }
}

#[test]
fn amounts_are_plain_decimal_text_and_nothing_else() {
    let policy = policy();
    for amount in [
        "100.0",
        "-5",
        "50",
        "1e400",
        "NaN",
        "Infinity",
        "9223372036854775808",
        "null",
        "true",
        "[\"5\"]",
        "{\"value\":\"5\"}",
        "\"-5.00\"",
        "\"NaN\"",
        "\"inf\"",
        "\"50.000000001\"",
        "\"+5\"",
        "\"5-\"",
        "\"(5)\"",
        "\"0x10\"",
        "\"007\"",
        "\" 5\"",
        "\"5 \"",
        "\"5\\n\"",
        "\"1,000\"",
        "\"1.000,00\"",
        "\"1e3\"",
        "\"5.\"",
        "\".5\"",
        "\"\"",
        "\"5\\u0000\"",
        "\"\\u0661\\u0660\"",
        "\"\\uff11\\uff10\"",
        "\"20.00 EUR\"",
        "\"99999999999999\"",
    ] {
        let (effect, reason) = decide(&policy, "request_transfer", &transfer(amount));
        assert_eq!(effect, Effect::Deny, "{amount} {reason}");
    }
}

#[test]
fn who_it_is_for_what_it_says_and_that_it_is_agreed_are_no_arguments() {
    let policy = policy();
    let account = id("acc");
    for (name, arguments) in [
        (
            "get_balance",
            format!(r#"{{"account":"{account}","customer_id":"c2"}}"#),
        ),
        ("list_accounts", r#"{"customer":"kabir"}"#.to_owned()),
        (
            "request_transfer",
            r#"{"payments":[{"note":"rent"}]}"#.to_owned(),
        ),
        (
            "request_transfer",
            r#"{"payments":[{}],"approved":true}"#.to_owned(),
        ),
        (
            "request_transfer",
            r#"{"payments":[{}],"skip_confirm":1}"#.to_owned(),
        ),
        (
            "request_transfer",
            r#"{"payments":[{}],"reference":"x"}"#.to_owned(),
        ),
        (
            "request_transfer",
            r#"{"payments":[{}],"panel_url":"http://evil.example"}"#.to_owned(),
        ),
        ("request_dispute", r#"{"details":"they lied"}"#.to_owned()),
        (
            "request_payee",
            r#"{"iban":"DE89370400440532013000"}"#.to_owned(),
        ),
        (
            "request_profile_change",
            r#"{"field":"email","value":"a@b.c"}"#.to_owned(),
        ),
        (
            "request_card_freeze",
            r#"{"reason":"security check"}"#.to_owned(),
        ),
    ] {
        assert_eq!(
            decide(&policy, name, &arguments),
            (Effect::Deny, "undeclared_argument"),
            "{name} {arguments}"
        );
    }
}

#[test]
fn ids_are_the_banks_own_and_whole() {
    let policy = policy();
    let good = id("acc");
    for account in [
        "main".to_owned(),
        id("pye"),
        format!("{good} "),
        format!("{good}\\n"),
        format!("{good}0"),
        good.to_uppercase(),
        format!("' OR 1=1 --{good}"),
        "ecilA\\u202e".to_owned(),
        "a".repeat(10_000),
    ] {
        let arguments = format!(r#"{{"account":"{account}"}}"#);
        assert_eq!(
            decide(&policy, "get_balance", &arguments).0,
            Effect::Deny,
            "{account}"
        );
    }
}

#[test]
fn tools_that_act_are_refused_by_name() {
    let policy = policy();
    for name in [
        "confirm_action",
        "execute_transfer",
        "transfer",
        "approve",
        "set_limit",
        "cancel_request",
        "request_transfer_now",
        "get_balance_of",
        "Request_Transfer",
    ] {
        assert_eq!(decide(&policy, name, "{}").0, Effect::Deny, "{name}");
    }
}
