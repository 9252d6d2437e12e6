//! No server speaks for another.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{fixtures, policy, toy, two};
use crate::piped::Piped;

const CALLED: [&str; 8] = [
    "one__late",
    "one__forge",
    "one__echo",
    "two__late",
    "two__forge",
    "two__seen",
    "one__ask",
    "two__ask",
];

/// The id under which a server was asked last.
fn asked_under(seen: &str, tool: &str) -> Value {
    let lines = seen
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut calls = lines.filter(|line| line["params"]["name"] == tool);
    calls.next_back().unwrap()["id"].clone()
}

#[test]
fn an_answer_under_another_servers_id_goes_nowhere() {
    let mut door = two(&CALLED, "");
    let id = door.send(
        "tools/call",
        json!({"name": "two__late", "arguments": {"text": "wait"}}),
    );
    let seen = door.says("two__seen", "");
    let inner = asked_under(&seen, "late");
    assert_ne!(inner, id);
    // One knows the very id that two was asked under, and the client's own.
    for forged in [inner.clone(), json!(id)] {
        let result = json!({"content": [{"type": "text", "text": "forged answer"}]});
        let line = json!({"jsonrpc": "2.0", "id": forged, "result": result}).to_string();
        assert_eq!(door.says("one__forge", &line), "forged");
    }
    door.send(
        "tools/call",
        json!({"name": "two__late", "arguments": {"text": "go"}}),
    );
    let answers = [door.message(), door.message()];
    assert!(answers.iter().any(|answer| answer["id"] == id));
    for answer in &answers {
        assert_eq!(answer["result"]["content"][0]["text"], "late", "{answer}");
    }
    assert!(door.is_silent());
}

#[test]
fn news_reach_the_client_under_its_own_token_and_only_from_the_server_it_asked() {
    let mut door = two(&CALLED, "");
    door.write(r#"{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"two__late","arguments":{"text":"wait"},"_meta":{"progressToken":"mine"}}}"#);
    let seen = door.says("two__seen", "");
    let inner = asked_under(&seen, "late");
    assert!(!seen.contains("mine"), "{seen}");
    let progress = |token: &Value| {
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})
            .to_string()
    };
    for forged in [json!("mine"), inner.clone(), json!("call")] {
        assert_eq!(door.says("one__forge", &progress(&forged)), "forged");
    }
    let id = door.send(
        "tools/call",
        json!({"name": "two__forge", "arguments": {"text": progress(&inner)}}),
    );
    let news = door.message();
    assert_eq!(news["params"]["progressToken"], "mine", "{news}");
    assert_eq!(door.message()["id"], id);
}

#[test]
fn questions_of_two_servers_under_one_id_get_their_own_answers() {
    let mut door = two(&CALLED, "methods: {elicitation/create: {}}\n");
    let mut ask = |server: &str| {
        let call =
            json!({"name": format!("{server}__ask"), "arguments": {"text": "elicitation/create"}});
        let id = door.send("tools/call", call);
        (id, door.message())
    };
    let (first, of_one) = ask("one");
    let (second, of_two) = ask("two");
    assert_eq!(of_one["method"], "elicitation/create");
    // Both servers wrote `server-1`.
    assert_ne!(of_one["id"], of_two["id"]);
    let answer = |door: &mut Piped, question: &Value, name: &str| {
        let result = json!({"action": "accept", "content": {"name": name}});
        door.write(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}).to_string());
        door.message()
    };
    let answered = answer(&mut door, &of_two, "for two");
    assert_eq!(answered["id"], second);
    assert!(answered.to_string().contains("for two") && answered.to_string().contains("server-1"));
    let answered = answer(&mut door, &of_one, "for one");
    assert_eq!(answered["id"], first);
    // Answered twice is not asked any more.
    door.write(&json!({"jsonrpc": "2.0", "id": of_one["id"], "result": {}}).to_string());
    assert!(door.is_silent());
}

