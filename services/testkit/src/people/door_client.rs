//! The agent's way to the bank: MCP calls to the door, made by hand so that a test can send anything.

use anyhow::Context;
use serde_json::{Value, json};

/// The revision these calls speak.
const REVISION: &str = "2026-07-28";

/// A client of the door at one address.
#[derive(Clone, Debug)]
pub struct DoorClient {
    http: reqwest::Client,
    url: String,
}

/// What came back for a call.
#[derive(Clone, Debug)]
pub struct ToolAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The whole JSON-RPC answer; null where the body is none.
    pub body: Value,
}

impl ToolAnswer {
    /// The tool's structured content, where the call came through and ran.
    #[must_use]
    pub fn content(&self) -> &Value {
        &self.body["result"]["structuredContent"]
    }

    /// Whether the tool ran and did what it was asked.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.body["result"].is_object() && self.body["result"]["isError"] != json!(true)
    }

    /// The code the tool refused with, or the door's error code as text, or the status.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        if self.succeeded() {
            return None;
        }
        if let Some(code) = self.content()["code"].as_str() {
            return Some(code.to_owned());
        }
        if let Some(code) = self.body["error"]["code"].as_i64() {
            return Some(code.to_string());
        }
        Some(format!("HTTP {}", self.status))
    }
}

impl DoorClient {
    /// A client of `origin`, such as `http://127.0.0.1:8482`.
    #[must_use]
    pub fn new(http: reqwest::Client, origin: &str) -> Self {
        Self {
            http,
            url: format!("{origin}/mcp"),
        }
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// When nothing answers.
    pub async fn call(
        &self,
        session_token: &str,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<ToolAnswer> {
        let body = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": tool,
                "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": REVISION,
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        });
        self.send(session_token, "tools/call", Some(tool), body.to_string())
            .await
    }

    /// Sends a body as it is.
    ///
    /// # Errors
    /// When nothing answers.
    pub async fn send(
        &self,
        session_token: &str,
        method: &str,
        name: Option<&str>,
        body: impl Into<reqwest::Body>,
    ) -> anyhow::Result<ToolAnswer> {
        let mut request = self
            .http
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", method)
            .header("countersign-session", session_token);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        let response = request
            .body(body.into())
            .send()
            .await
            .context("call the door")?;
        let status = response.status().as_u16();
        let text = response.text().await?;
        Ok(ToolAnswer {
            status,
            body: read_answer(&text),
        })
    }
}

/// A JSON answer, or the last event of a stream of them.
fn read_answer(text: &str) -> Value {
    serde_json::from_str(text)
        .ok()
        .or_else(|| {
            text.lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .filter_map(|data| serde_json::from_str::<Value>(data).ok())
                .rfind(|value| value.get("id").is_some())
        })
        .unwrap_or(Value::Null)
}
