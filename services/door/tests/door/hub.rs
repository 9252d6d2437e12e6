//! HTTP in front of a server that the door starts.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::Answer;
use crate::piped::{policy, server_program, wait_until_gone};
use crate::served::{Served, messages};

fn door() -> Served {
    let command = format!("toy: {{command: ['{}'], env:", server_program().display());
    Served::with(&policy("methods: {elicitation/create: {}}\n").replace("toy: {env:", &command))
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

async fn begin(door: &Served) -> String {
    let begun = door.post(None, INITIALIZE).await;
    assert_eq!(
        begun.json()["result"]["serverInfo"]["name"],
        "pipes",
        "{begun:?}"
    );
    let session = begun
        .head
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "));
    let session = session.unwrap().to_owned();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(door.post(Some(&session), ready).await.status, 202);
    session
}

fn call(id: u32, tool: &str, text: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"text": text}}}).to_string()
}

fn said(answer: &Answer) -> String {
    let message = messages(answer).pop().unwrap();
    let text = message["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

/// A call whose server asks something back, and what came on its stream up to that question.
async fn until_asked(door: &Served, session: &str) -> (TcpStream, Vec<u8>) {
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    let request = door.request(
        "POST",
        &[("Mcp-Session-Id", session)],
        &call(1, "ask", "elicitation/create"),
    );
    stream.write_all(&request).await.unwrap();
    let mut read = Vec::new();
    let mut chunk = [0; 4_096];
    while !String::from_utf8_lossy(&read).contains("server-1") {
        let length = stream.read(&mut chunk).await.unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&chunk[..length]);
    }
    (stream, read)
}

/// A call as the revision without sessions has it.
fn stateless(door: &Served, id: &str, tool: &str, text: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"text":"{text}"}},"_meta":{{"progressToken":"mine","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"t","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    door.request("POST", &headers, &body)
}

async fn ask_stateless(door: &Served, id: &str, tool: &str, text: &str) -> Answer {
    crate::client::raw(door.address, &stateless(door, id, tool, text)).await
}

#[tokio::test]
async fn every_session_has_a_server_of_its_own() {
    let door = door();
    let (one, two) = (begin(&door).await, begin(&door).await);
    assert_ne!(one, two);
    assert_eq!(
        said(&door.post(Some(&one), &call(1, "echo", "mine")).await),
        "mine"
    );
    let seen = said(&door.post(Some(&two), &call(1, "seen", "")).await);
    assert!(!seen.contains("mine"), "{seen}");
    let listed = door
        .post(
            Some(&one),
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        )
        .await;
    assert_eq!(
        messages(&listed)[0]["result"]["tools"]
            .as_array()
            .unwrap()
            .len(),
        15
    );
    let refused = door.post(Some(&one), &call(3, "secret", "")).await;
    assert_eq!(refused.code(), Some(-32_001));
    assert_eq!(door.events("denied").len(), 1);
}

#[tokio::test]
async fn a_question_of_the_servers_comes_on_the_callers_stream() {
    let door = door();
    let session = begin(&door).await;
    let (mut stream, mut read) = until_asked(&door, &session).await;
    let answer = r#"{"jsonrpc":"2.0","id":"server-1","result":{"action":"accept"}}"#;
    assert_eq!(door.post(Some(&session), answer).await.status, 202);
    stream.read_to_end(&mut read).await.unwrap();
    let text = String::from_utf8_lossy(&read);
    assert!(
        text.contains("text/event-stream") && text.contains("accept"),
        "{text}"
    );
}

#[tokio::test]
async fn a_session_ends_with_its_server_and_a_server_with_its_session() {
    let door = door();
    let session = begin(&door).await;
    let family = said(&door.post(Some(&session), &call(1, "family", "")).await);
    assert_eq!(
        door.ask("DELETE", &[("Mcp-Session-Id", &session)], "")
            .await
            .status,
        202
    );
    for pid in family.split(' ') {
        wait_until_gone(pid);
    }
    assert_eq!(
        door.post(Some(&session), &call(2, "echo", "x"))
            .await
            .status,
        404
    );
    let session = begin(&door).await;
    let ended = door.post(Some(&session), &call(3, "exit", "")).await;
    assert_eq!(ended.reason(), "server_ended", "{ended:?}");
    assert_eq!(
        door.post(Some(&session), &call(4, "echo", "x"))
            .await
            .status,
        404
    );
    assert_eq!(door.post(None, &call(5, "echo", "x")).await.status, 400);
    assert_eq!(door.ask("GET", &[], "").await.status, 405);
    assert_eq!(
        door.ask("GET", &[("Mcp-Session-Id", "guessed")], "")
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn clients_without_sessions_share_a_server_and_keep_their_ids() {
    let door = door();
    assert_eq!(
        said(&ask_stateless(&door, "7", "echo", "first").await),
        "first"
    );
    let waits = |id: &'static str| {
        let (address, request) = (door.address, stateless(&door, id, "late", "wait"));
        tokio::spawn(async move { crate::client::raw(address, &request).await })
    };
    let waiting = [waits("7"), waits("\"7\""), waits("\"s\\u00e9\"")];
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert_eq!(said(&ask_stateless(&door, "7", "late", "go").await), "late");
    let mut ids = Vec::new();
    for task in waiting {
        let answer = task.await.unwrap();
        assert_eq!(said(&answer), "late");
        ids.push(answer.json()["id"].clone());
    }
    assert_eq!(ids, [json!(7), json!("7"), json!("s\u{e9}")]);
    let seen = said(&ask_stateless(&door, "1", "seen", "").await);
    let asked: Vec<Value> = seen
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut ids: Vec<_> = asked
        .iter()
        .map(|message| message["id"].to_string())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{seen}");
    assert!(!seen.contains("mine"), "{seen}");
}

#[tokio::test]
async fn hanging_up_takes_a_question_back() {
    let door = door();
    ask_stateless(&door, "1", "echo", "").await;
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    stream
        .write_all(&stateless(&door, "2", "late", "wait"))
        .await
        .unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    drop(stream);
    for _ in 0..100 {
        let seen = said(&ask_stateless(&door, "3", "seen", "").await);
        if seen.contains("notifications/cancelled") {
            // How a call ended is written with the next decision, or a moment later.
            for _ in 0..100 {
                if door.events("cancelled").len() == 1 {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            panic!("the record does not say it");
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the server was not told");
}

#[tokio::test]
async fn the_shared_server_is_started_again() {
    let door = door();
    let ended = ask_stateless(&door, "1", "exit", "").await;
    assert_eq!(ended.reason(), "server_ended", "{ended:?}");
    for _ in 0..100 {
        let answer = ask_stateless(&door, "2", "echo", "again").await;
        if answer.status == 200 && answer.json()["result"].is_object() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("it is not started again");
}

#[tokio::test]
async fn a_door_that_ends_ends_its_servers() {
    let mut door = door();
    let session = begin(&door).await;
    let family = said(&door.post(Some(&session), &call(1, "family", "")).await);
    let shared = said(&ask_stateless(&door, "1", "family", "").await);
    let asked = std::process::Command::new("kill")
        .arg(door.child.id().to_string())
        .status();
    assert!(asked.unwrap().success());
    door.child.wait().unwrap();
    for pid in family.split(' ').chain(shared.split(' ')) {
        wait_until_gone(pid);
    }
}

#[tokio::test]
async fn a_client_that_says_nonsense_of_itself_spoils_nobodys_server() {
    let door = door();
    for meta in [
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#,
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":7,"io.modelcontextprotocol/clientCapabilities":"all"}"#,
    ] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"x"}},"_meta":{meta}}}}}"#
        );
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "echo"),
        ];
        door.ask("POST", &headers, &body).await;
    }
    let seen = said(&ask_stateless(&door, "2", "seen", "").await);
    let own = seen.find("tools/list").map(|at| &seen[at..]);
    assert!(
        own.is_some_and(|asked| asked.contains("countersign-door")),
        "the door asks for itself: {seen}"
    );
}

