//! The page on which a person decides: loopback, its own listener, no cookie, no other origin.
//!
//! Whoever opens it has to bring a one-use token, which stands behind the `#` of the address and so
//! reaches no server log. It is exchanged for a session that the page keeps in session storage. The
//! agent's side of the door has none of these routes, and this side has none of the agent's.

mod assets;
mod links;
mod routes;
mod view;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use countersign_serve::guard::{self, Allowed};
use countersign_serve::headers;

pub use links::Links;
pub use routes::{hold_id, problem};

use super::holds::Holds;
use super::webhook::{self, Webhook};

/// Longest request of the page, in bytes.
const BODY_BYTES_MAX: usize = 16 << 10;

/// What the page may load and do: its own files and its own endpoints.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// What the routes share.
pub struct Page {
    /// What waits.
    pub holds: Arc<Holds>,
    /// Who may decide.
    pub links: Links,
    /// The other system that may decide, where there is one.
    pub webhook: Option<Webhook>,
}

/// The routes of the page that is served at this address.
pub fn router(page: Arc<Page>, address: SocketAddr) -> Router {
    let allowed = Allowed::page(&format!("http://{address}"));
    let api = Router::new()
        .route("/api/session", post(routes::post_session))
        .route("/api/holds", get(routes::get_holds))
        .route("/api/holds/{hold}", get(routes::get_hold))
        .route("/api/holds/{hold}/decide", post(routes::post_decide))
        .route("/api/holds/{hold}/stop", post(routes::post_stop))
        .layer(from_fn_with_state(
            Arc::clone(&allowed),
            guard::require_origin,
        ))
        .with_state(Arc::clone(&page));
    let webhook = Router::new()
        .route("/webhook", post(webhook::post_webhook))
        .with_state(page);
    assets::router()
        .merge(api)
        .layer(from_fn(guard::check_fetch_site))
        .merge(webhook)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn_with_state(allowed, guard::check_host_and_origin))
        .layer(from_fn_with_state(
            headers::page_headers(CONTENT_SECURITY_POLICY),
            headers::set,
        ))
}

#[cfg(test)]
mod tests;
