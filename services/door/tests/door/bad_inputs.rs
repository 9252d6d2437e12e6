//! Broken and hostile requests: each is refused with its code, and none reaches the server.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::client::{call, raw};
use crate::stand::Stand;

/// Bodies, the status and the JSON-RPC code they are answered with.
fn bodies() -> Vec<(&'static str, Vec<u8>, u16, i64)> {
    let text = |name, body: &str, code| (name, body.as_bytes().to_vec(), 400, code);
    let with =
        |name, arguments: &str, code| (name, call("echo", arguments).into_bytes(), 400, code);
    let deep = format!(r#"{{"text":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    let keys: Vec<_> = (0..50_000)
        .map(|number| format!("\"k{number}\":0"))
        .collect();
    let many = format!("{{{}}}", keys.join(","));
    vec![
        with("argument twice", r#"{"text":"5","text":"99999"}"#, -32_700),
        with(
            "argument twice, one escaped",
            r#"{"text":"5","\u0074ext":"99999"}"#,
            -32_700,
        ),
        with(
            "argument in two cases",
            r#"{"text":"5","Text":"9"}"#,
            -32_600,
        ),
        text(
            "name twice",
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","name":"secret"}}"#,
            -32_700,
        ),
        text(
            "name in two cases",
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","Name":"secret"}}"#,
            -32_600,
        ),
        text(
            "method twice",
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}"#,
            -32_700,
        ),
        text(
            "params in a letter that folds",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"param\u{17f}\":{}}",
            -32_600,
        ),
        text("batch", &format!("[{}]", call("echo", "{}")), -32_600),
        text("empty batch", "[]", -32_600),
        text(
            "two documents",
            &format!("{}{}", call("echo", "{}"), call("echo", "{}")),
            -32_700,
        ),
        text(
            "garbage before",
            &format!("x\n{}", call("echo", "{}")),
            -32_700,
        ),
        text(
            "byte order mark",
            &format!("\u{feff}{}", call("echo", "{}")),
            -32_700,
        ),
        text("nothing", "", -32_700),
        text(
            "id null",
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32_600,
        ),
        text(
            "id a fraction",
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            -32_600,
        ),
        text(
            "id an object",
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            -32_600,
        ),
        text(
            "id beyond exact",
            r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}"#,
            -32_600,
        ),
        text(
            "older JSON-RPC",
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            -32_600,
        ),
        text(
            "an answer",
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            -32_600,
        ),
        text(
            "a call without id",
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}"#,
            -32_600,
        ),
        text(
            "no name",
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#,
            -32_602,
        ),
        text(
            "no params",
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#,
            -32_602,
        ),
        text(
            "a name that is no string",
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["echo"]}}"#,
            -32_602,
        ),
        text(
            "params by place",
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["echo"]}"#,
            -32_602,
        ),
        with("arguments by place", r#"[5000,"Al"]"#, -32_602),
        with("arguments null", "null", -32_602),
        with("lone surrogate", r#"{"text":"\ud800"}"#, -32_700),
        with("NUL", r#"{"text":"a\u0000b"}"#, -32_700),
        with("raw line feed", "{\"text\":\"a\nb\"}", -32_700),
        with("not a number", r#"{"text":NaN}"#, -32_700),
        with("infinite", r#"{"text":1e400}"#, -32_700),
        with("two hundred levels", &deep, -32_700),
        with("fifty thousand keys", &many, -32_700),
        (
            "invalid UTF-8",
            call("echo", "{\"text\":\"??\"}")
                .replace("??", "\u{1}\u{2}")
                .bytes()
                .map(|byte| match byte {
                    1 => 0xc3,
                    2 => 0x28,
                    other => other,
                })
                .collect(),
            400,
            -32_700,
        ),
    ]
}

#[tokio::test]
async fn malformed_messages_are_refused_whole() {
    let stand = Stand::new().await;
    let bodies = bodies();
    for (name, body, status, code) in &bodies {
        let start = Instant::now();
        let answer = stand.post().send(body).await;
        assert_eq!(
            (answer.status, answer.code()),
            (*status, Some(*code)),
            "{name}: {answer:?}"
        );
        assert!(start.elapsed() < Duration::from_secs(3), "{name}");
        assert!(answer.body.len() < 1_000, "{name} echoes: {answer:?}");
    }
    assert!(stand.server.behaviour.all().is_empty());
    assert_eq!(stand.events("denied").len(), bodies.len());
    assert!(stand.events("allowed").is_empty());
    // Without a token they are answered alike, and nobody's record grows.
    for (name, body, status, code) in &bodies {
        let answer = stand.post().without("Countersign-Session").send(body).await;
        let expected = if *code == -32_602 && !name.starts_with("params") || *name == "an answer" {
            (401, None)
        } else {
            (*status, Some(*code))
        };
        assert_eq!((answer.status, answer.code()), expected, "{name}");
    }
    assert_eq!(stand.events("denied").len(), bodies.len());
}

#[tokio::test]
async fn an_id_comes_back_with_the_type_it_had() {
    let stand = Stand::new().await;
    for id in ["101", "\"101\"", "-1", "\"a\\u0062\""] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x/private"}}"#);
        let answer = stand.post().send(&body).await;
        assert!(answer.body.contains(&format!("\"id\":{id},")), "{answer:?}");
    }
}

#[tokio::test]
async fn requests_for_other_hosts_from_other_pages_and_of_other_kinds_are_refused() {
    let stand = Stand::new().await;
    let good = stand.post();
    let port = stand.door.address.port();
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let method = ("Mcp-Method", "tools/call");
    for (name, post, status, code) in [
        (
            "foreign host",
            good.clone().set("Host", "evil.example.com"),
            403,
            None,
        ),
        (
            "host without port",
            good.clone().set("Host", "127.0.0.1"),
            403,
            None,
        ),
        ("no host", good.clone().without("Host"), 403, None),
        (
            "two hosts",
            good.clone().with("Host", "evil.example.com"),
            403,
            None,
        ),
        (
            "foreign origin",
            good.clone().with("Origin", "http://evil.example.com"),
            403,
            None,
        ),
        (
            "opaque origin",
            good.clone().with("Origin", "null"),
            403,
            None,
        ),
        (
            "look-alike origin",
            good.clone()
                .with("Origin", "http://good.example.evil.example"),
            403,
            None,
        ),
        (
            "origin with a user",
            good.clone()
                .with("Origin", "http://good.example@evil.example"),
            403,
            None,
        ),
        (
            "other port",
            good.clone().with("Origin", "http://good.example:1"),
            403,
            None,
        ),
        (
            "other scheme",
            good.clone().with("Origin", "https://good.example"),
            403,
            None,
        ),
        (
            "plain text",
            good.clone().set("Content-Type", "text/plain"),
            415,
            None,
        ),
        ("no type", good.clone().without("Content-Type"), 415, None),
        (
            "two types",
            good.clone().with("Content-Type", "text/plain"),
            415,
            None,
        ),
        (
            "compressed",
            good.clone().with("Content-Encoding", "gzip"),
            415,
            None,
        ),
        (
            "two versions",
            good.clone()
                .with(version.0, version.1)
                .with(version.0, "1999-01-01"),
            400,
            Some(-32_020),
        ),
        (
            "unknown version",
            good.clone().with(version.0, "1999-01-01"),
            400,
            Some(-32_022),
        ),
        (
            "other name in the header",
            good.clone()
                .with(version.0, version.1)
                .with(method.0, method.1)
                .with("Mcp-Name", "secret"),
            400,
            Some(-32_020),
        ),
        (
            "no name in the header",
            good.clone()
                .with(version.0, version.1)
                .with(method.0, method.1),
            400,
            Some(-32_020),
        ),
        (
            "two names in the header",
            good.clone()
                .with("Mcp-Name", "echo")
                .with("Mcp-Name", "echo"),
            400,
            Some(-32_020),
        ),
    ] {
        let answer = post.call("echo", "{}").await;
        assert_eq!(
            (answer.status, answer.code()),
            (status, code),
            "{name}: {answer:?}"
        );
    }
    for method in ["GET", "DELETE", "PUT"] {
        let mut post = good.clone();
        post.method = method;
        let answer = post.send("").await;
        assert_eq!(answer.status, 405, "{method} {answer:?}");
        assert!(answer.head.contains("allow: post"), "{answer:?}");
    }
    assert!(stand.server.behaviour.all().is_empty());
    assert!(stand.events("allowed").is_empty());
    let allowed = good
        .with("Origin", "http://good.example")
        .call("echo", "{}")
        .await;
    assert_eq!(allowed.status, 200, "on port {port}: {allowed:?}");
}

#[tokio::test]
async fn broken_framing_is_refused_and_smuggles_nothing() {
    let stand = Stand::new().await;
    let body = call("echo", "{}");
    let bytes = String::from_utf8(stand.post().bytes(body.as_bytes())).unwrap();
    let two_lengths = bytes.replacen(
        "Content-Length:",
        "Transfer-Encoding: chunked\r\nContent-Length:",
        1,
    );
    let answer = raw(stand.door.address, two_lengths.as_bytes()).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    let folded = stand
        .post()
        .with("Mcp-Param-Payee", "a\r\nX-Customer: 2")
        .bytes(body.as_bytes());
    raw(stand.door.address, &folded).await;
    let seen = stand.server.behaviour.all();
    assert!(
        seen.iter()
            .all(|seen| !seen.headers.contains_key("x-customer"))
    );
    let encoded = stand.post().with("Mcp-Param-Payee", "a%0d%0aX-Customer: 2");
    assert_eq!(encoded.call("echo", "{}").await.status, 200);
    let seen = stand.server.behaviour.seen("tools/call");
    assert!(
        seen.iter()
            .all(|seen| !seen.headers.contains_key("x-customer"))
    );
}

#[tokio::test]
async fn a_message_too_long_is_refused_before_it_is_read() {
    let stand = Stand::new().await;
    let mut head = stand.post().bytes(b"");
    let text = String::from_utf8(head).unwrap();
    head = text
        .replace("Content-Length: 0", "Content-Length: 2000000000")
        .into_bytes();
    let answer = raw(stand.door.address, &head).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    let long = call("echo", &format!(r#"{{"text":"{}"}}"#, "a".repeat(1 << 20)));
    let answer = stand.post().send(long).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    assert!(stand.server.behaviour.all().is_empty());
}

#[tokio::test]
async fn clients_that_drip_or_only_connect_hold_nobody_up() {
    let stand = Stand::new().await;
    let mut idle = Vec::new();
    for _ in 0..2_000 {
        let mut stream = TcpStream::connect(stand.door.address).await.unwrap();
        stream
            .write_all(b"POST /mcp HTTP/1.1\r\nHost: ")
            .await
            .unwrap();
        idle.push(stream);
    }
    let start = Instant::now();
    assert_eq!(stand.post().call("echo", "{}").await.status, 200);
    let head = format!(
        "GET /health HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        stand.door.address
    );
    let health = raw(stand.door.address, head.as_bytes()).await;
    assert_eq!(health.body, r#"{"status":"ok"}"#);
    assert!(start.elapsed() < Duration::from_secs(2));
}
