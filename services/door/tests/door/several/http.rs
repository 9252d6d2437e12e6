//! Several servers behind HTTP, programs and addresses mixed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{fixtures, names, policy, toy};
use crate::client::{Answer, raw};
use crate::served::{Served, messages};

/// A real server over HTTP.
struct Remote {
    child: Child,
    address: String,
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Remote {
    fn start() -> Self {
        let mut child = Command::new(fixtures().join("countersign-conforming-server"))
            .args(["--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap();
        let address = listening["listening"][0].as_str().unwrap().to_owned();
        Self { child, address }
    }
}

const TOOLS: [&str; 5] = [
    "far__test_simple_text",
    "gone__echo",
    "near__echo",
    "near__late",
    "near__exit",
];

fn door(remote: &Remote) -> Served {
    let servers = [
        format!("  far: {{url: 'http://{}/mcp'}}\n", remote.address),
        // Nobody listens there.
        "  gone: {url: 'http://127.0.0.1:9/mcp'}\n".to_owned(),
        toy("near", ""),
    ];
    let methods = "methods:\n  prompts/get: {args: {name: {type: string}}}\n  resources/read: {args: {uri: {type: string}}}\n";
    Served::with(&policy(&servers, &TOOLS, methods))
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

async fn begin(door: &Served) -> (String, Value) {
    let begun = door.post(None, INITIALIZE).await;
    let name = |line: &str| line.strip_prefix("mcp-session-id: ").map(str::to_owned);
    let session = begun.head.lines().find_map(name);
    let session = session.unwrap_or_else(|| panic!("{begun:?}"));
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(door.post(Some(&session), ready).await.status, 202);
    (session, begun.json())
}

async fn ask(door: &Served, session: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = door.post(Some(session), &body.to_string()).await;
    messages(&answer).pop().unwrap()
}

async fn ask_stateless(door: &Served, method: &str, name: Option<&str>, params: Value) -> Answer {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": "s", "method": method, "params": params});
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
    ];
    headers.extend(name.map(|name| ("Mcp-Name", name)));
    raw(
        door.address,
        &door.request("POST", &headers, &body.to_string()),
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_all_servers_and_misses_the_one_that_is_gone() {
    let remote = Remote::start();
    let door = door(&remote);
    let (session, met) = begin(&door).await;
    assert_eq!(met["result"]["protocolVersion"], "2025-11-25", "{met}");
    let unavailable = &met["result"]["_meta"]["dev.countersign/unavailable"];
    assert_eq!(*unavailable, json!(["gone"]));
    let mut listed = Vec::new();
    let mut cursor = json!({});
    loop {
        let page = ask(&door, &session, "tools/list", cursor).await;
        listed.extend(names(&page, "tools"));
        match page["result"]["nextCursor"].as_str() {
            Some(next) => cursor = json!({"cursor": next}),
            None => break,
        }
    }
    listed.sort();
    assert_eq!(
        listed,
        [
            "far__test_simple_text",
            "near__echo",
            "near__exit",
            "near__late"
        ]
    );
    let answer = ask(
        &door,
        &session,
        "tools/call",
        json!({"name": "far__test_simple_text"}),
    )
    .await;
    assert!(
        answer["result"]["content"][0]["text"].is_string(),
        "{answer}"
    );
    let call = json!({"name": "near__echo", "arguments": {"text": "x"}});
    let answer = ask(&door, &session, "tools/call", call.clone()).await;
    assert_eq!(answer["result"]["content"][0]["text"], "x", "{answer}");
    let gone = json!({"name": "gone__echo", "arguments": {"text": "x"}});
    let answer = ask(&door, &session, "tools/call", gone).await;
    assert_eq!(answer["error"]["data"]["reason"], "unreachable", "{answer}");
    ask(&door, &session, "resources/list", json!({})).await;
    let read = ask(
        &door,
        &session,
        "resources/read",
        json!({"uri": "test://static-text"}),
    )
    .await;
    assert!(read["result"]["contents"][0]["text"].is_string(), "{read}");
    let prompt = ask(
        &door,
        &session,
        "prompts/get",
        json!({"name": "far__test_simple_prompt"}),
    )
    .await;
    assert!(prompt["result"]["messages"].is_array(), "{prompt}");
    // Another session has processes of its own: what one of them kills the other keeps.
    let (other, _) = begin(&door).await;
    let exit = json!({"name": "near__exit", "arguments": {"text": ""}});
    let answer = ask(&door, &other, "tools/call", exit).await;
    assert_eq!(
        answer["error"]["data"]["reason"], "server_ended",
        "{answer}"
    );
    let answer = ask(&door, &session, "tools/call", call).await;
    assert_eq!(answer["result"]["content"][0]["text"], "x", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_sessions_the_newer_revision_finds_the_same() {
    let remote = Remote::start();
    let door = door(&remote);
    let discovered = ask_stateless(&door, "server/discover", None, json!({}))
        .await
        .json();
    let result = &discovered["result"];
    assert_eq!(
        result["supportedVersions"],
        json!(["2026-07-28"]),
        "{discovered}"
    );
    assert!(result["capabilities"]["tools"].is_object());
    assert_eq!(
        result["_meta"]["dev.countersign/unavailable"],
        json!(["gone"])
    );
    let listed = ask_stateless(&door, "tools/list", None, json!({}))
        .await
        .json();
    let listed = names(&listed, "tools");
    assert!(
        listed.contains(&"far__test_simple_text".to_owned()),
        "{listed:?}"
    );
    assert!(listed.contains(&"near__echo".to_owned()), "{listed:?}");
    for (name, text) in [("far__test_simple_text", ""), ("near__echo", "hello")] {
        let arguments = match text {
            "" => json!({}),
            text => json!({"text": text}),
        };
        let params = json!({"name": name, "arguments": arguments});
        let answer = ask_stateless(&door, "tools/call", Some(name), params).await;
        let message = messages(&answer).pop().unwrap();
        assert_eq!(message["id"], "s");
        assert!(
            message["result"]["content"][0]["text"].is_string(),
            "{message}"
        );
    }
    // The header says one server, the body another.
    let params = json!({"name": "near__echo", "arguments": {"text": "x"}});
    let answer = ask_stateless(&door, "tools/call", Some("far__test_simple_text"), params).await;
    assert_eq!(
        (answer.status, answer.code()),
        (400, Some(-32_020)),
        "{answer:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_clients_without_sessions_may_use_one_id() {
    let remote = Remote::start();
    let door = door(&remote);
    let call = |text: &'static str| {
        let params = json!({"name": "near__echo", "arguments": {"text": text}});
        ask_stateless(&door, "tools/call", Some("near__echo"), params)
    };
    let (one, two, three) = tokio::join!(call("one"), call("two"), call("three"));
    for (answer, text) in [(one, "one"), (two, "two"), (three, "three")] {
        assert_eq!(
            answer.json()["result"]["content"][0]["text"],
            text,
            "{answer:?}"
        );
    }
}
