//! The way to the door: one MCP connection a turn, with the turn's own token.

use std::{collections::HashMap, sync::Arc, time::Duration};

use countersign_domain::Secret;
use countersign_models::{Answer, ToolDefinition};
use http::{HeaderName, HeaderValue};
use rmcp::{
    RoleClient,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
        JsonObject, ProtocolVersion,
    },
    service::{
        ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService, ServiceError,
    },
    transport::{
        DynamicTransportError, StreamableHttpClientTransport,
        common::client_side_sse::NeverRetry,
        streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError},
    },
};
use serde_json::{Value, json};

use crate::limits;

const SESSION_HEADER: HeaderName = HeaderName::from_static("countersign-session");

/// Why a turn could not be taken to the door.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// The token cannot stand in a header.
    #[error("open a connection to the door: the token has an impossible form")]
    Token,
    /// It said no: to the token, or to what was asked.
    #[error("open a connection to the door: it refused")]
    Refused,
    /// It cannot be reached or does not answer in time.
    #[error("open a connection to the door: it does not answer")]
    Unavailable,
}

/// How to reach the door. Shared by all turns; holds no token.
#[derive(Debug, Clone)]
pub struct Door {
    http: reqwest::Client,
    url: Arc<str>,
}

/// One turn's connection. Dropping it ends what is under way.
pub struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
}

impl Door {
    /// Prepares the way.
    ///
    /// The client follows no redirect, uses no proxy of the environment and repeats nothing: the first two would
    /// carry the token elsewhere, the third would ask for a payment twice.
    ///
    /// # Errors
    /// When the client cannot be made.
    pub fn new(url: &str) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .connect_timeout(Duration::from_secs(3))
            .build()?;
        Ok(Self {
            http,
            url: url.into(),
        })
    }

    /// Connects with a turn's token.
    ///
    /// # Errors
    /// [`DoorError`].
    pub async fn connect(&self, session_token: &Secret) -> Result<Connection, DoorError> {
        let mut token =
            HeaderValue::from_str(session_token.expose()).map_err(|_| DoorError::Token)?;
        token.set_sensitive(true);
        let mut config = StreamableHttpClientTransportConfig::with_uri(Arc::clone(&self.url))
            .custom_headers(HashMap::from([(SESSION_HEADER, token)]))
            .reinit_on_expired_session(false)
            .max_json_response_size(4 * limits::ANSWER_BYTES_MAX)
            .max_sse_event_size(4 * limits::ANSWER_BYTES_MAX);
        config.retry_config = Arc::new(NeverRetry::default());
        let transport = StreamableHttpClientTransport::with_client(self.http.clone(), config);
        let us = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("countersign-agent", env!("CARGO_PKG_VERSION")),
        );
        // The stateless protocol first; a server that knows only the one with a handshake still works.
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let greeting = us.serve_with_lifecycle(transport, lifecycle);
        match tokio::time::timeout(limits::CONNECT_TIME_MAX, greeting).await {
            Ok(Ok(service)) => Ok(Connection { service }),
            Ok(Err(error)) => {
                let refused = greeting_was_refused(&error);
                tracing::warn!(refused, "The door did not greet back");
                Err(if refused {
                    DoorError::Refused
                } else {
                    DoorError::Unavailable
                })
            }
            Err(_) => Err(DoorError::Unavailable),
        }
    }
}

impl Connection {
    /// The tools that may be called.
    ///
    /// # Errors
    /// [`DoorError`].
    pub async fn tools(&self) -> Result<Vec<ToolDefinition>, DoorError> {
        let listing = self.service.peer().list_all_tools();
        let tools = tokio::time::timeout(limits::CONNECT_TIME_MAX, listing)
            .await
            .map_err(|_| DoorError::Unavailable)?
            .map_err(|error| match error {
                ServiceError::McpError(_) => DoorError::Refused,
                error if call_was_refused(&error) => DoorError::Refused,
                _ => DoorError::Unavailable,
            })?;
        Ok(tools
            .into_iter()
            .map(|tool| ToolDefinition {
                reads_only: tool
                    .annotations
                    .as_ref()
                    .and_then(|annotations| annotations.read_only_hint)
                    .unwrap_or(false),
                description: tool
                    .description
                    .map(|text| text.into_owned())
                    .unwrap_or_default(),
                input_schema: Value::Object(tool.input_schema.as_ref().clone()),
                name: tool.name.into_owned(),
            })
            .collect())
    }

