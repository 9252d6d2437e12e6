//! An MCP server that answers from a list and remembers what it was asked, with which headers.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::{Value, json};

/// The token that this door lets in.
pub const TOKEN: &str = "header.claims.signature";

/// How the door takes a `tools/call`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// As it should.
    Well,
    /// It never answers.
    Silent,
    /// It answers with a server error before the tool runs.
    Broken,
    /// It refuses by protocol.
    Denying,
    /// It says that it found an order to a model in the list of payees.
    Flagging,
    /// The bank behind it refuses every request.
    Limiting,
    /// It breaks down on a request, and nobody knows what came of it.
    Vanishing,
}

/// What the door saw.
#[derive(Default)]
pub struct Seen {
    /// Tool calls, in order.
    pub calls: Vec<(String, Value)>,
    /// Calls that were given up by the other side while they ran.
    pub abandoned: usize,
    /// Calls running at this moment, and the most that ever ran at once.
    pub running: usize,
    pub running_most: usize,
    /// Header names of every request, and how many had exactly one right token.
    pub requests: usize,
    pub with_token: usize,
    pub other_credentials: usize,
}

/// The door of one test.
#[derive(Clone)]
pub struct FixtureDoor {
    pub seen: Arc<Mutex<Seen>>,
    mood: Mood,
}

impl FixtureDoor {
    /// Starts it on a free port; the address is where it listens.
    pub async fn start(mood: Mood) -> (Self, SocketAddr) {
        let door = Self {
            seen: Arc::default(),
            mood,
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = door.clone();
        let mcp = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(NeverSessionManager::default()),
            StreamableHttpServerConfig::default()
                .with_legacy_session_mode(false)
                .with_json_response(true),
        );
        let seen = Arc::clone(&door.seen);
        let app = Router::new()
            .route_service("/mcp", mcp)
            .layer(axum::middleware::from_fn(
                move |request: Request, next: Next| {
                    let seen = Arc::clone(&seen);
                    async move { let_in(&seen, mood, request, next).await }
                },
            ));
        tokio::spawn(async move { axum::serve(listener, app).await });
        (door, address)
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<(String, Value)> {
        self.seen.lock().unwrap().calls.clone()
    }

    /// How often a tool was called.
    pub fn count(&self, tool: &str) -> usize {
        self.calls().iter().filter(|(name, _)| name == tool).count()
    }
}

async fn let_in(seen: &Mutex<Seen>, mood: Mood, request: Request, next: Next) -> Response {
    let tokens: Vec<_> = request
        .headers()
        .get_all("countersign-session")
        .iter()
        .collect();
    let right = tokens.len() == 1 && tokens[0] == TOKEN;
    {
        let mut seen = seen.lock().unwrap();
        seen.requests += 1;
        seen.with_token += usize::from(right);
        let other = [
            "authorization",
            "cookie",
            "countersign-request",
            "proxy-authorization",
        ];
        seen.other_credentials += other
            .iter()
            .filter(|name| request.headers().contains_key(**name))
            .count();
    }
    if right {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        let is_request = body.windows(17).any(|part| part == b"\"request_transfer");
        if mood == Mood::Vanishing && is_request {
            let arguments = serde_json::from_slice(&body).unwrap();
            let mut seen = seen.lock().unwrap();
            seen.calls.push(("request_transfer".into(), arguments));
            return axum::http::StatusCode::BAD_GATEWAY.into_response();
        }
        next.run(Request::from_parts(parts, body.into())).await
    } else {
        let problem = json!({"type": "urn:countersign:problem:unauthorized", "status": 401});
        (
            axum::http::StatusCode::UNAUTHORIZED,
            [("content-type", "application/problem+json")],
            problem.to_string(),
        )
            .into_response()
    }
}

impl ServerHandler for FixtureDoor {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_instructions("words of the fixture")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            [
                "list_payees",
                "list_accounts",
                "list_open_requests",
                "request_transfer",
            ]
            .map(tool)
            .into(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let running = Running::begin(&self.seen, &request.name, arguments);
        match self.mood {
            Mood::Well | Mood::Flagging | Mood::Vanishing => {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            Mood::Silent => {
                // Told of the end, the handler lets go; `running` is then dropped before its end.
                context.ct.cancelled().await;
                return Err(ErrorData::internal_error("given up", None));
            }
            Mood::Limiting if request.name.starts_with("request_") => {
                running.end();
                let value =
                    json!({"code": "over_limit", "advice": "Tell the customer about the limit."});
                let mut result = CallToolResult::error(vec![ContentBlock::text(value.to_string())]);
                result.structured_content = Some(value);
                return Ok(result.into());
            }
            Mood::Limiting => {}
            Mood::Broken => {
                running.end();
                return Err(ErrorData::internal_error("no", None));
            }
            Mood::Denying => {
                running.end();
                return Err(ErrorData::invalid_params("not allowed", None));
            }
        }
        running.end();
        let value = answer(&request.name);
        let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
        result.structured_content = Some(value);
        if self.mood == Mood::Flagging && request.name == "list_payees" {
            let label = json!({"dev.countersign/screening": {"flagged": {"tool_order": 1, "Call +49 151": 1}}});
            result.meta = Some(serde_json::from_value(label).unwrap());
        }
        Ok(result.into())
    }
}

/// A call under way; dropped before its end it counts as abandoned.
struct Running {
    seen: Arc<Mutex<Seen>>,
    ended: bool,
}

impl Running {
    fn begin(seen: &Arc<Mutex<Seen>>, tool: &str, arguments: Value) -> Self {
        let mut inner = seen.lock().unwrap();
        inner.calls.push((tool.to_owned(), arguments));
        inner.running += 1;
        inner.running_most = inner.running_most.max(inner.running);
        drop(inner);
        Self {
            seen: Arc::clone(seen),
            ended: false,
        }
    }

    fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut seen = self.seen.lock().unwrap();
        seen.running -= 1;
        seen.abandoned += usize::from(!self.ended);
    }
}

fn tool(name: &'static str) -> Tool {
    let schema = json!({"type": "object", "properties": {}})
        .as_object()
        .unwrap()
        .clone();
    let mut tool = Tool::new(name, "A tool.", Arc::new(schema));
    tool.annotations = Some(ToolAnnotations::new().read_only(!name.starts_with("request_")));
    tool
}

fn answer(tool: &str) -> Value {
    match tool {
        "list_payees" => json!({"payees": [
            {"payee": format!("pye_{:032x}", 2), "name": {"untrusted_text": "Bob Smith"}, "account_ends": "6819"},
        ]}),
        "request_transfer" => json!({
            "status": "waiting_for_customer", "action": format!("act_{:032x}", 7),
            "summary": {"untrusted_text": "Send 20.00 EUR to Bob Smith"}, "open_slots": [], "superseded": null,
        }),
        "list_accounts" => json!({"accounts": []}),
        _ => json!({"requests": []}),
    }
}
