//! Every route of the chat origin.

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};
use countersign_serve::{guard, headers, health, limits};

use crate::{app::App, config::Config, page, routes};

/// Longest body of a request: a message of 2000 characters of four bytes, escaped, with its spans.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// The whole service.
pub fn router(app: App, config: &Config) -> Router {
    let allowed = guard::Allowed::page(config.chat_origin.text());
    let page = page::router(&config.panel_origin).layer(from_fn(guard::check_framed_fetch_site));
    let calls = Router::new()
        .route("/redeem", post(routes::redeem::redeem))
        .route("/history", get(routes::history::history))
        .route(
            "/conversations",
            get(routes::conversations::list_conversations)
                .post(routes::conversations::start_conversation),
        )
        .route("/messages", post(routes::messages::send_message))
        .layer(limits::body_limit(BODY_BYTES_MAX))
        .layer(from_fn(guard::check_fetch_site))
        .layer(from_fn_with_state(allowed.clone(), guard::require_origin))
        .with_state(app);
    page.merge(calls)
        .route("/health", get(health))
        .layer(from_fn_with_state(allowed, guard::check_host_and_origin))
        .layer(from_fn_with_state(
            headers::page_headers(page::content_security_policy(&config.panel_origin)),
            headers::set,
        ))
}
