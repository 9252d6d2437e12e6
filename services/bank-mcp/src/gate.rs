//! What stands in front of every tool: the strict reader over the raw bytes, then the door's token for exactly them.
//!
//! Host and Origin are checked before this (see `app`). Nothing behind the gate parses a message that the strict
//! reader did not accept, and nothing runs without a token the door made for this very body.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use countersign_identity::{
    REQUEST_HEADER, RequestClaims, TokenError, exactly_one, verify_request,
};
use countersign_keys::Verifier;
use countersign_serve::{Problem, unread_body};
use countersign_wire::{Frame, Kind};
use serde_json::json;

use crate::{
    Call,
    call::{Bank, OpenError},
    metrics::Metrics,
};

/// Largest message a client may send, in bytes. A tool's arguments are a few ids and amounts.
pub const BODY_BYTES_MAX: usize = 64 * 1024;
/// The one path that speaks MCP.
pub const MCP_PATH: &str = "/mcp";
/// The one method that runs a tool.
const CALL_METHOD: &str = "tools/call";
/// The revisions served, oldest first; the library behind the gate would take older ones too.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];
/// The header that names a message's revision.
const VERSION_HEADER: &str = "mcp-protocol-version";
/// Where the body of a stateless message names it.
const VERSION_MEMBER: &str = "io.modelcontextprotocol/protocolVersion";
/// Headers that steer a reader of MCP: two values would steer two readers differently.
const SINGLE_HEADERS: [&str; 5] = [
    "content-type",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
];

/// What the gate checks with.
pub struct Gate {
    /// The door's public keys.
    pub keys: Verifier,
    /// Where tokens are marked as used.
    pub bank: Bank,
    /// Where it is counted.
    pub metrics: Arc<Metrics>,
    /// Unix seconds, for the tokens' times.
    pub now: fn() -> u64,
}

/// The verified claims of the call at hand, as a tool finds them.
#[derive(Clone, Debug)]
pub struct Verified {
    /// What the door vouches for.
    pub claims: Arc<RequestClaims>,
    /// Whether the gate read a tool call and left it to the tool to spend the token.
    pub for_a_tool: bool,
}

/// Lets through what the door sent, once.
pub async fn check(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    match admit(&gate, request).await {
        Ok(admitted) => {
            let answer = next.run(admitted.request).await;
            in_our_words(answer, admitted.id)
        }
        Err(turned_away) => {
            gate.metrics.turned_away(turned_away.reason());
            turned_away.into_response()
        }
    }
}

/// The library's own plain-text refusals quote its parser; callers get a code of ours instead.
fn in_our_words(answer: Response, id: Option<String>) -> Response {
    let json = answer
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let status = answer.status();
    if json || !(status.is_client_error() || status.is_server_error()) {
        return answer;
    }
    tracing::warn!(
        status = status.as_u16(),
        "A message passed the gate and was not understood"
    );
    let turned_away = match status {
        StatusCode::NOT_ACCEPTABLE => TurnedAway::Http(Problem::new(
            status,
            "not_acceptable",
            "Accept application/json and text/event-stream",
        )),
        status if status.is_server_error() => TurnedAway::Http(Problem::internal()),
        _ => TurnedAway::Rpc {
            id,
            code: -32_602,
            message: "the parameters are not of the method's form".to_owned(),
        },
    };
    turned_away.into_response()
}

/// A message that may go on.
struct Admitted {
    request: Request,
    /// Its id as it was written; none in a notification.
    id: Option<String>,
}

/// Why a message got no further.
#[derive(Debug)]
enum TurnedAway {
    /// As HTTP.
    Http(Problem),
    /// As a JSON-RPC error, under the id as it was written, or under null when none could be read.
    Rpc {
        id: Option<String>,
        code: i32,
        message: String,
    },
}

impl TurnedAway {
    /// Why, in a word of a fixed list.
    fn reason(&self) -> &'static str {
        match self {
            Self::Http(problem) if problem.status == StatusCode::UNAUTHORIZED => "unauthorized",
            Self::Http(problem) if problem.status.is_server_error() => "unavailable",
            Self::Http(_) | Self::Rpc { .. } => "malformed",
        }
    }
}

impl IntoResponse for TurnedAway {
    fn into_response(self) -> Response {
        match self {
            Self::Http(problem) if problem.status == StatusCode::METHOD_NOT_ALLOWED => {
                ([(header::ALLOW, "POST")], problem).into_response()
            }
            Self::Http(problem) => problem.into_response(),
            Self::Rpc { id, code, message } => {
                let id = id.as_deref().unwrap_or("null");
                let message = json!(message);
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#
                );
                let headers = [(header::CONTENT_TYPE, "application/json")];
                (StatusCode::BAD_REQUEST, headers, body).into_response()
            }
        }
    }
}