    /// Makes one call, once. Whatever goes wrong becomes an answer that a model can act on.
    pub async fn call(&self, tool: &ToolDefinition, arguments: JsonObject) -> Answered {
        let params = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
        // The peer's call is a single one; the service's own would answer a server's questions by calling again.
        let calling = self.service.peer().call_tool(params);
        match tokio::time::timeout(limits::CALL_TIME_MAX, calling).await {
            Ok(Ok(result)) => return answer_of(result),
            Ok(Err(ServiceError::McpError(error))) => {
                tracing::info!(
                    tool = tool.name,
                    code = error.code.0,
                    "The door refused a call"
                );
                refused(
                    "door_refused",
                    "You may not do this. Tell the customer that it is not possible here.",
                )
            }
            Ok(Err(error)) if call_was_refused(&error) => {
                refused("turn_ended", "Stop. The customer's turn is over.")
            }
            Ok(Err(_)) | Err(_) if tool.reads_only => refused(
                "unavailable",
                "Tell the customer that the bank cannot answer now.",
            ),
            // Whether a request was prepared is not known, and asking again could prepare it twice.
            Ok(Err(_)) | Err(_) => refused(
                "unknown_outcome",
                "Do not send the request again. Tell the customer to look at the panel.",
            ),
        }
        .into()
    }
}

/// What came of a call, with the door's own label on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// Names of the screening rules that found orders to a model in it, as the door says.
    pub flagged: Vec<String>,
}

impl From<Answer> for Answered {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            flagged: Vec::new(),
        }
    }
}

impl Answered {
    /// The code of a refusal.
    pub fn code(&self) -> Option<&str> {
        match &self.answer {
            Answer::Refused(value) => value["code"].as_str(),
            Answer::Done(_) => None,
        }
    }
}

/// An answer that says no, in the form of the bank's own.
pub fn refused(code: &str, advice: &str) -> Answer {
    Answer::Refused(json!({ "code": code, "advice": advice }))
}

/// The member of a result's `_meta` in which the door says what screening found. The door alone writes it.
const LABEL: &str = "dev.countersign/screening";

/// The rules that the door's label names.
fn flagged(result: &CallToolResult) -> Vec<String> {
    let named = |name: &String| {
        name.len() <= 40 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    result
        .meta
        .as_ref()
        .and_then(|meta| meta.0.get(LABEL))
        .and_then(|label| label["flagged"].as_object())
        .map(|rules| {
            let rules = rules.keys().filter(|name| named(name));
            rules.take(limits::FLAGGED_RULES_MAX).cloned().collect()
        })
        .unwrap_or_default()
}

fn answer_of(result: CallToolResult) -> Answered {
    let flagged = flagged(&result);
    let answer = plain_answer_of(result);
    Answered { answer, flagged }
}

fn plain_answer_of(result: CallToolResult) -> Answer {
    let refused_by_tool = result.is_error.unwrap_or(false);
    let value = result.structured_content.unwrap_or_else(|| {
        let text: Vec<&str> = result
            .content
            .iter()
            .filter_map(|block| block.as_text())
            .map(|text| text.text.as_str())
            .collect();
        let text = text.join("\n");
        serde_json::from_str(&text).unwrap_or_else(|_| json!({ "untrusted_text": text }))
    });
    if refused_by_tool {
        return Answer::Refused(value);
    }
    if value.to_string().len() > limits::ANSWER_BYTES_MAX {
        return refused(
            "too_large",
            "The answer is too large to show. Ask for less.",
        );
    }
    Answer::Done(value)
}

fn greeting_was_refused(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::TransportError { error, .. } => was_refused(error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            greeting_was_refused(fallback)
        }
        ClientInitializeError::JsonRpcError(_) => true,
        _ => false,
    }
}

fn call_was_refused(error: &ServiceError) -> bool {
    match error {
        ServiceError::TransportSend(error) => was_refused(error),
        _ => false,
    }
}

/// Whether the transport met a 401 or a 403. What else the answer said stays unread: it may quote a customer.
fn was_refused(error: &DynamicTransportError) -> bool {
    match error
        .error
        .downcast_ref::<StreamableHttpError<reqwest::Error>>()
    {
        Some(StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_)) => {
            true
        }
        Some(StreamableHttpError::UnexpectedServerResponse(text)) => {
            text.starts_with("HTTP 401") || text.starts_with("HTTP 403")
        }
        _ => false,
    }
}
