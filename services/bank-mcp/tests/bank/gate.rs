//! What never reaches a tool.

use axum::{body::Body, http::Request};
use serde_json::json;

use crate::door::{Door, HOST, Turn, call_body, request};

fn list_accounts() -> Vec<u8> {
    call_body("list_accounts", &json!({}))
}

#[tokio::test]
async fn health_answers_without_a_token() {
    let health = Request::get("/health")
        .header("host", HOST)
        .body(Body::empty())
        .unwrap();
    assert_eq!(Door::without_database().send(health).await.status, 200);
}

#[tokio::test]
async fn a_call_that_did_not_come_through_the_door_is_refused() {
    let door = Door::without_database();
    let answer = door.send(request(&[], list_accounts())).await;
    assert_eq!(answer.status, 401);
    assert_eq!(answer.json()["code"], "unauthorized");
    let other = Door::without_database();
    let foreign = other.sign(&other.claims(&Turn::unknown(), &list_accounts()));
    for headers in [
        vec![("countersign-request", "")],
        vec![("countersign-request", "a.b.c")],
        vec![("countersign-request", foreign.as_str())],
        vec![("authorization", foreign.as_str())],
        vec![("countersign-session", foreign.as_str())],
    ] {
        let answer = door.send(request(&headers, list_accounts())).await;
        assert_eq!(answer.status, 401, "{headers:?}");
    }
}

#[tokio::test]
async fn every_method_needs_the_token() {
    let door = Door::without_database();
    for method in [
        "tools/list",
        "initialize",
        "server/discover",
        "ping",
        "resources/list",
        "x/y",
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}});
        let answer = door.send(request(&[], body.to_string().into_bytes())).await;
        assert_eq!(answer.status, 401, "{method}");
    }
    let notification = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(
        door.send(request(&[], notification.to_vec())).await.status,
        401
    );
}

#[tokio::test]
async fn a_token_is_good_for_its_own_bytes_path_and_time() {
    let door = Door::without_database();
    let turn = Turn::unknown();
    let body = list_accounts();
    let good = door.claims(&turn, &body);
    // A good one passes the gate: what answers then is the tool, for which no connection is ever free here.
    let token = door.sign(&good);
    let answer = door
        .send(request(&[("countersign-request", &token)], body.clone()))
        .await;
    assert_eq!(answer.refusal(), "busy");

    let mut other_bytes = body.clone();
    other_bytes.push(b' ');
    let answer = door
        .send(request(&[("countersign-request", &token)], other_bytes))
        .await;
    assert_eq!(answer.status, 401);

    let mut path = good.clone();
    path.path = "/other".to_owned();
    let mut method = good.clone();
    method.method = "GET".to_owned();
    let mut old = good.clone();
    old.issued_at -= 60;
    let mut early = good.clone();
    early.issued_at += 60;
    for (name, claims) in [
        ("path", path),
        ("method", method),
        ("old", old),
        ("early", early),
    ] {
        let token = door.sign(&claims);
        let answer = door
            .send(request(&[("countersign-request", &token)], body.clone()))
            .await;
        assert_eq!(answer.status, 401, "{name}");
    }
}

