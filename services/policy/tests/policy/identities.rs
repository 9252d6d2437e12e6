//! Rules about some callers only.

use countersign_policy::Effect;

use crate::stand::Stand;

const POLICY: &str = "tools: {one: {}, two: {}, three: {}}\nmethods: {prompts/get: {}}\nrules:\n\
    \x20 - {id: one-ada, tool: one, effect: allow, identities: [ada]}\n\
    \x20 - {id: one-staff, tool: one, effect: allow, identities: ['group:staff']}\n\
    \x20 - {id: no-bots, tool: '*', effect: deny, identities: ['bot-*']}\n\
    \x20 - {id: hold-guests, tool: two, effect: require_approval, identities: ['group:guest*']}\n\
    \x20 - {id: prompts-ada, method: prompts/get, effect: allow, identities: [ada]}\n";

fn stand(identity: &'static str, groups: &[&'static str]) -> Stand {
    let mut stand = Stand::new(POLICY);
    stand.identity = identity;
    stand.groups = groups.to_vec();
    stand
}

#[test]
fn a_tool_that_rules_allow_is_allowed_to_those_they_name() {
    for (identity, groups, effect, rule) in [
        ("ada", &[][..], Effect::Allow, "one-ada"),
        ("kabir", &["staff"][..], Effect::Allow, "one-staff"),
        ("kabir", &[][..], Effect::Deny, "tools.one"),
        (
            "kabir",
            &["guests", "staff2"][..],
            Effect::Deny,
            "tools.one",
        ),
        // Nobody names themselves into a group.
        ("group:staff", &[][..], Effect::Deny, "tools.one"),
        ("Ada", &[][..], Effect::Deny, "tools.one"),
        ("", &[][..], Effect::Deny, "no-bots"),
        ("bot-7", &["staff"][..], Effect::Deny, "no-bots"),
    ] {
        let said = stand(identity, groups).call("one", "{}");
        assert_eq!(
            (said.effect, &*said.rule),
            (effect, rule),
            "{identity} {groups:?}"
        );
    }
}

#[test]
fn a_rule_holds_and_denies_those_it_names_and_whoever_is_unknown() {
    for (identity, groups, effect) in [
        ("ada", &[][..], Effect::Allow),
        ("ada", &["guests"][..], Effect::Hold),
        ("bot-7", &["guests"][..], Effect::Deny),
        ("", &[][..], Effect::Deny),
    ] {
        let said = stand(identity, groups).call("two", "{}");
        assert_eq!(said.effect, effect, "{identity} {groups:?}");
    }
}

#[test]
fn lists_show_each_caller_what_would_pass() {
    let stand = stand("ada", &[]);
    let live = countersign_policy::Live::Offered(crate::stand::any_pin());
    let shown =
        |name: &str, identity: &str| stand.policy.would_pass_for("s", name, live, identity, &[]);
    assert!(shown("one", "ada"));
    assert!(!shown("one", "kabir"));
    assert!(shown("three", "kabir"));
    assert!(!shown("three", "bot-7"));
    assert!(!stand.policy.would_pass("s", "one", live));
    assert!(stand.policy.names_method_for("prompts/get", "ada", &[]));
    assert!(!stand.policy.names_method_for("prompts/get", "kabir", &[]));
    assert!(!stand.policy.names_method("prompts/get"));
}
