//! What is probably not meant, or looser than it need be.

use countersign_policy::{Severity, lint};

use crate::stand::HEAD;

/// 2026-11-30.
const TODAY: i64 = 1_795_996_800;
const PIN: &str =
    "schema_sha256: '0000000000000000000000000000000000000000000000000000000000000000'";

fn codes(rest: &str) -> Vec<(&'static str, u64)> {
    let yaml = format!("{HEAD}{rest}");
    let findings = lint(&yaml, TODAY).unwrap_or_else(|error| panic!("{yaml}\n{error}"));
    findings
        .iter()
        .map(|finding| (finding.code, finding.line))
        .collect()
}

#[test]
fn a_tight_policy_is_left_alone() {
    let tight = format!(
        "servers: {{s: {{command: [a], env: {{TOKEN: '${{T}}'}}}}}}\ntools:\n  read: {{{PIN}, args: {{a: {{type: \
         string, max_length: 9, pattern: '[a-z]+'}}}}}}\n  request_transfer: {{{PIN}, acknowledged: \
         creates-a-request-only, rate_per_minute: 5, args: {{}}}}\nrules: [{{id: r, tool: 'request_*', \
         effect: require_approval}}]\n"
    );
    assert_eq!(codes(&tight), []);
    let bank = include_str!("../../../../fixtures/policy/bank.yaml");
    assert_eq!(lint(bank, TODAY), Ok(Vec::new()));
}

