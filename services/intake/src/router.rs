//! Every route of the chat origin.

use axum::{
    Json, Router,
    extract::State,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};
use countersign_serve::{guard, headers, health, limits};

use countersign_keys::JwkSet;

use crate::{ambient, app::App, config::Config, page, routes};

/// Longest body of a request: a message of 2000 characters of four bytes, escaped, with its spans.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// The whole service.
pub fn router(app: App, config: &Config) -> Router {
    let allowed = guard::Allowed::page(config.chat_origin.text());
    let page = page::router(&config.panel_origin).layer(from_fn(guard::check_framed_fetch_site));
    let keys = Router::new()
        .route("/.well-known/jwks.json", get(show_public_keys))
        .with_state(app.clone());
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
        .merge(keys)
        .route("/health", get(health))
        .layer(from_fn_with_state(allowed, guard::check_host_and_origin))
        .layer(from_fn_with_state(
            headers::page_headers(page::content_security_policy(&config.panel_origin)),
            headers::set,
        ))
}

/// The public keys whose session tokens the door accepts (RFC 7517).
async fn show_public_keys(State(app): State<App>) -> Json<JwkSet> {
    Json(app.session_key.public(ambient::unix_seconds()))
}
