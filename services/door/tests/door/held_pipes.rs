//! Calls that wait for somebody, over pipes: nothing waits behind them.

use serde_json::{Value, json};

use crate::approvals::Page;
use crate::piped::{Piped, policy, server_program};

const HOLD: &str = "rules:\n  - {id: holds, tool: echo, effect: require_approval, TERMS}\n";

/// A door that holds `echo` under these terms.
fn holding(terms: &str) -> Piped {
    let rules = HOLD.replace("TERMS", terms);
    let program = server_program();
    let words = ["--approver", "Grace"];
    Piped::started(&policy(&rules), &words, &[program.to_str().unwrap()])
}

fn ready(terms: &str) -> Piped {
    let mut door = holding(terms);
    door.initialize();
    door
}

/// A door whose client takes questions for its user.
fn asking(terms: &str) -> Piped {
    let mut door = holding(terms);
    door.ask(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}),
    );
    door.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    door
}

async fn page(door: &Piped) -> Page {
    Page::beside(&door.directory.join("log")).await
}

fn hold(door: &mut Piped, text: &str) -> i64 {
    door.send(
        "tools/call",
        json!({"name": "echo", "arguments": {"text": text}}),
    )
}

#[tokio::test]
async fn other_calls_go_on_while_one_is_held() {
    let mut door = ready("ttl_seconds: 60");
    let id = hold(&mut door, "later");
    let page = page(&door).await;
    let held = page.held().await;
    assert!(!door.says("seen", "").contains("later"));
    let again = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    door.write(&again.to_string());
    assert_eq!(door.message()["error"]["data"]["reason"], "id_in_use");
    assert_eq!(page.decide(&held, "approve").await.status, 200);
    let answer = door.message();
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(id), &json!("later"))
    );
    assert!(door.says("seen", "").contains("later"));
}

#[tokio::test]
async fn a_call_that_is_taken_back_or_denied_never_arrives() {
    let mut door = ready("ttl_seconds: 60");
    let id = hold(&mut door, "taken back");
    let page = page(&door).await;
    page.held().await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    door.write(&cancelled.to_string());
    while door.events("denied").is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(door.events("denied")[0]["reason"], "withdrawn");
    let id = hold(&mut door, "denied");
    let held = page.held().await;
    assert_eq!(page.decide(&held, "deny").await.status, 200);
    let answer = door.message();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(id), &json!(-32_003))
    );
    let seen = door.says("seen", "");
    assert!(
        !seen.contains("denied") && !seen.contains("taken back\""),
        "{seen}"
    );
}

#[tokio::test]
async fn a_countdown_releases_what_can_be_undone_and_a_wish_stops_it() {
    let terms = "ttl_seconds: 60, reversible: true, countdown_seconds: 1";
    let mut door = ready(terms);
    assert_eq!(door.says("echo", "by itself"), "by itself");
    let released = door.events("released").remove(0);
    let payload: Value =
        serde_json::from_str(released["approval"]["payload"].as_str().unwrap()).unwrap();
    assert_eq!(
        payload["decided_by"],
        json!({"way": "countdown", "name": "holds"})
    );
    let wish = json!({"name": "echo", "arguments": {"text": "careful"}, "_meta": {"dev.countersign/person": true}});
    door.send("tools/call", wish);
    let page = page(&door).await;
    let held = page.held().await;
    assert_eq!(held.get("countdown_in"), None);
    tokio::time::sleep(std::time::Duration::from_millis(1_300)).await;
    assert_eq!(page.held().await["hold"], held["hold"]);
    page.decide(&held, "deny").await;
    assert_eq!(door.message()["error"]["code"], -32_003);
}

#[tokio::test]
async fn a_client_that_takes_questions_is_asked_where_the_rule_takes_its_word() {
    let mut door = asking("ways: [elicitation]");
    for (answer, code) in [
        (
            json!({"action": "accept", "content": {"approve": true}}),
            None,
        ),
        (json!({"action": "decline"}), Some(-32_003)),
    ] {
        let call = hold(&mut door, "asked");
        let question = door.message();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert!(
            question["params"]["message"]
                .as_str()
                .unwrap()
                .contains("asked")
        );
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
        door.write(&answer.to_string());
        let ended = door.message();
        assert_eq!(
            (&ended["id"], ended["error"]["code"].as_i64()),
            (&json!(call), code),
            "{ended}"
        );
        // Said twice it is said once.
        door.write(&answer.to_string());
    }
    let released = door.events("released").remove(0);
    let signed: countersign_receipts::SignedApproval =
        serde_json::from_value(released["approval"].clone()).unwrap();
    let payload: Value = serde_json::from_str(&signed.payload).unwrap();
    assert_eq!(payload["decided_by"]["way"], "client");
    assert_eq!(
        door.events("released").len() + door.events("denied").len(),
        2
    );
}

