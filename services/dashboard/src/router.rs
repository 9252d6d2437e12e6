//! Every route of the dashboard on one screen, and what stands before all of them.

use std::sync::Arc;

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};
use countersign_serve::{guard, headers, limits};
use countersign_sign_in::Provider;

use crate::{app::App, assets, routes as r, sign_in};

/// Longest body of a request: a conversation pasted for explanation.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// The dashboard's router for one origin.
pub fn router(app: App, origin: &str, login: Option<Arc<Provider>>) -> Router {
    let allowed = guard::Allowed::page(origin);
    let policy = headers::page_headers(CONTENT_SECURITY_POLICY);
    let sessions = sign_in::Operators(app.pool.clone());
    // Outermost last: the name the request is for, then whose page it comes from, then everything else.
    let router = Router::new()
        .route("/", get(r::show_overview))
        .route("/find", get(r::find_action))
        .route("/actions/{action}", get(r::show_action))
        .route("/actions/{action}/explain", post(r::explain_action))
        .route("/explain", get(r::show_explain).post(r::explain_pasted))
        .route("/history", get(r::show_history))
        .route("/alarms", get(r::show_alarms))
        .route("/calls", get(r::show_calls))
        .route("/door", get(r::show_door))
        .route("/requests.csv", get(r::export_requests))
        .route("/alarms.csv", get(r::export_alarms))
        .route("/calls.csv", get(r::export_calls))
        .route("/door.csv", get(r::export_door))
        .route("/history.csv", get(r::export_history))
        .route("/reads", get(r::show_reads))
        .route("/assets/{build}/{*path}", get(assets::serve_asset))
        .route("/login", post(r::log_in))
        .route("/logout", post(r::log_out))
        .with_state(app)
        .layer(limits::body_limit(BODY_BYTES_MAX))
        .layer(from_fn(guard::check_fetch_site))
        .layer(from_fn_with_state(allowed.clone(), guard::require_origin));
    countersign_sign_in::web::with_routes(router, login, sign_in::ROUND, sessions)
        .route("/health", get(countersign_serve::health))
        .layer(from_fn_with_state(allowed, guard::check_host_and_origin))
        .layer(from_fn_with_state(policy, headers::set))
}

/// What the page may load: its own script and styles. It frames nothing, and nothing frames it.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
