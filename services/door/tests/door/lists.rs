//! Lists show exactly what would pass, and real clients read them.

use std::collections::HashMap;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, HeaderValue, header};
use rmcp::model::CallToolRequestParams;
use rmcp::service::ClientServiceExt as _;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::stand::{Stand, unpinned_policy};

const LIST: &str = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;

fn json(body: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

#[tokio::test]
async fn a_list_shows_what_would_pass_byte_for_byte() {
    let stand = Stand::new().await;
    let listed = stand.post().send(LIST).await;
    let names: Vec<_> = listed.json()["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["echo", "held_tool", "request_transfer"]);
    let direct = crate::server::definitions();
    let direct = direct.iter().find(|tool| tool.name == "echo").unwrap();
    assert!(
        listed
            .body
            .contains(&serde_json::to_string(direct).unwrap())
    );
}

#[tokio::test]
async fn the_definition_is_the_same_in_both_revisions() {
    let stand = Stand::new().await;
    let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{meta}}}"#);
    let newer = stand
        .post()
        .with("MCP-Protocol-Version", "2026-07-28")
        .with("Mcp-Method", "tools/list")
        .send(body)
        .await;
    let older = stand
        .post()
        .with("MCP-Protocol-Version", "2025-11-25")
        .send(LIST)
        .await;
    let tools = |answer: &crate::client::Answer| answer.json()["result"]["tools"].clone();
    assert_eq!(tools(&newer).as_array().unwrap().len(), 3);
    assert_eq!(tools(&newer), tools(&older));
    assert!(stand.events("definition_changed").is_empty());
}

#[tokio::test]
async fn a_list_that_can_be_read_two_ways_is_not_shown() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"echo"}],"tools":[{"name":"secret"}]}}"#,
        r#"{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"echo"}],"Tools":[{"name":"secret"}]}}"#,
        r#"{"jsonrpc":"2.0","id":"other","result":{"tools":[{"name":"echo"}]}}"#,
        r#"{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"echo","name":"secret"}]}}"#,
        r#"[{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"secret"}]}}]"#,
        r#"{"jsonrpc":"2.0","id":"l","result":{"tools":"echo"}}"#,
        "not json",
    ] {
        let stand = Stand::scripted(
            &unpinned_policy(),
            move |_| async move { json(answer.into()) },
        )
        .await;
        let listed = stand.post().send(LIST).await;
        assert_eq!(listed.status, 502, "{answer} {listed:?}");
        assert_eq!(listed.reason(), "unreadable_list");
        assert!(!listed.body.contains("secret"), "{listed:?}");
    }
}

#[tokio::test]
async fn a_tool_named_twice_is_neither_listed_nor_called() {
    let stand = Stand::scripted(&unpinned_policy(), |question| async move {
        let id = question["id"].clone();
        json(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"echo"}},{{"name":"echo","description":"other"}}]}}}}"#
        ))
    })
    .await;
    let listed = stand.post().send(LIST).await;
    assert_eq!(listed.json()["result"]["tools"], serde_json::json!([]));
    assert_eq!(
        stand.post().call("echo", "{}").await.reason(),
        "not_offered"
    );
}

#[tokio::test]
async fn a_list_in_events_is_cut_and_pages_are_walked() {
    let stand = Stand::scripted(&unpinned_policy(), |question| async move {
        let id = question["id"].clone();
        let body = match question["params"]["cursor"].as_str() {
            None => r#"{"tools":[{"name":"secret"}],"nextCursor":"2"}"#,
            Some(_) => r#"{"tools":[{"name":"echo"}]}"#,
        };
        let stream = format!(
            ": hello\n\nevent: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{body}}}\n\n"
        );
        ([(header::CONTENT_TYPE, "text/event-stream")], stream).into_response()
    })
    .await;
    let listed = stand.post().send(LIST).await;
    assert!(listed.head.contains("text/event-stream"), "{listed:?}");
    assert!(
        listed.body.contains(r#""tools":[],"nextCursor":"2""#),
        "{listed:?}"
    );
    assert!(!listed.body.contains("secret"), "{listed:?}");
    // The door itself walks every page before it lets a call pass.
    let called = stand.post().call("echo", "{}").await;
    assert_eq!(called.status, 200, "{called:?}");
    assert_eq!(stand.server.behaviour.seen("tools/list").len(), 3);
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), 1);
}

#[tokio::test]
async fn resources_and_prompts_nobody_may_read_are_not_listed() {
    let stand = Stand::scripted(&unpinned_policy(), |question| async move {
        let id = question["id"].clone();
        let member = match question["method"].as_str() {
            Some("resources/list") => "resources",
            Some("resources/templates/list") => "resourceTemplates",
            _ => "prompts",
        };
        json(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"{member}":[{{"name":"inbox","uri":"a:b"}}]}}}}"#
        ))
    })
    .await;
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        let listed = stand.post().send(&body).await;
        assert!(listed.json()["result"].is_object(), "{listed:?}");
        assert!(!listed.body.contains("inbox"), "{method} {listed:?}");
    }
}

#[tokio::test]
async fn no_call_passes_while_the_list_cannot_be_read() {
    let stand = Stand::scripted(&unpinned_policy(), |question| async move {
        match question["method"].as_str() {
            Some("tools/list") => http::StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            _ => json(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.into()),
        }
    })
    .await;
    let answer = stand.post().call("echo", "{}").await;
    assert_eq!(answer.reason(), "definitions_unavailable", "{answer:?}");
    assert!(stand.server.behaviour.seen("tools/call").is_empty());
}

/// The client the assistant uses, in both of its ways to begin.
#[tokio::test]
async fn a_real_client_lists_and_calls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let stand = Stand::new().await;
    for lifecycle in [
        rmcp::service::ClientLifecycleMode::Initialize,
        rmcp::service::ClientLifecycleMode::Discover {
            preferred_versions: vec![rmcp::model::ProtocolVersion::V_2026_07_28],
        },
    ] {
        let name = HeaderName::from_static("countersign-session");
        let token = HeaderValue::from_str(&stand.token(1)).unwrap();
        let url = format!("http://{}/mcp", stand.door.address);
        let config = StreamableHttpClientTransportConfig::with_uri(url)
            .custom_headers(HashMap::from([(name, token)]));
        let transport = StreamableHttpClientTransport::from_config(config);
        let client = ().serve_with_lifecycle(transport, lifecycle).await.unwrap();
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), 3);
        let arguments = serde_json::json!({"text": "hello"})
            .as_object()
            .cloned()
            .unwrap();
        let call = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = client.call_tool(call).await.unwrap();
        assert!(format!("{result:?}").contains("hello"), "{result:?}");
        let refused = client.call_tool(CallToolRequestParams::new("secret")).await;
        assert!(format!("{:?}", refused.unwrap_err()).contains("-32001"));
        client.cancel().await.unwrap();
    }
}