#[tokio::test]
async fn a_clients_word_never_counts_where_the_rule_wants_a_person() {
    let mut door = asking("ttl_seconds: 60");
    hold(&mut door, "asked");
    let page = page(&door).await;
    let held = page.held().await;
    assert!(door.is_silent(), "no question goes to the client");
    let id = format!(
        "dev.countersign/hold/{}/{}",
        held["hold"].as_str().unwrap(),
        held["digest"].as_str().unwrap()
    );
    let forged = json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"approve": true}}});
    door.write(&forged.to_string());
    assert!(door.is_silent());
    assert_eq!(page.held().await["hold"], held["hold"]);
    // A client that takes no questions has no way to answer one.
    let mut door = ready("ways: [elicitation]");
    hold(&mut door, "asked");
    assert_eq!(door.message()["error"]["data"]["reason"], "no_approver");
}

#[tokio::test]
async fn a_client_that_ends_takes_its_calls_with_it() {
    let mut door = ready("ttl_seconds: 60");
    hold(&mut door, "never");
    page(&door).await.held().await;
    door.close();
    door.wait();
    assert_eq!(door.events("denied")[0]["reason"], "withdrawn");
    assert!(!door.directory.join("log/approval-links").exists());
}

#[tokio::test]
async fn a_cap_outlives_the_door_and_a_denied_call_uses_nothing_up() {
    let tools = policy("").replace(
        "  echo: {args: {text: {type: string}}}\n",
        "  echo: {args: {text: {type: string}}, cap: {argument: text, per_day: '100'}}\n",
    );
    let rules = HOLD.replace("TERMS", "ttl_seconds: 60");
    let program = server_program();
    let program = [program.to_str().unwrap()];
    let words = ["--approver", "Grace"];
    let mut door = Piped::started(&format!("{tools}{rules}"), &words, &program);
    door.initialize();
    hold(&mut door, "99.99");
    let page = page(&door).await;
    let held = page.held().await;
    assert_eq!(
        door.call("echo", "0.01")["error"]["data"]["reason"],
        "cap_per_day",
        "what is held counts"
    );
    page.decide(&held, "deny").await;
    assert_eq!(door.message()["error"]["code"], -32_003);
    hold(&mut door, "60");
    page.decide(&page.held().await, "approve").await;
    assert_eq!(door.message()["result"]["content"][0]["text"], "60");
    door.close();
    door.wait();
    std::fs::write(door.directory.join("policy.yaml"), &tools).unwrap();
    let mut next = door.again(&[], &program);
    next.initialize();
    assert_eq!(
        next.call("echo", "40")["error"]["data"]["reason"],
        "cap_per_day"
    );
    assert_eq!(next.says("echo", "39.99"), "39.99");
}

#[test]
fn the_doors_own_tools_are_offered_where_it_was_asked_to_and_reach_no_server() {
    let mut door = Piped::ready();
    let listed = door.ask("tools/list", json!({})).to_string();
    assert!(!listed.contains("door__"));
    let refused = door.call("door__status", "");
    assert_eq!(refused["error"]["code"], -32_001);

    let program = server_program();
    let cut = policy("")
        .replace("  absent:", "  none:")
        .replace("  late: {args: {text: {type: string}}}\n", "");
    let mut door = Piped::started(&cut, &["--own-tools"], &[program.to_str().unwrap()]);
    door.initialize();
    let listed = door.ask("tools/list", json!({}));
    let names: Vec<_> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[0], "echo");
    assert_eq!(
        names[names.len() - 2..],
        ["door__status", "door__recent_events"]
    );
    assert!(!names.contains(&"late"));
    let status = door.ask("tools/call", json!({"name": "door__status"}));
    assert_eq!(
        status["result"]["structuredContent"]["policy"]["id"], "pipes",
        "{status}"
    );
    assert_eq!(status["result"]["structuredContent"]["held"], 0);
    door.call("late", "secret words");
    let recent = json!({"name": "door__recent_events", "arguments": {"limit": 2}});
    let recent = door.ask("tools/call", recent);
    let events = &recent["result"]["structuredContent"]["events"];
    assert_eq!(events.as_array().unwrap().len(), 2, "{recent}");
    assert_eq!(
        (&events[0]["event"], &events[0]["reason"]),
        (&json!("denied"), &json!("not_listed"))
    );
    assert_eq!(
        (&events[1]["event"], &events[1]["reason"]),
        (&json!("allowed"), &json!("own_tool"))
    );
    assert!(!recent.to_string().contains("secret words"));
    let wrong = json!({"name": "door__status", "arguments": {"identity": "somebody"}});
    assert_eq!(door.ask("tools/call", wrong)["error"]["code"], -32_602);
    assert!(!door.says("seen", "").contains("door__"));
}
