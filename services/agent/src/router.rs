//! Every route of the agent.

use std::sync::Arc;

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{get, post},
};
use countersign_serve::guard::{Allowed, check_host_and_origin};

use crate::routes::post_turn::{self, Turns};

/// The routes. No page calls the agent, so an Origin is refused whatever it is.
pub fn router(turns: Arc<Turns>, hosts: Vec<String>) -> Router {
    let allowed = Arc::new(Allowed {
        hosts,
        origins: Vec::new(),
    });
    Router::new()
        .route("/turn", post(post_turn::post_turn))
        .with_state(turns)
        .route("/health", get(countersign_serve::health))
        .layer(from_fn_with_state(allowed, check_host_and_origin))
}
