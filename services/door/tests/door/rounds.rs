//! What a call may bring besides its arguments: state and answers of an earlier round, and a task.

use serde_json::{Value, json};

use crate::piped::{Piped, policy, server_program};
use crate::several::fixtures;

const TOOL: &str = "test_input_required_result_request_state";

fn door(methods: &str) -> Piped {
    let policy = format!(
        "version: 1\nid: rounds\ndefault: deny\nrequire_pins: false\nservers: {{one: {{}}}}\ntools: {{{TOOL}: {{}}, test_input_required_result_multi_round: {{}}, test_input_required_result_elicitation: {{}}}}\nmethods: {{{methods}}}\n"
    );
    let program = fixtures().join("countersign-conforming-server");
    Piped::started(&policy, &[], &[program.to_str().unwrap()])
}

/// Calls a tool as the revision without sessions has it.
fn call(door: &mut Piped, tool: &str, more: Value) -> Value {
    let mut params = json!({"name": tool, "arguments": {}});
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    door.ask("tools/call", params)
}

fn reason(answer: &Value) -> &str {
    answer["error"]["data"]["reason"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

fn accepted(field: &str, value: Value) -> Value {
    json!({"action": "accept", "content": {field: value}})
}

#[test]
fn what_a_server_asked_for_may_be_brought_once() {
    let mut door = door("elicitation/create: {}");
    let asked = call(&mut door, TOOL, json!({}));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let state = asked["result"]["requestState"].clone();
    let answers = json!({"confirm": accepted("ok", json!(true))});
    let brought = json!({"requestState": state, "inputResponses": answers});
    for (tool, more) in [
        // Tampered with, left out, of another tool, with another argument.
        (
            TOOL,
            json!({"requestState": "confirm.made-up", "inputResponses": answers}),
        ),
        (TOOL, json!({"inputResponses": answers})),
        ("test_input_required_result_multi_round", brought.clone()),
    ] {
        let refused = call(&mut door, tool, more);
        assert_eq!(refused["error"]["code"], -32_001, "{refused}");
        assert_eq!(reason(&refused), "input_not_asked_for");
    }
    let other = json!({"requestState": state, "inputResponses": answers, "arguments": {"x": 1}});
    assert_eq!(reason(&call(&mut door, TOOL, other)), "input_not_asked_for");
    let done = call(&mut door, TOOL, brought.clone());
    assert_eq!(done["result"]["content"][0]["text"], "state-ok", "{done}");
    let again = call(&mut door, TOOL, brought);
    assert_eq!(reason(&again), "input_not_asked_for", "used up");
    let denied = door.events("denied");
    assert!(
        denied
            .iter()
            .any(|line| line["rule"] == "rounds" && line["reason"] == "input_not_asked_for")
    );
    let text = std::fs::read_to_string(door.directory.join("log/decisions.jsonl")).unwrap();
    assert!(
        !text.contains("made-up"),
        "no value of a call stands in the record"
    );
}

#[test]
fn every_round_opens_the_next_one_and_a_round_may_have_no_state() {
    let mut door = door("elicitation/create: {}");
    let tool = "test_input_required_result_multi_round";
    let mut asked = call(&mut door, tool, json!({}));
    for (step, field) in [("step1", "name"), ("step2", "color")] {
        let state = asked["result"]["requestState"].clone();
        assert!(state.is_string(), "{asked}");
        let answers = json!({step: accepted(field, json!("blue"))});
        asked = call(
            &mut door,
            tool,
            json!({"requestState": state, "inputResponses": answers}),
        );
    }
    assert_eq!(
        asked["result"]["content"][0]["text"], "Both steps were answered",
        "{asked}"
    );
    let tool = "test_input_required_result_elicitation";
    let answers = json!({"inputResponses": {"user_name": accepted("name", json!("Ada"))}});
    assert_eq!(
        reason(&call(&mut door, tool, answers.clone())),
        "input_not_asked_for"
    );
    let asked = call(&mut door, tool, json!({}));
    assert!(asked["result"].get("requestState").is_none(), "{asked}");
    let done = call(&mut door, tool, answers);
    assert_eq!(
        done["result"]["content"][0]["text"], "Hello, Ada!",
        "{done}"
    );
}

#[test]
fn a_server_asks_in_its_answer_only_what_it_may_ask_at_all() {
    let mut door = door("sampling/createMessage: {}");
    let refused = call(&mut door, TOOL, json!({}));
    assert_eq!(refused["error"]["code"], -32_603, "{refused}");
    assert_eq!(reason(&refused), "server_question");
    // It opened no round either.
    let answers = json!({"inputResponses": {"user_name": accepted("name", json!("Ada"))}});
    let tool = "test_input_required_result_elicitation";
    call(&mut door, tool, json!({}));
    assert_eq!(
        reason(&call(&mut door, tool, answers)),
        "input_not_asked_for"
    );
}

#[test]
fn members_that_nobody_judged_do_not_pass_in_either_revision() {
    let mut door = Piped::ready();
    for (more, code, expected) in [
        (json!({"task": {}}), -32_001, "task_not_allowed"),
        (
            json!({"task": {"ttl": 60_000, "pollInterval": 5}}),
            -32_001,
            "task_not_allowed",
        ),
        (json!({"task": {"ttl": -1}}), -32_602, "task_malformed"),
        (
            json!({"task": {"ttl": 1, "other": 2}}),
            -32_602,
            "task_malformed",
        ),
        (json!({"task": true}), -32_602, "member_malformed"),
        (json!({"requestState": "x"}), -32_001, "input_not_asked_for"),
        (json!({"requestState": 1}), -32_602, "member_malformed"),
        (json!({"requestState": null}), -32_602, "member_malformed"),
        (
            json!({"inputResponses": {}}),
            -32_001,
            "input_not_asked_for",
        ),
        (json!({"inputResponses": []}), -32_602, "member_malformed"),
        (json!({"unheard": 1}), -32_602, "unknown_member"),
        (json!({"Arguments": {}}), -32_600, "malformed"),
        (json!({"": {}}), -32_602, "unknown_member"),
    ] {
        let mut params = json!({"name": "echo", "arguments": {"text": "x"}});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let answer = door.ask("tools/call", params);
        assert_eq!(answer["error"]["code"], code, "{more}: {answer}");
        assert_eq!(reason(&answer), expected, "{more}");
    }
    let seen = door.says("seen", "");
    assert!(!seen.contains("echo"), "{seen}");
}

#[test]
fn a_task_passes_where_the_policy_allows_it_for_this_tool() {
    let policy = policy("").replace("echo: {args:", "echo: {task: true, args:");
    let mut door = Piped::started(&policy, &[], &[server_program().to_str().unwrap()]);
    door.initialize();
    let task =
        |tool: &str| json!({"name": tool, "arguments": {"text": "x"}, "task": {"ttl": 1_000}});
    let answer = door.ask("tools/call", task("echo"));
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(
        reason(&door.ask("tools/call", task("late"))),
        "task_not_allowed"
    );
    assert!(door.says("seen", "").contains(r#""task":{"ttl":1000}"#));
}
