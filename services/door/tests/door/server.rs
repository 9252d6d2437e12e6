//! Servers behind the door: a real one on rmcp, and ones that answer whatever a test asks for.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use countersign_identity::{REQUEST_HEADER, RequestClaims, VerifyingKeys, verify_request};
use http::{HeaderMap, StatusCode};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_router};
use tokio::net::TcpListener;

/// One message as it reached the server.
#[derive(Clone, Debug)]
pub struct Seen {
    pub headers: HeaderMap,
    pub body: Bytes,
    pub claims: RequestClaims,
}

/// What a server saw, and how it behaves.
#[derive(Clone, Default)]
pub struct Behaviour {
    seen: Arc<Mutex<Vec<Seen>>>,
    refused: Arc<AtomicUsize>,
    /// Which of its definitions the server shows: another number, another description.
    pub edition: Arc<AtomicUsize>,
}

impl Behaviour {
    /// Messages with this method that arrived with a good token.
    pub fn seen(&self, method: &str) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        let is = |seen: &&Seen| {
            let body: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
            body["method"] == method
        };
        seen.iter().filter(is).cloned().collect()
    }

    /// All messages that arrived with a good token.
    pub fn all(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// How many arrived without one.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }
}

/// A server that is running.
pub struct Server {
    pub address: SocketAddr,
    pub behaviour: Behaviour,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Lets in only what carries a good token for exactly these bytes, and remembers it.
async fn gate(
    State((keys, behaviour)): State<(VerifyingKeys, Behaviour)>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let token = parts.headers.get_all(REQUEST_HEADER).iter().next();
    let token = token
        .and_then(|token| token.to_str().ok())
        .unwrap_or_default();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let Ok(claims) = verify_request(&keys, token, now, parts.method.as_str(), "/mcp", &body) else {
        behaviour.refused.fetch_add(1, Ordering::SeqCst);
        return StatusCode::UNAUTHORIZED.into_response();
    };
    behaviour.seen.lock().unwrap().push(Seen {
        headers: parts.headers.clone(),
        body: body.clone(),
        claims,
    });
    next.run(Request::from_parts(parts, Body::from(body))).await
}

async fn start(keys: VerifyingKeys, behaviour: Behaviour, mcp: Router) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let gated = axum::middleware::from_fn_with_state((keys, behaviour.clone()), gate);
    let router = mcp.layer(gated);
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Server {
        address,
        behaviour,
        task,
    }
}

/// A server whose answers a test writes itself.
pub async fn scripted<F, A>(keys: VerifyingKeys, answer: F) -> Server
where
    F: Fn(serde_json::Value) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Response> + Send + 'static,
{
    let handler = move |body: Bytes| {
        let answer = answer.clone();
        async move { answer(serde_json::from_slice(&body).unwrap()).await }
    };
    let mcp = Router::new().route("/mcp", axum::routing::post(handler));
    start(keys, Behaviour::default(), mcp).await
}

/// A real server on rmcp.
pub async fn real(keys: VerifyingKeys) -> Server {
    let behaviour = Behaviour::default();
    let toy = Toy {
        behaviour: behaviour.clone(),
    };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let sessions = Arc::new(NeverSessionManager::default());
    let mcp = StreamableHttpService::new(move || Ok(toy.clone()), sessions, config);
    start(keys, behaviour, Router::new().route_service("/mcp", mcp)).await
}

/// Tools that do nothing but answer.
#[derive(Clone)]
struct Toy {
    behaviour: Behaviour,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    /// What to say back.
    #[serde(default)]
    text: String,
    /// Named nowhere in the policy.
    #[serde(default)]
    hidden: Option<String>,
}

#[tool_router]
impl Toy {
    /// Says it back.
    #[tool(description = "Says it back")]
    fn echo(&self, Parameters(echo): Parameters<Echo>) -> String {
        format!("{}{}", echo.text, echo.hidden.unwrap_or_default())
    }

    /// Allowed by no line.
    #[tool(description = "Not for you")]
    fn secret(&self) -> String {
        "the secret".into()
    }

    /// Holds a payment word, and is acknowledged.
    #[tool(description = "Asks for a transfer")]
    fn request_transfer(&self, Parameters(echo): Parameters<Echo>) -> String {
        echo.text
    }

    /// Holds a payment word, is listed in the policy, and is not acknowledged.
    #[tool(description = "Sends money", annotations(read_only_hint = true))]
    fn send_money(&self) -> String {
        "sent".into()
    }

    /// Waits for a person.
    #[tool(description = "Waits for a person")]
    fn held_tool(&self) -> String {
        "not held".into()
    }
}

impl ServerHandler for Toy {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.definitions()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.definitions()
            .into_iter()
            .find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: rmcp::model::CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<rmcp::model::CallToolResponse, ErrorData> {
        let call = rmcp::handler::server::tool::ToolCallContext::new(self, request, context);
        Self::tool_router().call(call).await
    }
}

impl Toy {
    fn definitions(&self) -> Vec<Tool> {
        let mut tools = Self::tool_router().list_all();
        let edition = self.behaviour.edition.load(Ordering::SeqCst);
        if edition > 0 {
            for tool in tools.iter_mut().filter(|tool| tool.name == "echo") {
                tool.description = Some(format!("Says it back, edition {edition}").into());
            }
        }
        tools
    }
}

/// The definitions the real server shows at first.
pub fn definitions() -> Vec<Tool> {
    let behaviour = Behaviour::default();
    Toy { behaviour }.definitions()
}
