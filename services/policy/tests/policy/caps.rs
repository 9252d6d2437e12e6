//! Caps on amounts: exact, at or over stops, and given back when nothing ran.

use countersign_policy::Effect;

use crate::stand::{Stand, refused_at};

const TOOL: &str = "tools:\n  spend:\n    args:\n      amount: {type: string, max_length: 40}\n      \
                    pence: {type: number}\n      lines: {type: array, items: {type: object, properties: \
                    {amount: {type: string}}}}\n";

fn capped(cap: &str) -> Stand {
    Stand::new(&format!("{TOOL}    cap: {{{cap}}}\n"))
}

#[test]
fn a_call_at_or_over_its_cap_stops() {
    let stand = capped("argument: amount, per_call: '100.00'");
    for (amount, reason) in [
        ("99.99", "allowed"),
        ("99.999999999999999999", "allowed"),
        ("0", "allowed"),
        ("100", "cap_per_call"),
        ("100.00", "cap_per_call"),
        ("100.000000000000000001", "cap_per_call"),
        ("99999999999999999999", "cap_per_call"),
    ] {
        let arguments = format!(r#"{{"amount":"{amount}"}}"#);
        assert_eq!(stand.reason("spend", &arguments), reason, "{amount}");
    }
}

#[test]
fn an_amount_that_is_missing_or_no_number_stops() {
    let stand = capped("argument: amount, per_call: '100.00'");
    assert_eq!(stand.reason("spend", "{}"), "cap_amount_missing");
    for amount in [
        "",
        " 5",
        "5 ",
        "+5",
        "-5",
        "1e1",
        "0x1",
        "NaN",
        "inf",
        "1,0",
        "05",
        "5.",
        ".5",
        "\\u0665",
        "\\uff15",
        "5 EUR",
        "ten",
        "0.0000000000000000001",
        "100000000000000000000",
    ] {
        let arguments = format!(r#"{{"amount":"{amount}"}}"#);
        let reason = stand.reason("spend", &arguments);
        assert_eq!(reason, "cap_amount_not_a_number", "{amount}");
    }
    let stand = capped("argument: pence, per_call: '100'");
    for (number, reason) in [
        ("99", "allowed"),
        ("9.9e1", "allowed"),
        ("100", "cap_per_call"),
        ("1e2", "cap_per_call"),
        ("-1", "cap_amount_not_a_number"),
        ("1e300", "cap_amount_not_a_number"),
        ("1e-300", "cap_amount_not_a_number"),
    ] {
        let arguments = format!(r#"{{"pence":{number}}}"#);
        assert_eq!(stand.reason("spend", &arguments), reason, "{number}");
    }
}

#[test]
fn a_day_and_a_session_add_up_exactly() {
    let mut stand = capped("argument: amount, per_day: '1', per_session: '0.5'");
    let tenth = r#"{"amount":"0.1"}"#;
    for _ in 0..4 {
        assert_eq!(stand.reason("spend", tenth), "allowed");
    }
    assert_eq!(stand.reason("spend", tenth), "cap_per_session");
    stand.session = Some("s2");
    for _ in 0..4 {
        assert_eq!(stand.reason("spend", tenth), "allowed");
    }
    stand.session = Some("s3");
    // 0.8 is counted: a float would have it a little off by now.
    assert_eq!(stand.reason("spend", tenth), "allowed");
    assert_eq!(stand.reason("spend", tenth), "cap_per_day");
    stand.identity = "kabir";
    assert_eq!(stand.reason("spend", tenth), "allowed");
    stand.identity = "ada";
    stand.unix_seconds = 86_399;
    assert_eq!(stand.reason("spend", tenth), "cap_per_day");
    stand.unix_seconds = 86_400;
    assert_eq!(stand.reason("spend", tenth), "allowed");
}

#[test]
fn what_never_ran_is_given_back_once() {
    let stand = capped("argument: amount, per_day: '10'");
    let six = r#"{"amount":"6"}"#;
    let counted = stand.decided("spend", six, |decision| decision.counted);
    assert!(!counted.is_empty());
    assert_eq!(stand.reason("spend", six), "cap_per_day");
    stand.caps.give_back(counted.clone());
    assert_eq!(stand.reason("spend", six), "allowed");
    // Giving back more than was counted makes no room below nothing.
    stand.caps.give_back(counted.clone());
    stand.caps.give_back(counted);
    assert_eq!(stand.reason("spend", six), "allowed");
    assert_eq!(stand.reason("spend", six), "cap_per_day");
}

#[test]
fn sums_outlive_a_restart() {
    let stand = capped("argument: amount, per_day: '10'");
    let six = r#"{"amount":"6"}"#;
    assert_eq!(stand.reason("spend", six), "allowed");
    let mut again = capped("argument: amount, per_day: '10'");
    again.caps.restore(stand.caps.sums(), 0);
    assert_eq!(again.reason("spend", six), "cap_per_day");
    again.unix_seconds = 86_400;
    assert_eq!(again.reason("spend", six), "allowed");
}

#[test]
fn a_refused_call_counts_nothing() {
    let stand = capped("argument: amount, per_call: '7', per_day: '10'");
    assert_eq!(stand.reason("spend", r#"{"amount":"8"}"#), "cap_per_call");
    assert_eq!(
        stand.reason("spend", r#"{"amount":"6","x":1}"#),
        "undeclared_argument"
    );
    assert_eq!(stand.reason("spend", r#"{"amount":"6"}"#), "allowed");
}

#[test]
fn a_sum_over_an_array_counts_every_element() {
    let stand = capped("argument: 'lines[].amount', per_call: '10'");
    for (lines, reason) in [
        (r#"[{"amount":"4"},{"amount":"5"}]"#, "allowed"),
        (r#"[{"amount":"5"},{"amount":"5"}]"#, "cap_per_call"),
        (r#"[{"amount":"5"},{}]"#, "cap_amount_missing"),
        ("[]", "cap_amount_missing"),
    ] {
        let arguments = format!(r#"{{"lines":{lines}}}"#);
        assert_eq!(stand.reason("spend", &arguments), reason, "{lines}");
    }
}

#[test]
fn without_a_session_or_a_ledger_a_cap_stops() {
    let mut stand = capped("argument: amount, per_session: '10'");
    stand.session = None;
    assert_eq!(
        stand.reason("spend", r#"{"amount":"1"}"#),
        "cap_per_session"
    );
    let stand = capped("argument: amount, per_day: '10'");
    let document =
        countersign_wire::Document::read(br#"{"amount":"1"}"#, &countersign_wire::Caps::MESSAGE)
            .unwrap();
    let call = countersign_policy::Call {
        server: "s",
        name: "spend",
        arguments: Some(document.root()),
        live: countersign_policy::Live::Offered(crate::stand::any_pin()),
        identity: "ada",
        now_milliseconds: 0,
    };
    let decision = stand.policy.decide_call(&call, &stand.rates);
    assert_eq!(decision.reason.code(), "cap_not_counted");
    assert_eq!(decision.argument, Some("amount"));
}

#[test]
fn a_rule_caps_those_it_is_about() {
    let mut stand = Stand::new(&format!(
        "{TOOL}rules:\n  - {{id: small, tool: spend, effect: require_approval, identities: [ada], \
         cap: {{argument: amount, per_call: '10'}}}}\n"
    ));
    assert_eq!(
        stand.call("spend", r#"{"amount":"9"}"#).effect,
        Effect::Hold
    );
    let said = stand.call("spend", r#"{"amount":"10"}"#);
    assert_eq!((said.effect, &*said.rule), (Effect::Deny, "small"));
    stand.identity = "kabir";
    assert_eq!(stand.reason("spend", r#"{"amount":"10"}"#), "allowed");
}

#[test]
fn a_cap_that_cannot_count_fails_at_start() {
    for (cap, path) in [
        ("argument: total, per_call: '1'", "tools.spend.cap.argument"),
        ("argument: '', per_call: '1'", "tools.spend.cap.argument"),
        ("argument: lines, per_call: '1'", "tools.spend.cap.argument"),
        (
            "argument: 'lines[]', per_call: '1'",
            "tools.spend.cap.argument",
        ),
        (
            "argument: 'lines[].total', per_call: '1'",
            "tools.spend.cap.argument",
        ),
        (
            "argument: lines.amount, per_call: '1'",
            "tools.spend.cap.argument",
        ),
        (
            "argument: 'amount[]', per_call: '1'",
            "tools.spend.cap.argument",
        ),
        ("argument: amount", "tools.spend.cap"),
        (
            "argument: amount, per_call: '0'",
            "tools.spend.cap.per_call",
        ),
        ("argument: amount, per_day: '-1'", "tools.spend.cap.per_day"),
        (
            "argument: amount, per_session: '1e3'",
            "tools.spend.cap.per_session",
        ),
    ] {
        let (found, line) = refused_at(&format!("{TOOL}    cap: {{{cap}}}\n"));
        assert_eq!((&*found, line), (path, 12), "{cap}");
    }
    // A number out of quotes is none of ours: other readers make a float of it.
    let yaml = format!("{TOOL}    cap: {{argument: amount, per_call: 100.10}}\n");
    let error = crate::stand::refused(&yaml).to_string();
    assert!(error.starts_with("line 12, "), "{error}");
    for rule in [
        "{id: a, tool: '*', effect: require_approval, cap: {argument: amount, per_call: '1'}}",
        "{id: a, tool: absent, effect: require_approval, cap: {argument: amount, per_call: '1'}}",
        "{id: a, method: x, effect: require_approval, cap: {argument: amount, per_call: '1'}}",
        "{id: a, tool: spend, effect: deny, cap: {argument: amount, per_call: '1'}}",
    ] {
        let (path, _) = refused_at(&format!("{TOOL}rules: [{rule}]\n"));
        assert_eq!(path, "rules.a.cap", "{rule}");
    }
}
