//! `decide` and `explain`: what a policy says about one message.

use super::Folder;

const POLICY: &str = "\
version: 1
id: desk
default: deny
require_pins: false
servers:
  desk: {}
tools:
  read_page:
    args:
      page: {type: string, required: true, max_length: 20, pattern: '[a-z]+'}
  request_order:
    acknowledged: creates-a-request-only
    args:
      amount: {type: string, max_length: 9}
    cap: {argument: amount, per_call: '100'}
  move_desk: {acknowledged: creates-a-request-only, args: {}}
methods:
  prompts/get: {}
rules:
  - {id: ask-about-desks, tool: move_desk, effect: require_approval, reversible: true, countdown_seconds: 30}
  - {id: no-guests, tool: '*', effect: deny, identities: ['group:guests']}
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("policy.yaml", POLICY);
    folder
}

fn call(name: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
    )
}

#[test]
fn the_exit_code_says_what_happens() {
    let folder = folder();
    for (message, code, reason) in [
        (call("read_page", r#"{"page":"a"}"#), 0, "allowed"),
        (call("read_page", r#"{"page":"A"}"#), 2, "argument_pattern"),
        (
            call("read_page", r#"{"page":"a","x":1}"#),
            2,
            "undeclared_argument",
        ),
        (call("read_page", "[]"), 2, "arguments_not_an_object"),
        (call("secret", "{}"), 2, "not_listed"),
        (call("send_money", "{}"), 2, "write_word"),
        (call("move_desk", "{}"), 3, "approval_needed"),
        (call("request_order", r#"{"amount":"99"}"#), 0, "allowed"),
        (
            call("request_order", r#"{"amount":"100"}"#),
            2,
            "cap_per_call",
        ),
        (call("request_order", "{}"), 2, "cap_amount_missing"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get"}"#.to_owned(),
            0,
            "allowed",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x/private"}"#.to_owned(),
            2,
            "unknown_method",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned(),
            0,
            "plumbing",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#.to_owned(),
            2,
            "missing_name",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
            2,
            "answer_not_asked_for",
        ),
    ] {
        for command in ["decide", "explain"] {
            let said = folder.run(
                &[command, "--policy", "policy.yaml", "--json"],
                &message,
                &[],
            );
            assert_eq!(said.code, code, "{message}\n{said:?}");
            assert_eq!(said.json()["reason"], reason, "{message}");
        }
    }
    for message in [
        "",
        "[]",
        "{",
        "NaN",
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","id":2}"#,
    ] {
        let said = folder.run(&["decide", "--policy", "policy.yaml"], message, &[]);
        assert_eq!(said.code, 2, "{message}");
        assert!(
            said.out.starts_with("deny: the message is malformed (-32"),
            "{said:?}"
        );
    }
}

#[test]
fn what_cannot_be_decided_is_no_permission() {
    let folder = folder();
    let good = call("read_page", r#"{"page":"a"}"#);
    for (name, text) in [
        ("empty.yaml", Some("")),
        ("broken.yaml", Some("version: 1\nid: x\ndefault: allow\n")),
        ("absent.yaml", None),
    ] {
        if let Some(text) = text {
            folder.write(name, text);
        }
        for command in ["decide", "explain"] {
            let said = folder.run(&[command, "--policy", name], &good, &[]);
            assert_eq!(said.code, 1, "{name}");
            assert_eq!(said.out, "", "{name}");
            assert!(said.err.contains(name), "{said:?}");
        }
    }
    folder.write("latin1.yaml", b"version: 1\nid: t\ndefault: deny # \xe9\n");
    let said = folder.run(&["decide", "--policy", "latin1.yaml"], &good, &[]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("no UTF-8"), "{said:?}");
}

#[test]
fn a_decision_is_shown_in_words() {
    let folder = folder();
    let mut shown = String::new();
    for (message, more) in [
        (call("read_page", r#"{"page":"a"}"#), &[][..]),
        (call("read_page", r#"{"page":"a"}"#), &["--group", "guests"]),
        (call("read_page", r#"{}"#), &[]),
        (call("send_money", "{}"), &[]),
        (call("move_desk", "{}"), &[]),
        (call("request_order", r#"{"amount":"9"}"#), &[]),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned(),
            &[],
        ),
        ("{".to_owned(), &[]),
    ] {
        let arguments = [&["decide", "--policy", "policy.yaml"], more].concat();
        let said = folder.run(&arguments, &message, &[]);
        shown.push_str(&format!(
            "> {message} {}\n{}\n",
            more.join(" "),
            said.whole()
        ));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn every_check_is_shown_in_its_order() {
    let folder = folder();
    let mut shown = String::new();
    for message in [
        call("read_page", r#"{"page":"a"}"#),
        call("read_page", r#"{"page":"a b"}"#),
        call("move_desk", "{}"),
        call("secret", "{}"),
        r#"{"jsonrpc":"2.0","id":1,"method":"x/private"}"#.to_owned(),
        "{}{}".to_owned(),
    ] {
        let said = folder.run(&["explain", "--policy", "policy.yaml"], &message, &[]);
        shown.push_str(&format!("> {message}\n{}\n", said.whole()));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn an_explanation_in_json_has_every_check() {
    let folder = folder();
    let message = call("read_page", r#"{"page":"a b"}"#);
    let said = folder.run(
        &["explain", "--policy", "policy.yaml", "--json"],
        &message,
        &[],
    );
    insta::assert_snapshot!(said.whole());
}

#[test]
fn a_tool_that_changed_is_decided_by_what_the_server_offers() {
    let folder = folder();
    let definition = r#"{"name":"read_page","inputSchema":{"type":"object"}}"#;
    let pin = countersign_policy::definition_pin(definition).unwrap();
    let pinned = POLICY.replace(
        "  read_page:\n",
        &format!("  read_page:\n    schema_sha256: '{pin}'\n"),
    );
    folder.write("policy.yaml", pinned);
    folder.write("same.json", format!(r#"{{"tools":[{definition}]}}"#));
    folder.write("none.json", r#"{"tools":[]}"#);
    let changed = definition.replace("object", "array");
    folder.write("changed.json", format!(r#"[{changed}]"#));
    let message = folder.write("message.json", call("read_page", r#"{"page":"a"}"#));
    for (definitions, code, reason) in [
        ("same.json", 0, "allowed"),
        ("none.json", 2, "not_offered"),
        ("changed.json", 2, "definition_changed"),
    ] {
        let message = message.to_str().unwrap();
        let said = folder.run(
            &[
                "decide",
                "--policy",
                "policy.yaml",
                "--json",
                "--message",
                message,
                "--definitions",
                definitions,
            ],
            "",
            &[],
        );
        assert_eq!(
            (said.code, &said.json()["reason"]),
            (code, &reason.into()),
            "{definitions}"
        );
    }
}

#[test]
fn several_servers_are_told_apart_by_the_name() {
    let folder = Folder::new();
    folder.write(
        "policy.yaml",
        "version: 1\nid: two\ndefault: deny\nrequire_pins: false\nservers: {a: {}, b: {}}\n\
         tools: {a__read: {}, b__look: {}}\n",
    );
    for (name, reason) in [
        ("a__read", "allowed"),
        ("b__look", "allowed"),
        ("a__look", "not_listed"),
        ("read", "unknown_server"),
        ("c__read", "unknown_server"),
    ] {
        let message = call(name, "{}");
        let said = folder.run(
            &["decide", "--policy", "policy.yaml", "--json"],
            &message,
            &[],
        );
        assert_eq!(said.json()["reason"], reason, "{name}");
    }
}