#[tokio::test]
async fn a_stream_that_was_lost_is_taken_up_where_it_ended() {
    let door = door();
    let session = begin(&door).await;
    let (stream, read) = until_asked(&door, &session).await;
    assert!(String::from_utf8_lossy(&read).contains("id: 1-1\ndata: "));
    drop(stream);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let answer = r#"{"jsonrpc":"2.0","id":"server-1","result":{"action":"accept"}}"#;
    assert_eq!(door.post(Some(&session), answer).await.status, 202);
    // Another session's client learns nothing of it, and is given no stream of this one.
    let other = begin(&door).await;
    let mut elsewhere = TcpStream::connect(door.address).await.unwrap();
    let headers = [("Mcp-Session-Id", &*other), ("Last-Event-ID", "1-1")];
    let request = door.request("GET", &headers, "");
    elsewhere.write_all(&request).await.unwrap();
    let headers = [("Mcp-Session-Id", &*session), ("Last-Event-ID", "1-0")];
    let back = door.ask("GET", &headers, "").await;
    let told = messages(&back);
    assert_eq!(told.len(), 2, "{back:?}");
    assert_eq!(told[0]["id"], "server-1", "what was not read comes again");
    assert_eq!(told[1]["id"], 1, "{back:?}");
    assert!(back.body.contains("id: 1-2\ndata: "), "{back:?}");
    let seen = said(&door.post(Some(&session), &call(2, "seen", "")).await);
    let calls = seen.matches(r#""tools/call""#).count();
    assert_eq!(calls, 2, "the call ran once: {seen}");
    let mut chunk = [0; 4_096];
    let read = tokio::time::timeout(
        std::time::Duration::from_millis(300),
        elsewhere.read(&mut chunk),
    );
    let length = read.await.map_or(0, Result::unwrap);
    let elsewhere = String::from_utf8_lossy(&chunk[..length]).into_owned();
    assert!(!elsewhere.contains("data:"), "{elsewhere}");
}