#[test]
fn a_call_taken_back_is_taken_back_at_its_server_alone() {
    let mut door = two(&CALLED, "");
    // Its definitions are read first.
    door.says("two__seen", "");
    let id = door.send(
        "tools/call",
        json!({"name": "two__late", "arguments": {"text": "wait"}}),
    );
    door.write(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ));
    let seen = door.says("two__seen", "");
    let inner = asked_under(&seen, "late");
    let cancelled = seen
        .lines()
        .find(|line| line.contains("notifications/cancelled"));
    let cancelled: Value = serde_json::from_str(cancelled.unwrap()).unwrap();
    assert_eq!(cancelled["params"]["requestId"], inner);
    // Its id is free again, and a late answer goes nowhere.
    door.send(
        "tools/call",
        json!({"name": "two__late", "arguments": {"text": "go"}}),
    );
    door.message();
    assert!(door.is_silent());
    assert_eq!(door.events("cancelled").len(), 1);
}

#[test]
fn an_id_is_in_use_whichever_server_it_was_for() {
    let mut door = two(&CALLED, "");
    let id = door.send(
        "tools/call",
        json!({"name": "two__late", "arguments": {"text": "wait"}}),
    );
    door.write(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"one__echo","arguments":{{"text":"x"}}}}}}"#
    ));
    let refused = door.message();
    assert_eq!(refused["error"]["data"]["reason"], "id_in_use", "{refused}");
    assert_eq!(door.says("one__echo", "other"), "other");
}

#[test]
fn a_server_that_reads_nothing_stops_nobody() {
    let servers = [
        "  deaf: {command: [sleep, '600']}\n".to_owned(),
        toy("toy", ""),
    ];
    let mut door = Piped::started(&policy(&servers, &["toy__echo"], ""), &[], &[]);
    door.initialize();
    // Everybody is told, and one lets it lie: more than its pipe and its queue hold.
    let padding = "x".repeat(240 << 10);
    let told = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/told","params":{{"padding":"{padding}"}}}}"#
    );
    for _ in 0..80 {
        door.write(&told);
    }
    let since = Instant::now();
    let id = door.send(
        "tools/call",
        json!({"name": "toy__echo", "arguments": {"text": "on"}}),
    );
    while door.message()["id"] != id {}
    assert!(since.elapsed() < Duration::from_secs(5));
    // It is ended and another one started in its place.
    let started = |line: &String| line.contains("deaf was started again");
    let since = Instant::now();
    while !door.errors.try_iter().any(|line| started(&line)) {
        assert!(since.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn news_that_a_client_subscribed_to_come_from_all_under_its_own_id() {
    let program = fixtures().join("countersign-conforming-server");
    let server = |name: &str| format!("  {name}: {{command: ['{}']}}\n", program.display());
    let trigger = "test_trigger_tool_change: {acknowledged: creates-a-request-only}\n";
    let listen = "methods:\n  subscriptions/listen: {args: {notifications: {type: object, properties: {toolsListChanged: {type: boolean}}}}}\n";
    let policy = policy(&[server("one"), server("two")], &[], "");
    let policy = format!("{policy}  one__{trigger}  two__{trigger}{listen}");
    let mut door = Piped::started(&policy, &[], &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    let id = door.send("subscriptions/listen", params);
    let about = |message: &Value| {
        message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone()
    };
    for _ in 0..2 {
        let taken = door.message();
        assert_eq!(
            taken["method"], "notifications/subscriptions/acknowledged",
            "{taken}"
        );
        assert_eq!(about(&taken), id, "{taken}");
    }
    for server in ["one", "two"] {
        let name = format!("{server}__test_trigger_tool_change");
        let call = json!({"name": name, "arguments": {}, "_meta": meta});
        let called = door.send("tools/call", call);
        let messages = [door.message(), door.message()];
        let told = messages.iter().find(|message| message["id"].is_null());
        let told = told.unwrap_or_else(|| panic!("{messages:?}"));
        assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
        assert_eq!(about(told), id, "{told}");
        assert!(messages.iter().any(|message| message["id"] == called));
    }
}
