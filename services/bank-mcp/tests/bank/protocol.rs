//! Both eras of the protocol.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::{
    bank::Bank,
    door::{HOST, Turn},
};

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

fn new_era(
    bank: &Bank,
    turn: &Turn,
    method: &str,
    name: Option<&str>,
    mut params: Value,
) -> Request<Body> {
    params["_meta"] = meta();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let token = bank.door.sign(&bank.door.claims(turn, body.as_bytes()));
    let mut request = Request::post("/mcp")
        .header("host", HOST)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .header("countersign-request", token);
    if let Some(name) = name {
        request = request.header("mcp-name", name);
    }
    request.body(Body::from(body)).unwrap()
}

#[tokio::test]
async fn the_stateless_era_discovers_lists_and_calls() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "hello").await;
    let discovered = bank
        .door
        .send(new_era(&bank, &ada, "server/discover", None, json!({})))
        .await
        .json();
    let versions = &discovered["result"]["supportedVersions"];
    assert!(
        versions.as_array().unwrap().contains(&json!("2026-07-28")),
        "{discovered}"
    );
    assert!(
        versions.as_array().unwrap().contains(&json!("2025-11-25")),
        "{discovered}"
    );

    let list = bank
        .door
        .send(new_era(&bank, &ada, "tools/list", None, json!({})))
        .await
        .json();
    let result = &list["result"];
    assert_eq!(result["resultType"], "complete", "{list}");
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].is_u64());
    assert_eq!(result["tools"][0]["name"], "list_accounts");
    assert!(result.get("nextCursor").is_none());
    let legacy = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let legacy = bank.door.post(&ada, legacy.to_vec()).await.json();
    assert_eq!(
        result["tools"], legacy["result"]["tools"],
        "one pin fits both"
    );

    let call = json!({"name": "list_accounts", "arguments": {}});
    let answer = bank
        .door
        .send(new_era(
            &bank,
            &ada,
            "tools/call",
            Some("list_accounts"),
            call.clone(),
        ))
        .await;
    let answer = answer.json();
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(
        answer["result"]["structuredContent"]["accounts"][0]["balance"],
        "1240.50"
    );

    let mismatch = bank
        .door
        .send(new_era(
            &bank,
            &ada,
            "tools/call",
            Some("get_balance"),
            call.clone(),
        ))
        .await;
    assert_eq!(
        (mismatch.status.as_u16(), &mismatch.json()["error"]["code"]),
        (400, &json!(-32020))
    );
    let nameless = bank
        .door
        .send(new_era(&bank, &ada, "tools/call", None, call))
        .await;
    assert_eq!(
        (nameless.status.as_u16(), &nameless.json()["error"]["code"]),
        (400, &json!(-32020))
    );
}

#[tokio::test]
async fn the_session_era_initialises_lists_and_calls() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "hello").await;
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let answer = bank.door.post(&ada, initialize.to_string()).await;
    assert_eq!(
        answer.json()["result"]["protocolVersion"],
        "2025-11-25",
        "{}",
        answer.text
    );
    assert_eq!(
        answer.json()["result"]["serverInfo"]["name"],
        "countersign-bank"
    );
    let initialized = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(bank.door.post(&ada, initialized.to_vec()).await.status, 202);
    let list = bank
        .door
        .post(
            &ada,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_vec(),
        )
        .await
        .json();
    let served = list["result"]["tools"].as_array().unwrap().clone();
    let expected: Vec<Value> = countersign_bank_mcp::router::definitions()
        .iter()
        .map(|tool| serde_json::to_value(tool).unwrap())
        .collect();
    assert_eq!(served, expected);
    let answer = bank.door.call(&ada, "list_accounts", json!({})).await;
    let content = answer.content();
    assert_eq!(content["accounts"][0]["balance"], "1240.50");
    let text: Value = serde_json::from_str(
        answer.json()["result"]["content"][0]["text"]
            .as_str()
            .unwrap(),
    )
    .unwrap();
    assert_eq!(text, content);
}

#[tokio::test]
async fn what_the_bank_does_not_offer_is_an_error() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "hello").await;
    for method in [
        "resources/list",
        "prompts/list",
        "completion/complete",
        "logging/setLevel",
        "x/y",
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}});
        let answer = bank.door.post(&ada, body.to_string()).await;
        let offered = answer.text.contains("\"result\"");
        let empty = answer.text.contains("[]");
        assert!(!offered || empty, "{method}: {}", answer.text);
    }
    let unknown = bank
        .door
        .call(&ada, "cancel_request", json!({}))
        .await
        .json();
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[tokio::test]
async fn a_refusal_is_typed_and_quotes_no_parser() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "hello").await;
    for (method, params) in [
        ("tools/list", json!({"cursor": "2"})),
        ("initialize", json!({})),
        (
            "initialize",
            json!({"protocolVersion": 7, "capabilities": [], "clientInfo": "x"}),
        ),
        (
            "tools/call",
            json!({"name": "list_accounts", "arguments": {}, "_meta": 5}),
        ),
        ("tools/call", json!({"name": "no_such_tool"})),
        ("resources/read", json!({"uri": 5})),
        ("x/y", json!({})),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": "a-1", "method": method, "params": params});
        let answer = bank.door.post(&ada, body.to_string()).await;
        let json = answer.json();
        assert!(json["error"]["code"].is_i64(), "{method}: {json}");
        assert_eq!(json["id"], "a-1", "{method}: {json}");
        for internal in [
            "deserialize",
            "serde",
            "variant",
            "line 1",
            "rmcp",
            "expected",
        ] {
            assert!(!answer.text.contains(internal), "{method}: {json}");
        }
    }
}

#[tokio::test]
async fn a_client_that_takes_no_answer_gets_none() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "hello").await;
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_vec();
    let token = bank.door.sign(&bank.door.claims(&ada, &body));
    let mut request = crate::door::request(&[("countersign-request", &token)], body);
    request
        .headers_mut()
        .insert("accept", "text/html".parse().unwrap());
    let answer = bank.door.send(request).await;
    assert_eq!(answer.status, 406);
    assert_eq!(answer.json()["code"], "not_acceptable");
}