#[tokio::test]
async fn two_tokens_are_as_good_as_none() {
    let door = Door::without_database();
    let body = list_accounts();
    let token = door.sign(&door.claims(&Turn::unknown(), &body));
    let twice = [
        ("countersign-request", token.as_str()),
        ("countersign-request", token.as_str()),
    ];
    assert_eq!(door.send(request(&twice, body)).await.status, 401);
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_first() {
    let door = Door::without_database();
    for host in [
        "evil.example.com",
        "127.0.0.1:8483",
        "bank.test",
        "bank.test:8484",
    ] {
        let request = Request::post("/mcp")
            .header("host", host)
            .body(Body::empty())
            .unwrap();
        assert_eq!(door.send(request).await.status, 403, "{host}");
    }
    for origin in [
        "http://evil.example",
        "null",
        "http://door.test.evil.example",
        "http://door.test:1",
    ] {
        let answer = door
            .send(request(&[("origin", origin)], list_accounts()))
            .await;
        assert_eq!(answer.status, 403, "{origin}");
    }
}

#[tokio::test]
async fn only_post_is_answered() {
    let door = Door::without_database();
    for method in ["GET", "DELETE", "PUT", "OPTIONS"] {
        let request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", HOST)
            .body(Body::empty())
            .unwrap();
        assert_eq!(door.send(request).await.status, 405, "{method}");
    }
}

#[tokio::test]
async fn a_repeated_steering_header_is_refused() {
    let door = Door::without_database();
    for name in ["mcp-protocol-version", "content-type"] {
        let answer = door
            .send(request(&[(name, "1999-01-01")], list_accounts()))
            .await;
        assert_eq!(answer.status, 400, "{name}");
        assert_eq!(answer.json()["code"], "repeated_header");
    }
}

#[tokio::test]
async fn a_message_that_two_readers_would_read_differently_is_refused_before_the_token() {
    let door = Door::without_database();
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"request_transfer","arguments":{arguments}}}}}"#
        )
    };
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let many = format!(
        "{{{}}}",
        (0..5000)
            .map(|n| format!("\"k{n}\":1"))
            .collect::<Vec<_>>()
            .join(",")
    );
    let rows: Vec<(&str, Vec<u8>, i64)> = vec![
        (
            "duplicate key",
            call(r#"{"amount":5,"\u0061mount":99999}"#).into(),
            -32_700,
        ),
        (
            "lone surrogate",
            call(r#"{"payee":"\ud800"}"#).into(),
            -32_700,
        ),
        (
            "bad utf-8",
            [call("{}").as_bytes(), &[0xc3, 0x28]].concat(),
            -32_700,
        ),
        ("too deep", call(&deep).into(), -32_700),
        ("too many keys", call(&many).into(), -32_700),
        (
            "trailing bytes",
            [call("{}"), call("{}")].concat().into(),
            -32_700,
        ),
        ("NUL", call(r#"{"payee":"A\u0000l"}"#).into(), -32_700),
        (
            "raw line feed",
            call("{\"payee\":\"a\nb\"}").into(),
            -32_700,
        ),
        ("NaN", call(r#"{"amount":NaN}"#).into(), -32_700),
        (
            "endless number",
            call(r#"{"amount":1e400}"#).into(),
            -32_700,
        ),
        ("batch", format!("[{}]", call("{}")).into(), -32_600),
        (
            "case fold",
            call("{}")
                .replace(r#""name""#, r#""name":"x","Name""#)
                .into(),
            -32_600,
        ),
        (
            "null id",
            call("{}").replace(r#""id":7"#, r#""id":null"#).into(),
            -32_600,
        ),
        (
            "fraction id",
            call("{}").replace(r#""id":7"#, r#""id":1.5"#).into(),
            -32_600,
        ),
        (
            "no id",
            call("{}").replace(r#""id":7,"#, "").into(),
            -32_600,
        ),
        (
            "json-rpc 1.0",
            call("{}").replace("2.0", "1.0").into(),
            -32_600,
        ),
        (
            "an answer",
            br#"{"jsonrpc":"2.0","id":7,"result":{}}"#.to_vec(),
            -32_600,
        ),
        ("arguments array", call(r#"[5000,"Al"]"#).into(), -32_602),
        (
            "no name",
            br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#.to_vec(),
            -32_602,
        ),
    ];
    for (name, body, code) in rows {
        let answer = door.send(request(&[], body)).await;
        assert_eq!(answer.status, 400, "{name}: {}", answer.text);
        assert_eq!(
            answer.json()["error"]["code"],
            code,
            "{name}: {}",
            answer.text
        );
    }
}

#[tokio::test]
async fn an_error_is_answered_under_the_id_as_it_was_written() {
    let door = Door::without_database();
    for id in ["7", "\"seven\"", "9007199254740991"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{}}}}"#);
        let answer = door.send(request(&[], body.into_bytes())).await;
        assert!(
            answer.text.contains(&format!("\"id\":{id},")),
            "{}",
            answer.text
        );
    }
}

#[tokio::test]
async fn a_long_message_is_refused() {
    let door = Door::without_database();
    let answer = door.send(request(&[], vec![b' '; 70_000])).await;
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn only_json_is_read() {
    let door = Door::without_database();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
    ] {
        let mut request = request(&[], list_accounts());
        request
            .headers_mut()
            .insert("content-type", kind.parse().unwrap());
        let answer = door.send(request).await;
        assert_eq!(answer.status, 415, "{kind}");
        assert_eq!(answer.json()["code"], "unsupported_media_type");
    }
}