#[test]
fn whatever_is_loose_is_named_with_its_line() {
    let tool = |spec: &str| {
        format!("servers: {{s: {{}}}}\ntools: {{read: {{{PIN}, args: {{a: {{{spec}}}}}}}}}\n")
    };
    let pay = |spec: &str| {
        format!(
            "servers: {{s: {{}}}}\ntools: {{pay: {{{PIN}, acknowledged: creates-a-request-only, \
             rate_per_minute: 1, args: {{a: {{{spec}}}}}}}}}\n"
        )
    };
    let plain = |rest: &str| {
        format!("servers: {{s: {{}}}}\ntools: {{read: {{{PIN}, args: {{}}}}}}\n{rest}")
    };
    for (rest, expected) in [
        (plain(""), &[][..]),
        (plain("mode: observe\n"), &[("observe", 6)]),
        (plain("require_pins: false\n"), &[("pins_not_required", 6)]),
        (
            plain("on_changed_tool: require_approval\n"),
            &[("changed_tool_may_pass", 6)],
        ),
        (plain("allow_dots: true\n"), &[("dots", 6)]),
        ("servers: {s: {}}\n".to_owned(), &[("nothing_allowed", 1)]),
        (
            "servers: {s: {}}\ntools: {read: {args: {}}}\n".to_owned(),
            &[("no_pin", 5)],
        ),
        (
            format!("servers: {{s: {{}}}}\ntools: {{read: {{{PIN}}}}}\n"),
            &[("no_args", 5)],
        ),
        (
            format!("servers: {{s: {{}}}}\ntools: {{send_it: {{{PIN}, args: {{}}}}}}\n"),
            &[("unacknowledged_write_tool", 5)],
        ),
        (
            format!(
                "never_allow: [launch]\nservers: {{s: {{}}}}\ntools: {{launching: {{{PIN}, args: {{}}}}}}\n"
            ),
            &[("unacknowledged_write_tool", 6)],
        ),
        (
            format!(
                "servers: {{s: {{}}}}\ntools: {{pay: {{{PIN}, acknowledged: creates-a-request-only, args: {{}}}}}}\n"
            ),
            &[("no_rate", 5)],
        ),
        (
            format!("servers: {{s: {{}}}}\ntools: {{s__read: {{{PIN}, args: {{}}}}}}\n"),
            &[("needless_prefix", 5)],
        ),
        (
            format!(
                "servers: {{s: {{}}}}\ntools: {{{}: {{{PIN}, args: {{}}}}}}\n",
                "a".repeat(65)
            ),
            &[("long_name", 5)],
        ),
        (
            format!(
                "servers: {{s: {{}}}}\ntools:\n  get_it: {{{PIN}, args: {{}}}}\n  getIt: {{{PIN}, args: {{}}}}\n"
            ),
            &[("names_alike", 6)],
        ),
        (tool("type: string"), &[("no_max_length", 5)]),
        (tool("type: string, enum: [a]"), &[]),
        (
            tool("type: array, items: {type: string}"),
            &[("no_max_length", 5)],
        ),
        (
            tool("type: object, properties: {b: {type: string}}"),
            &[("no_max_length", 5)],
        ),
        (tool("type: object, properties: {}"), &[("empty_object", 5)]),
        (
            tool("type: string, max_length: 5, pattern: '^[a-z]$'"),
            &[("needless_anchors", 5)],
        ),
        (
            tool("type: string, max_length: 5, pattern: '.*'"),
            &[("matches_anything", 5)],
        ),
        (
            tool("type: string, max_length: 5, pattern: '[^a]+'"),
            &[("matches_anything", 5)],
        ),
        (tool("type: integer"), &[]),
        (pay("type: integer, min: 1"), &[("no_bounds", 5)]),
        (pay("type: string, max_length: 50"), &[("free_text", 5)]),
        (
            plain("rules: [{id: r, tool: '*', effect: deny}]\n"),
            &[("wide_glob", 6)],
        ),
        (
            plain("rules: [{id: r, tool: '*', effect: require_approval}]\n"),
            &[("wide_glob", 6)],
        ),
        (
            plain("rules: [{id: r, tool: 'x*', effect: require_approval}]\n"),
            &[("matches_nothing", 6)],
        ),
        (
            plain("rules: [{id: r, tool: read, effect: require_approval, ways: [elicitation]}]\n"),
            &[("no_person", 6)],
        ),
        (
            format!(
                "{}rules: [{{id: r, tool: pay, effect: require_approval, reversible: true, countdown_seconds: 5}}]\n",
                pay("type: boolean")
            ),
            &[("countdown_on_write_tool", 6)],
        ),
        (
            plain(
                "redaction: {suppress: [{server: s, rule: iban, reason: r, expires: '2026-11-30'}]}\n",
            ),
            &[("suppression_over", 6)],
        ),
        (
            plain(
                "redaction: {suppress: [{server: s, rule: iban, reason: r, expires: '2028-11-30'}]}\n",
            ),
            &[("suppression_long", 6)],
        ),
        (
            plain("").replacen(
                "s: {}",
                "s: {url: 'http://a.example/mcp', headers: {X-Api-Key: abc}}",
                1,
            ),
            &[("plain_http", 4), ("secret_in_policy", 4)],
        ),
        (
            plain("").replacen("s: {}", "s: {url: 'http://localhost:1/mcp'}", 1),
            &[],
        ),
        (
            plain("").replacen("s: {}", "s: {url: 'http://localhost.a.example/'}", 1),
            &[("plain_http", 4)],
        ),
        (
            plain("approval: {webhook: {url: 'http://a.example/h?x=1', secret: '${S}'}}\n"),
            &[("plain_http", 6)],
        ),
        (
            plain("").replacen("s: {}", "s: {command: [a], env: {MY_TOKEN: abc}}", 1),
            &[("secret_in_policy", 4)],
        ),
    ] {
        assert_eq!(codes(&rest), expected, "{rest}");
    }
}

#[test]
fn only_what_the_policy_does_not_do_is_an_error() {
    let yaml =
        format!("{HEAD}servers: {{s: {{}}}}\ntools: {{send_it: {{args: {{}}}}, read: {{}}}}\n");
    let findings = lint(&yaml, TODAY).unwrap();
    let errors: Vec<_> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.path.as_str())
        .collect();
    assert_eq!(errors, ["tools.send_it"]);
    assert!(lint("", TODAY).is_err());
}