async fn admit(gate: &Gate, request: Request) -> Result<Admitted, TurnedAway> {
    let (mut parts, body) = request.into_parts();
    if parts.method != Method::POST {
        return Err(TurnedAway::Http(Problem::method_not_allowed()));
    }
    let repeated = |name: &&str| parts.headers.get_all(*name).iter().count() > 1;
    if SINGLE_HEADERS.iter().any(repeated) {
        return Err(TurnedAway::Http(Problem::bad_request(
            "repeated_header",
            "A header is given twice",
        )));
    }
    if !is_json(&parts) {
        return Err(TurnedAway::Http(Problem::unsupported_media_type()));
    }
    // A length that is announced is believed when it is too large.
    if body.size_hint().lower() > BODY_BYTES_MAX as u64 {
        return Err(TurnedAway::Http(Problem::too_large()));
    }
    let bytes = axum::body::to_bytes(body, BODY_BYTES_MAX)
        .await
        .map_err(|error| TurnedAway::Http(unread_body(&error)))?;
    let read = read(&bytes, parts.headers.get(VERSION_HEADER))?;
    let claims = verify(gate, &parts, &bytes)?;
    // The token has done its work: nothing behind the gate needs it or could log it.
    parts.headers.remove(REQUEST_HEADER);
    if !read.runs_a_tool {
        // A tool marks the token as used in its own transaction; everything else does it here.
        mark_used(&gate.bank, &claims).await?;
    }
    parts.extensions.insert(Verified {
        claims: Arc::new(claims),
        for_a_tool: read.runs_a_tool,
    });
    Ok(Admitted {
        request: Request::from_parts(parts, Body::from(bytes)),
        id: read.id,
    })
}

/// A page can send anything else across origins without asking first.
fn is_json(parts: &Parts) -> bool {
    let kind = parts.headers.get(header::CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| {
            let essence = kind.split(';').next().unwrap_or_default();
            essence.trim().eq_ignore_ascii_case("application/json")
        })
}

/// What the gate has to know of a message.
struct Read {
    runs_a_tool: bool,
    id: Option<String>,
}

/// Reads the message strictly, in a revision that is served.
fn read(bytes: &Bytes, version: Option<&HeaderValue>) -> Result<Read, TurnedAway> {
    let frame = Frame::read(bytes).map_err(|error| TurnedAway::Rpc {
        code: error.code(),
        message: error.problem.to_string(),
        id: error.id.map(String::from),
    })?;
    if frame.kind() == Kind::Answer {
        return Err(TurnedAway::Rpc {
            id: None,
            code: -32_600,
            message: "this server asks its clients nothing".to_owned(),
        });
    }
    let id = frame.id_raw().map(str::to_owned);
    if let Some(version) = version
        && !is_served(version, &frame)
    {
        return Err(TurnedAway::Rpc {
            id,
            code: -32_022,
            message: format!("the revisions served are {}", VERSIONS.join(", ")),
        });
    }
    if frame.method() != Some(CALL_METHOD) {
        return Ok(Read {
            runs_a_tool: false,
            id,
        });
    }
    let named = frame
        .params()
        .and_then(|params| params.get("name"))
        .is_some_and(|name| name.as_str().is_some());
    let arguments = frame
        .params()
        .and_then(|params| params.get("arguments"))
        .is_none_or(|arguments| arguments.is_object());
    if named && arguments {
        Ok(Read {
            runs_a_tool: true,
            id,
        })
    } else {
        Err(TurnedAway::Rpc {
            id,
            code: -32_602,
            message: "tools/call needs a name, and arguments are an object".to_owned(),
        })
    }
}

/// Whether a header names a revision that is served. Where the body names another one, the library behind says that
/// they differ.
fn is_served(version: &HeaderValue, frame: &Frame<'_>) -> bool {
    let meta = frame.params().and_then(|params| params.get("_meta"));
    let in_body = meta.and_then(|meta| meta.get(VERSION_MEMBER));
    let differs = in_body.is_some_and(|in_body| {
        in_body
            .as_str()
            .is_none_or(|in_body| in_body.as_bytes() != version.as_bytes())
    });
    differs
        || VERSIONS
            .iter()
            .any(|served| served.as_bytes() == version.as_bytes())
}

fn verify(gate: &Gate, parts: &Parts, body: &[u8]) -> Result<RequestClaims, TurnedAway> {
    let values = parts.headers.get_all(REQUEST_HEADER).iter();
    exactly_one(values.map(HeaderValue::as_bytes))
        .and_then(|token| {
            let (method, path) = (parts.method.as_str(), parts.uri.path());
            let now = (gate.now)();
            let keys = gate.keys.keys(now).ok_or(TokenError::Key)?;
            verify_request(&keys, token, now, method, path, body)
        })
        .map_err(|error| {
            tracing::warn!(reason = %error, "Refused a message without a good token of the door");
            unauthorized()
        })
}

async fn mark_used(bank: &Bank, claims: &RequestClaims) -> Result<(), TurnedAway> {
    let marked = async { Ok::<_, OpenError>(Call::open(bank, claims).await?.commit().await?) };
    marked.await.map_err(|error| match error {
        OpenError::UsedBefore | OpenError::TurnEnded => {
            tracing::warn!(reason = %error, "Refused a message whose token is spent");
            unauthorized()
        }
        OpenError::Busy | OpenError::Database(_) => {
            tracing::error!(reason = %error, "The bank could not mark a token as used");
            TurnedAway::Http(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                "The bank cannot answer now",
            ))
        }
    })
}

fn unauthorized() -> TurnedAway {
    TurnedAway::Http(Problem::new(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        "Only the door may call this server",
    ))
}
