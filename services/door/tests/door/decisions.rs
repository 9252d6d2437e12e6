//! What passes and what does not.

use std::sync::atomic::Ordering;

use axum::response::IntoResponse as _;

use crate::client::call;
use crate::stand::Stand;

#[tokio::test]
async fn an_allowed_call_reaches_the_server_as_the_bytes_that_were_sent() {
    let stand = Stand::new().await;
    let body = "{ \"jsonrpc\":\"2.0\",\t\"id\": \"a-1\",\n\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"h\\u00e9llo\"},\"_meta\":{\"x\":[1,2.50]}} } ";
    let answer = stand.post().send(body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    assert_eq!(json["id"], "a-1");
    assert_eq!(json["result"]["content"][0]["text"], "héllo");
    let seen = stand.server.behaviour.seen("tools/call");
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].body, body.as_bytes());
    assert_eq!(stand.server.behaviour.refused(), 0);
}

#[tokio::test]
async fn what_the_policy_does_not_allow_never_arrives() {
    let stand = Stand::new().await;
    let post = stand.post();
    for (name, arguments, code, reason) in [
        ("secret", "{}", -32_001, "not_listed"),
        ("nowhere", "{}", -32_001, "not_listed"),
        ("Echo", "{}", -32_001, "not_listed"),
        ("send_money", "{}", -32_001, "write_word"),
        ("transfer_all", "{}", -32_001, "write_word"),
        ("request_transf\\u0435r", "{}", -32_001, "bad_name"),
        ("echo ", "{}", -32_001, "bad_name"),
        ("held_tool", "{}", -32_002, "approval_needed"),
        ("echo", r#"{"hidden":"x"}"#, -32_001, "undeclared_argument"),
        (
            "echo",
            r#"{"__proto__":{"text":"x"}}"#,
            -32_001,
            "undeclared_argument",
        ),
        ("echo", r#"{"Text":"x"}"#, -32_001, "undeclared_argument"),
        ("echo", r#"{"text":5}"#, -32_001, "argument_type"),
        ("request_transfer", "{}", -32_001, "missing_argument"),
        (
            "request_transfer",
            r#"{"text":"5 "}"#,
            -32_001,
            "argument_pattern",
        ),
    ] {
        let answer = post.call(name, arguments).await;
        assert_eq!(answer.status, 200, "{name} {answer:?}");
        assert_eq!(answer.code(), Some(code), "{name} {arguments} {answer:?}");
        assert_eq!(answer.reason(), reason, "{name} {arguments}");
        assert_eq!(answer.json()["id"], 7);
    }
    let missing = post.call("request_transfer", "{}").await;
    assert_eq!(missing.json()["error"]["data"]["argument"], "text");
    let undeclared = post.call("echo", r#"{"hidden":"x"}"#).await;
    assert!(undeclared.json()["error"]["data"].get("argument").is_none());
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), 0);
    let allowed = post.call("request_transfer", r#"{"text":"5"}"#).await;
    assert_eq!(allowed.json()["result"]["content"][0]["text"], "5");
    let recorded = stand.events("allowed").pop().unwrap();
    assert_eq!(recorded["acknowledged"], "creates-a-request-only");
}

#[tokio::test]
async fn methods_nobody_listed_are_refused() {
    let stand = Stand::new().await;
    for (method, params) in [
        ("resources/read", r#"{"uri":"file:///etc/passwd"}"#),
        ("resources/subscribe", r#"{"uri":"a"}"#),
        ("completion/complete", "{}"),
        ("x/private", "{}"),
        ("prompts/get", r#"{"uri":"a"}"#),
        ("subscriptions/listen", "{}"),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let answer = stand.post().send(&body).await;
        assert_eq!(answer.code(), Some(-32_001), "{method} {answer:?}");
    }
    assert!(stand.server.behaviour.all().is_empty());
    let listed = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"a"}}"#;
    stand.post().send(listed).await;
    assert_eq!(stand.server.behaviour.seen("prompts/get").len(), 1);
}

#[tokio::test]
async fn a_definition_that_changes_is_refused_from_the_next_list_on() {
    let stand = Stand::new().await;
    let post = stand.post();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let before = post.call("echo", r#"{"text":"a"}"#).await;
    assert!(before.json()["result"].is_object(), "{before:?}");
    stand.server.behaviour.edition.store(1, Ordering::SeqCst);
    let listed = post.send(list).await;
    assert!(!listed.body.contains("\"echo\""), "{listed:?}");
    let after = post.call("echo", r#"{"text":"a"}"#).await;
    assert_eq!(after.reason(), "definition_changed", "{after:?}");
    let noted = stand.events("definition_changed").pop().unwrap();
    assert_eq!(noted["tool"], "echo");
    assert_ne!(noted["pinned"], noted["found"]);
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), 1);
    // The server takes it back: the pinned definition passes again.
    stand.server.behaviour.edition.store(0, Ordering::SeqCst);
    post.send(list).await;
    let back = post.call("echo", r#"{"text":"a"}"#).await;
    assert!(back.json()["result"].is_object(), "{back:?}");
}

#[tokio::test]
async fn a_changed_definition_is_refused_before_anybody_listed() {
    let stand = Stand::new().await;
    stand.server.behaviour.edition.store(1, Ordering::SeqCst);
    let answer = stand.post().call("echo", "{}").await;
    assert_eq!(answer.reason(), "definition_changed");
    assert_eq!(stand.events("definition_changed").len(), 1);
    assert_eq!(stand.server.behaviour.seen("tools/list").len(), 1);
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), 0);
}

#[tokio::test]
async fn a_customer_over_the_rate_is_refused_and_another_is_not() {
    let stand = Stand::new().await;
    let post = stand.post();
    for _ in 0..60 {
        let answer = post.call("echo", "{}").await;
        assert!(answer.json()["result"].is_object(), "{answer:?}");
    }
    // What a client says about where it comes from changes nothing.
    let spoofed = post.clone().with("X-Forwarded-For", "10.9.8.7");
    assert_eq!(spoofed.call("echo", "{}").await.reason(), "rate");
    let other = crate::client::Post::new(stand.door.address, &stand.token(9));
    assert!(other.call("echo", "{}").await.json()["result"].is_object());
}

#[tokio::test]
async fn plumbing_passes_and_is_recorded() {
    let stand = Stand::new().await;
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let answer = stand.post().send(initialize).await;
    assert_eq!(
        answer.json()["result"]["protocolVersion"],
        "2025-11-25",
        "{answer:?}"
    );
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(stand.post().send(initialized).await.status, 202);
    let lines = stand.events("allowed");
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["rule"] == "plumbing"));
    assert_eq!(lines[0]["method"], "initialize");
}

#[tokio::test]
async fn both_revisions_are_served() {
    let stand = Stand::new().await;
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body = call("echo", "{\"text\":\"new\"}")
        .replace("\"params\":{", &format!("\"params\":{{{meta},"));
    let stateless = stand
        .post()
        .with("MCP-Protocol-Version", "2026-07-28")
        .with("Mcp-Method", "tools/call")
        .with("Mcp-Name", "echo");
    let answer = stateless.send(&body).await;
    assert_eq!(
        answer.json()["result"]["content"][0]["text"],
        "new",
        "{answer:?}"
    );
    let older = stand.post().with("MCP-Protocol-Version", "2025-11-25");
    let answer = older.call("echo", r#"{"text":"old"}"#).await;
    assert_eq!(
        answer.json()["result"]["content"][0]["text"],
        "old",
        "{answer:?}"
    );
    let seen = stand.server.behaviour.seen("tools/call");
    assert_eq!(seen[0].headers["mcp-name"], "echo");
    assert_eq!(seen[1].headers["mcp-protocol-version"], "2025-11-25");
}

#[tokio::test]
async fn a_flood_is_answered_and_recorded_once() {
    let policy = format!("message_rate_per_minute: 5\n{}", crate::stand::policy());
    let stand = Stand::scripted(&policy, |_| async {
        http::StatusCode::NO_CONTENT.into_response()
    })
    .await;
    for number in 0..12 {
        let answer = stand.post().call("secret", "{}").await;
        let expected = if number < 5 { 200 } else { 429 };
        assert_eq!(answer.status, expected, "{number} {answer:?}");
    }
    let denied = stand.events("denied");
    let reasons: Vec<_> = denied
        .iter()
        .map(|line| line["reason"].as_str().unwrap())
        .collect();
    assert_eq!(
        reasons,
        [
            "not_listed",
            "not_listed",
            "not_listed",
            "not_listed",
            "not_listed",
            "flood"
        ]
    );
    let other = crate::client::Post::new(stand.door.address, &stand.token(9));
    assert_eq!(other.call("secret", "{}").await.status, 200);
}

#[tokio::test]
async fn a_name_spelt_with_escapes_is_the_name_in_the_record() {
    let stand = Stand::new().await;
    let answer = stand.post().call("\\u0065cho", "{}").await;
    assert!(answer.json()["result"].is_object(), "{answer:?}");
    let allowed = stand.events("allowed").pop().unwrap();
    assert_eq!(allowed["tool"], "echo");
    let seen = stand.server.behaviour.seen("tools/call");
    assert!(String::from_utf8_lossy(&seen[0].body).contains("\\u0065cho"));
}
