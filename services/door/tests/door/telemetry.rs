//! What a door tells about itself: numbers and spans, and nothing of a call.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use serde_json::{Value, json};

use crate::client::raw;
use crate::piped::{policy, server_program};
use crate::served::Served;

const SECRET: &str = "the-value-of-an-argument";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn with_program(more: &str) -> String {
    let command = format!("toy: {{command: ['{}'], env:", server_program().display());
    policy(more).replace("toy: {env:", &command)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn call(tool: &str, meta: &Value) -> String {
    let mut meta = meta.clone();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "t", "version": "1"});
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": {"text": SECRET}, "_meta": meta}})
    .to_string()
}

async fn ask(door: &Served, tool: &str, meta: &Value) -> String {
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    door.ask("POST", &headers, &call(tool, meta)).await.body
}

/// The value of a sample whose line begins like this.
fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn numbers_are_counted_and_hold_nothing_of_a_call() {
    let port = free_port();
    let screening = "redaction: {}\n";
    let arguments = ["--metrics-port".to_owned(), port.to_string()];
    let door = Served::with_arguments(&with_program(screening), &arguments);
    let address = format!("127.0.0.1:{port}").parse().unwrap();
    assert!(ask(&door, "echo", &json!({})).await.contains(SECRET));
    assert!(ask(&door, "echo", &json!({})).await.contains(SECRET));
    assert!(
        ask(&door, "transfer_money", &json!({}))
            .await
            .contains("-32001")
    );
    let get = |host: &str| {
        format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").into_bytes()
    };
    let since = Instant::now();
    let told = loop {
        let told = raw(address, &get(&format!("127.0.0.1:{port}"))).await;
        // The end of a call is told when the client has its answer.
        if sample(&told.body, "countersign_door_calls_in_flight") == 0.0 {
            break told;
        }
        assert!(since.elapsed() < Duration::from_secs(10), "{told:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(
        told.head.contains("application/openmetrics-text"),
        "{told:?}"
    );
    let text = &told.body;
    let allowed =
        "countersign_door_decisions_total{outcome=\"allowed\",reason=\"allowed\",server=\"toy\"}";
    assert_eq!(sample(text, allowed), 2.0, "{text}");
    let denied: f64 = text
        .lines()
        .filter(|line| line.starts_with("countersign_door_decisions_total{outcome=\"denied\""))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap())
        .sum();
    assert_eq!(denied, 1.0, "{text}");
    let answered = "countersign_door_call_seconds_count{outcome=\"answered\",server=\"toy\"}";
    assert!(sample(text, answered) >= 2.0, "{text}");
    assert!(sample(text, "countersign_door_decision_seconds_count") >= 3.0);
    assert_eq!(
        sample(text, "countersign_door_server_up{server=\"toy\"}"),
        1.0
    );
    assert_eq!(sample(text, "countersign_door_record_failures_total"), 0.0);
    assert!(text.contains("countersign_door_policy_info{id=\"pipes\",sha256=\""));
    assert!(
        !text.contains(SECRET) && !text.contains("transfer_money"),
        "{text}"
    );
    for host in ["evil.example.com", &format!("evil.example.com:{port}")] {
        assert_eq!(raw(address, &get(host)).await.status, 403, "{host}");
    }
}

/// A collector, and the spans it got.
async fn collector() -> (String, Arc<Mutex<Vec<Value>>>) {
    let spans = Arc::new(Mutex::new(Vec::new()));
    let take = |State(spans): State<Arc<Mutex<Vec<Value>>>>, body: Bytes| async move {
        let body: Value = serde_json::from_slice(&body).unwrap();
        let got = body["resourceSpans"][0]["scopeSpans"][0]["spans"].clone();
        spans
            .lock()
            .unwrap()
            .extend(got.as_array().unwrap().clone());
        "{}"
    };
    let router = Router::new()
        .route("/v1/traces", post(take))
        .with_state(Arc::clone(&spans));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, spans)
}

fn attribute<'s>(span: &'s Value, key: &str) -> Option<&'s str> {
    let attributes = span["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == key);
    found.and_then(|attribute| attribute["value"]["stringValue"].as_str())
}

#[tokio::test]
async fn a_call_is_a_span_of_its_callers_trace_and_holds_nothing_of_it() {
    let (url, spans) = collector().await;
    let door = Served::with_arguments(&with_program(""), &["--traces".to_owned(), url]);
    let parent = |flags: &str| json!({"traceparent": format!("00-{TRACE}-{PARENT}-{flags}")});
    // What names the trace reaches the server as it came.
    let seen = |body: &str| body.contains(TRACE);
    ask(&door, "echo", &parent("01")).await;
    assert!(seen(&ask(&door, "seen", &json!({})).await));
    ask(&door, "transfer_money", &parent("01")).await;
    ask(
        &door,
        "echo",
        &json!({"traceparent": format!("00-{}-{PARENT}-00", "a".repeat(32))}),
    )
    .await;
    let since = Instant::now();
    let of = |tool: &str| -> Vec<Value> {
        let spans = spans.lock().unwrap();
        let is = |span: &&Value| attribute(span, "gen_ai.tool.name") == Some(tool);
        spans.iter().filter(is).cloned().collect()
    };
    while of("transfer_money").is_empty() || of("echo").is_empty() || of("seen").is_empty() {
        assert!(since.elapsed() < Duration::from_secs(10), "{spans:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // What its beginner does not sample never comes.
    tokio::time::sleep(Duration::from_millis(800)).await;
    let (echo, denied, own) = (of("echo"), of("transfer_money"), of("seen"));
    assert_eq!(
        (echo.len(), denied.len(), own.len()),
        (1, 1, 1),
        "{spans:?}"
    );
    for span in [&echo[0], &denied[0]] {
        assert_eq!(
            (&span["traceId"], &span["parentSpanId"]),
            (&json!(TRACE), &json!(PARENT))
        );
        assert_eq!(attribute(span, "countersign.server"), Some("toy"));
        assert_eq!(
            attribute(span, "countersign.receipt").map(str::len),
            Some(64)
        );
    }
    assert_eq!(echo[0]["name"], "tools/call echo");
    assert_eq!(attribute(&echo[0], "countersign.decision"), Some("allowed"));
    assert_eq!(attribute(&echo[0], "countersign.outcome"), Some("answered"));
    assert_eq!(
        attribute(&denied[0], "countersign.decision"),
        Some("denied")
    );
    let leaf = attribute(&denied[0], "countersign.receipt").unwrap();
    assert!(
        door.events("denied").len() == 1 && leaf.chars().all(|digit| digit.is_ascii_hexdigit())
    );
    let nanoseconds =
        |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
    assert!(nanoseconds(&echo[0], "endTimeUnixNano") >= nanoseconds(&echo[0], "startTimeUnixNano"));
    assert_ne!(own[0]["traceId"], json!(TRACE), "a trace of its own");
    assert!(own[0].get("parentSpanId").is_none());
    assert!(!format!("{:?}", spans.lock().unwrap()).contains(SECRET));
}

#[tokio::test]
async fn a_collector_that_is_not_there_holds_nobody_up() {
    let url = format!("http://127.0.0.1:{}/v1/traces", free_port());
    let door = Served::with_arguments(&with_program(""), &["--traces".to_owned(), url]);
    let since = Instant::now();
    for _ in 0..20 {
        assert!(ask(&door, "echo", &json!({})).await.contains(SECRET));
    }
    assert!(since.elapsed() < Duration::from_secs(10));
}
