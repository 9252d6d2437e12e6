//! Rules that deny, hold and allow, in whatever order.

use countersign_policy::{Effect, Hold, Way};

use crate::stand::{Stand, refused_at};

const TOOLS: &str = "tools: {one: {}, two: {}}\n";

fn hold_of(rules: &str) -> Option<Hold> {
    Stand::new(&format!("{TOOLS}rules: {rules}\n")).decided("one", "{}", |decision| decision.hold)
}

#[test]
fn a_hold_says_how_long_and_how_a_person_is_asked() {
    let hold = hold_of("[{id: a, tool: one, effect: require_approval}]").unwrap();
    assert_eq!(hold.ttl_seconds, 900);
    assert_eq!(hold.countdown_seconds, None);
    assert!(!hold.reversible);
    assert_eq!(&*hold.ways, [Way::Page]);
    let hold = hold_of(
        "[{id: a, tool: 'o*', effect: require_approval, ttl_seconds: 60, reversible: true, \
         countdown_seconds: 10, ways: [elicitation, page]}]",
    )
    .unwrap();
    assert_eq!(hold.ttl_seconds, 60);
    assert_eq!(hold.countdown_seconds, Some(10));
    assert_eq!(&*hold.ways, [Way::Page, Way::Elicitation]);
}

#[test]
fn several_holds_are_as_strict_as_the_strictest() {
    let countdown = "{id: a, tool: one, effect: require_approval, reversible: true, \
                     countdown_seconds: 10, ways: [page, elicitation]}";
    let longer = "{id: b, tool: 'on*', effect: require_approval, reversible: true, \
                  countdown_seconds: 20, ttl_seconds: 100}";
    let plain = "{id: c, tool: '*', effect: require_approval}";
    let hold = hold_of(&format!("[{countdown}, {longer}]")).unwrap();
    assert_eq!((hold.countdown_seconds, hold.ttl_seconds), (Some(20), 100));
    assert_eq!(&*hold.ways, [Way::Page]);
    for rules in [
        format!("[{countdown}, {longer}, {plain}]"),
        format!("[{plain}, {longer}, {countdown}]"),
    ] {
        let hold = hold_of(&rules).unwrap();
        assert_eq!(hold.countdown_seconds, None);
        assert!(!hold.reversible);
        let stand = Stand::new(&format!("{TOOLS}rules: {rules}\n"));
        assert_eq!(stand.call("one", "{}").rule, "c");
    }
}

#[test]
fn what_would_release_too_much_fails_at_start() {
    for (rule, key) in [
        (
            "effect: require_approval, countdown_seconds: 10",
            "countdown_seconds",
        ),
        (
            "effect: require_approval, reversible: false, countdown_seconds: 10",
            "countdown_seconds",
        ),
        (
            "effect: require_approval, reversible: true, countdown_seconds: 0",
            "countdown_seconds",
        ),
        (
            "effect: require_approval, reversible: true, countdown_seconds: 900",
            "countdown_seconds",
        ),
        ("effect: deny, reversible: true", "reversible"),
        ("effect: allow, ttl_seconds: 5", "ttl_seconds"),
        ("effect: deny, countdown_seconds: 5", "countdown_seconds"),
        ("effect: deny, rate_per_minute: 5", "rate_per_minute"),
        (
            "effect: require_approval, rate_per_minute: 0",
            "rate_per_minute",
        ),
        ("effect: require_approval, ttl_seconds: 0", "ttl_seconds"),
        (
            "effect: require_approval, ttl_seconds: 100000",
            "ttl_seconds",
        ),
        ("effect: require_approval, ways: []", "ways"),
        ("effect: require_approval, ways: [webhook]", "ways"),
        ("effect: deny, ways: [page]", "ways"),
        ("effect: deny, server: other", "server"),
        ("effect: deny, identities: []", "identities"),
        ("effect: deny, identities: ['a b']", "identities"),
    ] {
        let rules = format!("{TOOLS}rules: [{{id: a, tool: one, {rule}}}]\n");
        let (path, line) = refused_at(&rules);
        assert_eq!((path, line), (format!("rules.a.{key}"), 7), "{rule}");
    }
    for id in [
        "default",
        "name",
        "write_words",
        "tools.one",
        "tools.one.cap",
    ] {
        let (path, _) = refused_at(&format!(
            "{TOOLS}rules: [{{id: {id}, tool: one, effect: deny}}]\n"
        ));
        assert_eq!(path, format!("rules.{id}"));
    }
    let (path, line) = refused_at(&format!(
        "{TOOLS}rules:\n  - {{id: a, tool: one, effect: deny}}\n  - id: a\n    tool: two\n    \
         effect: deny\n"
    ));
    assert_eq!((&*path, line), ("rules.1.id", 9));
}

#[test]
fn a_countdown_that_cannot_be_taken_back_says_what_to_do() {
    let error = crate::stand::refused(&format!(
        "{TOOLS}rules: [{{id: a, tool: one, effect: require_approval, countdown_seconds: 10}}]\n"
    ));
    assert_eq!(
        error.to_string(),
        "line 7, column 54: rules.a.countdown_seconds: a countdown releases only what can be taken \
         back: mark the rule `reversible: true`, or take the countdown away"
    );
}

#[test]
fn a_webhook_holds_its_secret_elsewhere() {
    let rules = "rules: [{id: a, tool: one, effect: require_approval, ways: [webhook]}]\n";
    let approval = |secret: &str| {
        format!(
            "{TOOLS}approval: {{webhook: {{url: 'https://a.example/x', secret: '{secret}'}}}}\n{rules}"
        )
    };
    assert_eq!(
        Stand::new(&approval("${HOOK}")).call("one", "{}").effect,
        Effect::Hold
    );
    let (path, _) = refused_at(&approval("in-the-clear"));
    assert_eq!(path, "approval.webhook.secret");
}

#[test]
fn a_rule_has_a_rate_of_its_own() {
    let mut stand = Stand::new(&format!(
        "{TOOLS}rules: [{{id: slow, tool: one, effect: allow, rate_per_minute: 1}}]\n"
    ));
    assert_eq!(stand.call("one", "{}").rule, "slow");
    assert_eq!(stand.reason("one", "{}"), "rate");
    assert_eq!(stand.reason("two", "{}"), "allowed");
    stand.identity = "kabir";
    assert_eq!(stand.reason("one", "{}"), "allowed");
}

#[test]
fn an_observing_policy_lets_pass_and_says_what_it_would_have_done() {
    let stand = Stand::new(&format!(
        "{TOOLS}mode: observe\nrules: [{{id: a, tool: two, effect: require_approval}}]\n"
    ));
    for (name, arguments, reason, observed) in [
        ("one", "{}", "allowed", None),
        (
            "one",
            r#"{"x":1}"#,
            "undeclared_argument",
            Some(Effect::Deny),
        ),
        ("two", "{}", "approval_needed", Some(Effect::Hold)),
        ("secret", "{}", "not_listed", Some(Effect::Deny)),
        ("send_money", "{}", "write_word", Some(Effect::Deny)),
    ] {
        stand.decided(name, arguments, |decision| {
            assert_eq!(decision.effect, Effect::Allow, "{name}");
            assert_eq!(decision.reason.code(), reason, "{name}");
            assert_eq!(decision.observed, observed, "{name}");
        });
        let live = countersign_policy::Live::Offered(crate::stand::any_pin());
        assert!(stand.policy.would_pass("s", name, live));
    }
    // What the door cannot even name goes nowhere.
    assert_eq!(stand.call("a b", "{}").effect, Effect::Deny);
}
