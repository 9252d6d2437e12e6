//! Every route of the panel on one screen, and what stands before all of them.

use std::sync::Arc;

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};
use countersign_serve::{guard, headers, limits};
use countersign_sign_in::Provider;

use crate::{app::App, assets, language, routes as r, sign_in};

/// Longest body of a request: what a passkey answered, in JSON.
const BODY_BYTES_MAX: usize = 16 * 1024;

/// The panel's router for one origin that frames one other.
pub fn router(app: App, panel_origin: &str, login: Option<Arc<Provider>>) -> Router {
    let allowed = guard::Allowed::page(panel_origin);
    let policy = headers::payment_page_headers(content_security_policy(&app.chat_origin));
    let mut router = Router::new()
        .route("/", get(r::show_home))
        .route("/accounts", get(r::show_accounts))
        .route("/activity", get(r::show_activity))
        .route("/activity.csv", get(r::download_statement))
        .route("/limits", get(r::show_limits).post(r::change_limit))
        .route("/limits/{action}/stop", post(r::stop_limit_change))
        .route("/notices", get(r::show_notices))
        .route("/notices/{number}/not-me", post(r::answer_notice))
        .route("/not-me", get(r::show_not_me))
        .route("/api/not-me", post(r::answer_notice_by_word))
        .route("/safety", get(r::show_safety))
        .route("/safety/freeze", post(r::freeze))
        .route("/safety/unfreeze", post(r::unfreeze))
        .route("/passkeys", get(r::show_passkeys))
        .route("/receipts", get(r::show_receipts))
        .route("/receipts/{name}", get(r::show_receipt))
        .route("/assets/{build}/{*path}", get(assets::serve_asset))
        .route("/login", post(r::log_in))
        .route("/logout", post(r::log_out))
        .route("/language", post(r::choose_language))
        .route("/chat-code", post(r::issue_chat_code))
        .route("/api/cards", get(r::list_cards))
        .route("/api/events", get(r::stream_wakes))
        .route("/api/passkeys", post(r::add_passkey))
        .route("/api/passkeys/enrol", post(r::begin_passkey_enrolment))
        .route("/api/passkeys/change", post(r::begin_passkey_change))
        .route("/api/passkeys/{passkey}/rename", post(r::rename_passkey))
        .route("/api/passkeys/{passkey}/remove", post(r::remove_passkey))
        .route("/api/recovery/ask", post(r::ask_recovery))
        .route("/api/recovery/cancel", post(r::cancel_recovery))
        .route("/api/actions/{action}/prepare", post(r::prepare_action))
        .route("/api/actions/{action}/confirm", post(r::confirm_action))
        .route("/api/actions/{action}/cancel", post(r::cancel_action))
        .route("/api/actions/{action}/undo", post(r::undo_action))
        .route("/api/actions/{action}/keep", post(r::keep_action))
        .route("/api/actions/{action}/fill", post(r::fill_slot))
        .route("/api/actions/{action}/drop", post(r::drop_payment));
    if app.demo.is_some() {
        router = router.route("/demo/switch", post(r::switch_demo_customer));
    }
    let sessions = sign_in::Customers(app.clone());
    // Outermost last: the name the request is for, then whose page it comes from, then everything else.
    let router = router
        .with_state(app)
        .layer(from_fn(language::listen))
        .layer(limits::body_limit(BODY_BYTES_MAX))
        .layer(from_fn(guard::check_fetch_site))
        .layer(from_fn_with_state(allowed.clone(), guard::require_origin));
    countersign_sign_in::web::with_routes(router, login, sign_in::ROUND, sessions)
        .route("/health", get(countersign_serve::health))
        .layer(from_fn_with_state(allowed, guard::check_host_and_origin))
        .layer(from_fn_with_state(policy, headers::set))
}

/// What the page may load: its own scripts and styles, and the chat in a frame. Nothing may frame it, no
/// script may turn text into markup.
fn content_security_policy(chat_origin: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         frame-src {chat_origin}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'"
    )
}
