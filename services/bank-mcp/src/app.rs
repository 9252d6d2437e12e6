//! The HTTP service: health, and MCP behind its checks.

use std::{sync::Arc, time::Duration};

use axum::{Router, middleware, routing::get};
use countersign_serve::guard::{Allowed, check_host_and_origin};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use crate::{
    gate::{self, BODY_BYTES_MAX, Gate, MCP_PATH},
    server::BankServer,
};

/// Longest the server keeps a stream silent, should it ever answer with one.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The whole service.
///
/// Checks run outside in: exact Host and Origin, then the gate (strict reader, token), then rmcp, stateless and with
/// plain JSON answers. rmcp's own Host and Origin checks stay on as a second line.
pub fn app(allowed: Allowed, gate: Gate) -> Router {
    let server = BankServer::new(gate.bank.clone(), Arc::clone(&gate.metrics));
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(Some(KEEP_ALIVE))
        .with_max_request_body_bytes(BODY_BYTES_MAX)
        .with_allowed_hosts(allowed.hosts.clone())
        .with_allowed_origins(allowed.origins.clone())
        .enforce_origin_validation();
    let mcp = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Router::new()
        .route_service(MCP_PATH, mcp)
        .layer(middleware::from_fn_with_state(Arc::new(gate), gate::check))
        .route("/health", get(countersign_serve::health))
        .layer(middleware::from_fn_with_state(
            Arc::new(allowed),
            check_host_and_origin,
        ))
}
