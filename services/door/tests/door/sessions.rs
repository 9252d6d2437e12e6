//! Sessions of the revision that has them, through a door that verifies nobody.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::piped::Piped;
use crate::served::{Served, messages};

/// What a server with sessions saw.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(String, HeaderMap, String)>>>);

impl Seen {
    fn take(&self, method: &str, headers: &HeaderMap, body: &str) {
        let seen = (method.to_owned(), headers.clone(), body.to_owned());
        self.0.lock().unwrap().push(seen);
    }

    fn bodies(&self, method: &str) -> Vec<String> {
        let seen = self.0.lock().unwrap();
        let bodies = seen.iter().filter(|(one, _, _)| one == method);
        bodies.map(|(_, _, body)| body.clone()).collect()
    }

    async fn wait_for(&self, words: &str) -> String {
        for _ in 0..200 {
            if let Some(body) = self
                .bodies("POST")
                .into_iter()
                .find(|body| body.contains(words))
            {
                return body;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{words} did not arrive");
    }
}

fn events(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

async fn post(State(seen): State<Seen>, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8(body.to_vec()).unwrap();
    seen.take("POST", &headers, &body);
    let message: Value = serde_json::from_str(&body).unwrap();
    let id = message["id"].clone();
    let answer = |result: Value| {
        let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        ([(header::CONTENT_TYPE, "application/json")], body).into_response()
    };
    match message["method"].as_str() {
        Some("initialize") => {
            let mut response = answer(json!({"protocolVersion": "2025-11-25", "capabilities": {}}));
            let name = message["params"]["session"]
                .as_str()
                .unwrap_or("s-1")
                .to_owned();
            response
                .headers_mut()
                .insert("mcp-session-id", name.parse().unwrap());
            response
        }
        Some("tools/list") => answer(json!({"tools": [{"name": "echo"}, {"name": "secret"}]})),
        Some("tools/call") => match message["params"]["arguments"]["text"].as_str().unwrap() {
            "ask" => events(format!(
                "id: 1\ndata: {{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"elicitation/create\",\"params\":{{}}}}\n\n\
                 data: {{\"jsonrpc\":\"2.0\",\"id\":78,\"method\":\"sampling/createMessage\",\"params\":{{}}}}\n\n\
                 data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n\n"
            )),
            // The answer comes on another stream.
            "later" => events(format!("id: resume-{id}\ndata:\n\n")),
            "foreign" => events("data: {\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\n\n".into()),
            text => answer(json!({"content": [{"type": "text", "text": text}]})),
        },
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

async fn get(State(seen): State<Seen>, headers: HeaderMap) -> Response {
    seen.take("GET", &headers, "");
    let resumed = headers
        .get("last-event-id")
        .map(|id| id.to_str().unwrap().to_owned());
    match resumed.as_deref().and_then(|id| id.strip_prefix("resume-")) {
        Some(id) => events(format!(
            "data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n\n"
        )),
        None => events(
            "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n"
                .into(),
        ),
    }
}

async fn delete(State(seen): State<Seen>, headers: HeaderMap) -> StatusCode {
    seen.take("DELETE", &headers, "");
    StatusCode::ACCEPTED
}

async fn stand() -> (Served, Seen) {
    let (policy, seen) = serve().await;
    (Served::with(&policy), seen)
}

async fn serve() -> (String, Seen) {
    let seen = Seen::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = axum::routing::post(post).get(get).delete(delete);
    let router = Router::new().route("/mcp", routes).with_state(seen.clone());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let policy = format!(
        "version: 1\nid: sessions\ndefault: deny\nrequire_pins: false\nservers:\n  toy: {{url: 'http://{address}/mcp', headers: {{X-Api-Key: of-the-policy}}}}\ntools:\n  echo: {{args: {{text: {{type: string}}}}}}\nmethods: {{elicitation/create: {{}}}}\n"
    );
    (policy, seen)
}

fn call(id: u32, text: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": text}}}).to_string()
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;

async fn begin(door: &Served) {
    let begun = door.post(None, INITIALIZE).await;
    assert!(begun.head.contains("mcp-session-id: s-1"), "{begun:?}");
}

#[tokio::test]
async fn a_session_begins_lists_calls_and_ends() {
    let (door, seen) = stand().await;
    begin(&door).await;
    let session = Some("s-1");
    let noted = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(door.post(session, noted).await.status, 202);
    let listed = door
        .post(session, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        .await;
    assert_eq!(
        listed.json()["result"]["tools"].as_array().unwrap().len(),
        1
    );
    let said = door.post(session, &call(2, "hello")).await;
    assert_eq!(said.json()["result"]["content"][0]["text"], "hello");
    let refused = door
        .post(session, &call(3, "x").replace("echo", "secret"))
        .await;
    assert_eq!(refused.code(), Some(-32_001));
    {
        let seen = seen.0.lock().unwrap();
        let given = |headers: &HeaderMap| {
            headers
                .get("x-api-key")
                .is_some_and(|key| key == "of-the-policy")
        };
        assert!(seen.iter().all(|(_, headers, _)| given(headers)));
    }
    assert_eq!(
        door.ask("DELETE", &[("Mcp-Session-Id", "s-1")], "")
            .await
            .status,
        202
    );
    assert_eq!(door.post(session, &call(4, "x")).await.status, 404);
    assert_eq!(
        door.ask("GET", &[("Mcp-Session-Id", "s-1")], "")
            .await
            .status,
        404
    );
    assert_eq!(seen.bodies("DELETE").len(), 1);
    assert!(
        !seen
            .bodies("POST")
            .iter()
            .any(|body| body.contains("secret\"")),
        "{:?}",
        seen.bodies("POST")
    );
}

#[tokio::test]
async fn nobody_goes_on_in_a_session_that_never_began() {
    let (door, seen) = stand().await;
    for headers in [
        &[("Mcp-Session-Id", "guessed")][..],
        &[("Mcp-Session-Id", "a"), ("Mcp-Session-Id", "b")],
    ] {
        assert_eq!(door.ask("POST", headers, &call(1, "x")).await.status, 404);
        assert_eq!(door.ask("GET", headers, "").await.status, 404);
        assert_eq!(door.ask("DELETE", headers, "").await.status, 404);
    }
    assert_eq!(door.ask("GET", &[], "").await.status, 405);
    assert_eq!(door.ask("DELETE", &[], "").await.status, 405);
    assert!(seen.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_stream_of_a_session_is_passed_on() {
    let (door, seen) = stand().await;
    begin(&door).await;
    let streamed = door.ask("GET", &[("Mcp-Session-Id", "s-1")], "").await;
    assert_eq!(messages(&streamed)[0]["method"], "notifications/message");
    // The answer to a call whose own stream ended comes on the stream that goes on from there.
    let later = door.post(Some("s-1"), &call(5, "later")).await;
    assert!(later.body.contains("id: resume-5"), "{later:?}");
    let resumed = door
        .ask(
            "GET",
            &[("Mcp-Session-Id", "s-1"), ("Last-Event-ID", "resume-5")],
            "",
        )
        .await;
    assert_eq!(messages(&resumed)[0]["id"], 5);
    // Once: then it is answered.
    let again = door
        .ask(
            "GET",
            &[("Mcp-Session-Id", "s-1"), ("Last-Event-ID", "resume-5")],
            "",
        )
        .await;
    assert!(messages(&again).is_empty(), "{again:?}");
    let seen = seen.0.lock().unwrap();
    assert!(
        seen.iter()
            .any(|(_, headers, _)| headers.contains_key("last-event-id"))
    );
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_does_not_pass() {
    let (door, _) = stand().await;
    begin(&door).await;
    let foreign = door.post(Some("s-1"), &call(6, "foreign")).await;
    assert!(messages(&foreign).is_empty(), "{foreign:?}");
}

#[tokio::test]
async fn a_question_of_the_servers_reaches_the_client_or_is_refused() {
    let (door, seen) = stand().await;
    begin(&door).await;
    let asked = door.post(Some("s-1"), &call(7, "ask")).await;
    let asked = messages(&asked);
    assert_eq!(asked[0]["method"], "elicitation/create");
    assert_eq!(asked[1]["id"], 7);
    assert_eq!(asked.len(), 2);
    // The one the policy does not name was refused by the door.
    let refused = seen.wait_for("\"id\":78").await;
    assert!(refused.contains("-32601"), "{refused}");
    let answer = r#"{"jsonrpc":"2.0","id":77,"result":{"action":"decline"}}"#;
    assert_eq!(door.post(Some("s-1"), answer).await.status, 202);
    seen.wait_for("decline").await;
    // Once.
    assert_eq!(door.post(Some("s-1"), answer).await.status, 400);
    let unasked = r#"{"jsonrpc":"2.0","id":5,"result":{}}"#;
    assert_eq!(door.post(Some("s-1"), unasked).await.status, 400);
}

#[tokio::test]
async fn a_client_that_leaves_its_stream_does_not_end_the_session() {
    let (door, _) = stand().await;
    begin(&door).await;
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    let request = door.request("GET", &[("Mcp-Session-Id", "s-1")], "");
    stream.write_all(&request).await.unwrap();
    stream.read_exact(&mut [0; 12]).await.unwrap();
    drop(stream);
    assert_eq!(door.post(Some("s-1"), &call(8, "still")).await.status, 200);
}

#[tokio::test]
async fn other_names_and_pages_are_not_answered() {
    let (door, seen) = stand().await;
    for headers in [[("Origin", "http://evil.example")], [("Origin", "null")]] {
        assert_eq!(door.ask("POST", &headers, INITIALIZE).await.status, 403);
        assert_eq!(door.ask("GET", &headers, "").await.status, 403);
    }
    let bytes = door.request("POST", &[], INITIALIZE);
    let text = String::from_utf8(bytes).unwrap();
    let renamed = text.replace(&format!("Host: {}", door.address), "Host: evil.example");
    assert_eq!(
        crate::client::raw(door.address, renamed.as_bytes())
            .await
            .status,
        403
    );
    assert!(seen.0.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_on_pipes_reaches_a_server_over_http() {
    let (policy, seen) = serve().await;
    let (checked, watched) = (seen.clone(), seen.clone());
    tokio::task::spawn_blocking(move || {
        let mut door = Piped::started(&policy, &[], &[]);
        let met = door.initialize();
        assert_eq!(met["result"]["protocolVersion"], "2025-11-25");
        // The stream of the session is listened to.
        assert_eq!(door.message()["method"], "notifications/message");
        assert_eq!(door.says("echo", "hello"), "hello");
        let refused = door.call("secret", "");
        assert_eq!(refused["error"]["code"], -32_001);
        let asked = door.send(
            "tools/call",
            json!({"name": "echo", "arguments": {"text": "ask"}}),
        );
        let mut methods = Vec::new();
        loop {
            let message = door.message();
            if message["id"] == asked {
                break;
            }
            methods.push(message["method"].as_str().unwrap().to_owned());
        }
        assert!(
            methods.iter().any(|method| method == "elicitation/create"),
            "{methods:?}"
        );
        door.write(r#"{"jsonrpc":"2.0","id":77,"result":{"action":"decline"}}"#);
        let lost = door.call("echo", "foreign");
        assert_eq!(lost["error"]["data"]["reason"], "unanswered", "{lost}");
        door.close();
        assert!(door.wait().success());
    })
    .await
    .unwrap();
    watched.wait_for("decline").await;
    watched.wait_for("\"id\":78").await;
    let seen = checked.0.lock().unwrap();
    let in_session = |headers: &HeaderMap| {
        headers
            .get("mcp-session-id")
            .is_some_and(|name| name == "s-1")
    };
    assert!(
        seen.iter()
            .skip(1)
            .all(|(_, headers, _)| in_session(headers))
    );
    assert!(
        seen.iter()
            .skip(1)
            .all(|(_, headers, _)| headers.contains_key("mcp-protocol-version"))
    );
    assert!(seen.iter().any(|(method, _, _)| method == "GET"));
    assert!(seen.iter().any(|(method, _, _)| method == "DELETE"));
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let policy = format!(
        "version: 1\nid: t\ndefault: deny\nrequire_pins: false\nservers: {{toy: {{url: 'http://{nowhere}/mcp'}}}}\ntools: {{echo: {{args: {{text: {{type: string}}}}}}}}\n"
    );
    let mut door = Piped::started(&policy, &[], &[]);
    let answer = door.ask("ping", json!({}));
    assert_eq!(answer["error"]["data"]["reason"], "unreachable", "{answer}");
    let answer = door.call("echo", "x");
    assert_eq!(
        answer["error"]["data"]["reason"], "definitions_unavailable",
        "{answer}"
    );
}

/// Posts a call that is held, and reads its stream as far as the question about it.
async fn held(door: &Served, id: u32) -> (TcpStream, Option<Value>) {
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    let request = door.request("POST", &[("Mcp-Session-Id", "s-1")], &call(id, "held"));
    stream.write_all(&request).await.unwrap();
    let mut read = Vec::new();
    let mut piece = [0; 4_096];
    loop {
        let count = tokio::time::timeout(Duration::from_secs(1), stream.read(&mut piece));
        match count.await {
            Ok(count) => read.extend_from_slice(&piece[..count.unwrap()]),
            Err(_) => return (stream, None),
        }
        let text = String::from_utf8_lossy(&read).into_owned();
        let data = text.lines().find_map(|line| line.strip_prefix("data: "));
        if let Some(question) = data.and_then(|data| serde_json::from_str(data).ok()) {
            return (stream, Some(question));
        }
    }
}

#[tokio::test]
async fn a_client_is_asked_about_a_held_call_where_its_rule_takes_its_word() {
    let (policy, seen) = serve().await;
    let rule = "rules: [{id: holds, tool: echo, effect: require_approval, ways: [elicitation]}]\n";
    let directory = crate::stand::fresh_directory();
    std::fs::create_dir_all(&directory).unwrap();
    let words = ["--approver", "Grace"];
    let door = Served::started(&format!("{policy}{rule}"), directory, &words);
    let asks = r#""capabilities":{"elicitation":{}}"#;
    let begun = INITIALIZE.replace(r#""capabilities":{}"#, asks);
    assert_eq!(door.post(None, &begun).await.status, 200);
    for (id, result, sent) in [
        (
            5,
            json!({"action": "accept", "content": {"approve": true}}),
            true,
        ),
        (6, json!({"action": "decline"}), false),
    ] {
        let (mut stream, question) = held(&door, id).await;
        let question = question.expect("a question");
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result}).to_string();
        // Outside its session nobody answers it.
        assert_eq!(door.post(None, &answer).await.status, 400);
        assert_eq!(door.post(Some("s-1"), &answer).await.status, 202);
        let mut rest = String::new();
        stream.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest.contains("-32003"), !sent, "{rest}");
        assert_eq!(rest.contains(r#""text":"held""#), sent, "{rest}");
    }
    let calls = seen.bodies("POST");
    let calls = calls.iter().filter(|body| body.contains("tools/call"));
    assert_eq!(calls.count(), 1, "the declined one never arrived");
    assert_eq!(door.events("released").len(), 1);
}

#[tokio::test]
async fn a_client_that_takes_no_questions_is_asked_none() {
    let (policy, _) = serve().await;
    let rule = "rules: [{id: holds, tool: echo, effect: require_approval, ways: [elicitation]}]\n";
    let directory = crate::stand::fresh_directory();
    std::fs::create_dir_all(&directory).unwrap();
    let door = Served::started(
        &format!("{policy}{rule}"),
        directory,
        &["--approver", "Grace"],
    );
    begin(&door).await;
    let answer = door.post(Some("s-1"), &call(5, "held")).await;
    let messages = messages(&answer);
    assert_eq!(messages[0]["error"]["code"], -32_002, "{answer:?}");
}
