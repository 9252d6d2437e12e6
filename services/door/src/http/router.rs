//! Every route of the door.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use countersign_serve::Direct;
use countersign_serve::guard::{self, Allowed};

use super::exchange;
use super::gate::Gate;
use super::metadata;
use super::streams;
use crate::clock;

/// `POST /mcp` without the router in between; [`router`] has it, too, for whoever serves it alone.
pub fn direct(gate: Arc<Gate>, allowed: Allowed) -> Direct {
    let plain = Arc::clone(&gate);
    Direct::post(
        "/mcp",
        Arc::new(allowed),
        move |request| Box::pin(exchange::post_message(State(Arc::clone(&gate)), request)),
        move |headers, body| Box::pin(exchange::post_whole(Arc::clone(&plain), headers, body)),
    )
}

/// The routes: one that speaks MCP, one that says the process is up, and what whoever has no token needs to
/// know.
pub fn router(gate: Arc<Gate>, allowed: Allowed) -> Router {
    Router::new()
        .route(
            "/mcp",
            post(exchange::post_message)
                .get(streams::get_stream)
                .delete(streams::delete_session),
        )
        .layer(DefaultBodyLimit::disable())
        .route("/health", get(countersign_serve::health))
        .route("/.well-known/jwks.json", get(show_public_keys))
        .merge(metadata::routes(&gate.identity))
        .with_state(gate)
        .layer(from_fn_with_state(
            Arc::new(allowed),
            guard::check_host_and_origin,
        ))
}

/// The public keys whose tokens the server behind this door accepts (RFC 7517).
async fn show_public_keys(State(gate): State<Arc<Gate>>) -> Response {
    match &gate.request_key {
        Some(signer) => axum::Json(signer.public(clock::unix_seconds())).into_response(),
        None => http::StatusCode::NOT_FOUND.into_response(),
    }
}
