//! A running door and the `decide` command say the same about the same message.

use axum::Router;
use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::commands::Folder;
use crate::served::Served;

/// Answers whatever arrives, so that only the door refuses.
async fn post(body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
        Some("tools/list") => {
            json!({"tools": [{"name": "read"}, {"name": "held"}, {"name": "send_it"}]})
        }
        Some(method) if method.starts_with("notifications/") => {
            return StatusCode::ACCEPTED.into_response();
        }
        _ => json!({"content": []}),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    (
        [(header::CONTENT_TYPE, "application/json")],
        answer.to_string(),
    )
        .into_response()
}

const REST: &str = "\
tools:
  read:
    args:
      page: {type: string, max_length: 5, pattern: '[a-z]+'}
      amount: {type: string, max_length: 9}
      lines: {type: array, max_items: 2, items: {type: object, properties: {n: {type: integer, min: 1}}}}
  held: {args: {}}
  send_it: {args: {}}
  gone: {args: {}}
methods:
  prompts/get: {args: {name: {type: string, max_length: 5}}}
rules:
  - {id: ask, tool: held, effect: require_approval, ttl_seconds: 1}
  - {id: no-x, tool: 'x*', effect: deny}
";

/// The head of a policy for a server that answers whatever arrives.
async fn head() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = Router::new().route("/mcp", axum::routing::post(post));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!(
        "version: 1\nid: same\ndefault: deny\nrequire_pins: false\nservers: {{s: {{url: '{url}'}}}}\n"
    )
}

const START: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Why a call of the tool `read` is refused now; nothing when it passes.
async fn refusal(door: &Served) -> Option<String> {
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read"}}"#;
    let answer = door.post(None, call).await.json();
    let reason = answer["error"]["data"]["reason"].as_str();
    assert_eq!(reason.is_none(), answer.get("result").is_some(), "{answer}");
    reason.map(str::to_owned)
}

#[tokio::test(flavor = "multi_thread")]
async fn another_policy_is_taken_up_whole_or_not_at_all() {
    let head = head().await;
    let open = format!("{head}tools: {{read: {{args: {{}}}}}}\n");
    let door = Served::with(&open);
    let file = door.directory.join("policy.yaml");
    assert_eq!(door.post(None, START).await.status, 200);
    assert_eq!(refusal(&door).await, None);
    let shut = format!("{head}tools: {{other: {{args: {{}}}}}}\n");
    std::fs::write(&file, &shut).unwrap();
    let mut now = None;
    for _ in 0..100 {
        now = refusal(&door).await;
        if now.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(now.as_deref(), Some("not_listed"));
    // What is no policy, or for other servers, opens nothing and shuts nothing.
    for broken in [
        "".to_owned(),
        open.replace("default: deny", "default: allow"),
        open.replace("tools:", "tool:"),
        open.replace("servers: {s:", "servers: {t:"),
        open.replace("id: same", "id: '${ABSENT}'")
            .replace("{url:", "{headers: {X: '${ABSENT}'}, url:"),
    ] {
        std::fs::write(&file, &broken).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        assert_eq!(
            refusal(&door).await.as_deref(),
            Some("not_listed"),
            "{broken}"
        );
    }
    std::fs::remove_file(&file).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    assert_eq!(refusal(&door).await.as_deref(), Some("not_listed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_answers_as_decide_says() {
    let policy = format!("{}{REST}", head().await);
    let folder = Folder::new();
    folder.write("policy.yaml", &policy);
    folder.write(
        "offered.json",
        r#"[{"name":"read"},{"name":"held"},{"name":"send_it"}]"#,
    );
    let door = Served::with(&policy);
    assert_eq!(door.post(None, START).await.status, 200);
    let mut denied = 0;
    for (method, params) in [
        (
            "tools/call",
            r#"{"name":"read","arguments":{"page":"abc"}}"#,
        ),
        ("tools/call", r#"{"name":"read"}"#),
        (
            "tools/call",
            r#"{"name":"read","arguments":{"page":"ABC"}}"#,
        ),
        (
            "tools/call",
            r#"{"name":"read","arguments":{"page":"abcdef"}}"#,
        ),
        ("tools/call", r#"{"name":"read","arguments":{"page":null}}"#),
        (
            "tools/call",
            r#"{"name":"read","arguments":{"customer_id":"c2"}}"#,
        ),
        (
            "tools/call",
            r#"{"name":"read","arguments":{"lines":[{"n":1},{"n":0}]}}"#,
        ),
        (
            "tools/call",
            r#"{"name":"read","arguments":{"lines":[{"n":1.0}]}}"#,
        ),
        ("tools/call", r#"{"name":"Read"}"#),
        ("tools/call", r#"{"name":"secret"}"#),
        ("tools/call", r#"{"name":"send_it"}"#),
        ("tools/call", r#"{"name":"gone"}"#),
        ("tools/call", r#"{"name":"xray"}"#),
        ("tools/call", r#"{"name":"re ad"}"#),
        ("prompts/get", r#"{"name":"a"}"#),
        ("prompts/get", r#"{"name":"a","uri":"b"}"#),
        ("resources/read", r#"{"uri":"file:///etc/passwd"}"#),
        ("x/private", "{}"),
    ] {
        let message =
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
        let said = folder.run(
            &[
                "decide",
                "--policy",
                "policy.yaml",
                "--json",
                "--definitions",
                "offered.json",
            ],
            &message,
            &[],
        );
        let said = said.json();
        let answer = door.post(None, &message).await.json();
        match said["decision"].as_str() {
            Some("allow") => assert!(answer.get("result").is_some(), "{message} {answer}"),
            _ => {
                denied += 1;
                assert_eq!(
                    answer["error"]["data"]["reason"], said["reason"],
                    "{message} {answer}"
                );
                assert_eq!(
                    answer["error"]["data"]["rule"], said["rule"],
                    "{message} {answer}"
                );
            }
        }
    }
    let recorded = door.events("denied");
    assert_eq!(recorded.len(), denied, "{recorded:?}");
    assert!(denied > 10);
}
