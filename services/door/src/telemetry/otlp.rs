//! Spans as a collector takes them: OTLP over HTTP, in JSON.
//!
//! The protocol's own libraries bring a client, a runtime of their own and a second serialiser; what
//! is sent here is one shape of JSON (OTLP 1.x, "JSON Protobuf Encoding": ids in hexadecimal,
//! 64-bit numbers as text, enums as numbers).

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::spans::Ended;

/// A span of the kind that answers somebody's request.
const KIND_SERVER: u8 = 2;
/// The code of a span that went wrong.
const STATUS_ERROR: u8 = 2;

/// The body of one export.
pub fn body(ended: &[Ended]) -> Value {
    let spans: Vec<Value> = ended.iter().map(span).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": [
            text("service.name", "countersign-door"),
            text("service.version", env!("CARGO_PKG_VERSION")),
        ]},
        "scopeSpans": [{
            "scope": {"name": "countersign-door", "version": env!("CARGO_PKG_VERSION")},
            "spans": spans,
        }],
    }]})
}

fn span(ended: &Ended) -> Value {
    let span = &ended.span;
    let name = match &span.tool {
        Some(tool) => format!("{} {tool}", span.method),
        None => span.method.to_string(),
    };
    let mut attributes = vec![
        text("mcp.method.name", &span.method),
        text("countersign.server", &span.server),
        text("countersign.decision", span.decision),
        text("countersign.reason", &span.reason),
        text("countersign.rule", &span.rule),
        text("countersign.outcome", ended.outcome),
        text("countersign.receipt", &span.receipt),
    ];
    attributes.extend(
        span.tool
            .as_ref()
            .map(|tool| text("gen_ai.tool.name", tool)),
    );
    let mut told = json!({
        "traceId": hex::encode(span.trace),
        "spanId": hex::encode(span.id),
        "name": name,
        "kind": KIND_SERVER,
        "startTimeUnixNano": nanoseconds(span.began),
        "endTimeUnixNano": nanoseconds(ended.at),
        "attributes": attributes,
        "status": {},
    });
    if let Some(parent) = span.parent {
        told["parentSpanId"] = hex::encode(parent).into();
    }
    if ended.outcome == "failed" {
        told["status"] = json!({"code": STATUS_ERROR});
    }
    told
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn nanoseconds(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}
