//! `GET /safety`, `POST /safety/freeze` and `…/unfreeze`: stop everything that leaves, and call the bank. No model is needed.

use askama::Template;
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use countersign_execution::notices::{self, Unfrozen};
use serde::Deserialize;

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    show::{self, Moment},
};

/// What the page was led back from.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Letting payments go again was refused: the session is not fresh.
    #[serde(default)]
    sign_in: bool,
}

#[derive(Template)]
#[template(path = "safety.html")]
struct SafetyPage {
    shell: Shell,
    phone: String,
    tel: String,
    since: Option<Moment>,
    by_notice: bool,
    sign_in: bool,
}

/// Shows whether payments are stopped, and the one button that changes it.
pub async fn show_safety(
    State(app): State<App>,
    PageSession(session): PageSession,
    input: Result<Query<Input>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(input) = input.map_err(|_| PageError::NotFound)?;
    let frozen = notices::frozen(&app.pool, &session.secret)
        .await
        .map_err(page::act_error)?;
    let page = SafetyPage {
        phone: app.bank_phone.to_string(),
        tel: app.tel(),
        by_notice: frozen.as_ref().is_some_and(|frozen| frozen.how == "not_me"),
        since: frozen.map(|frozen| show::moment(frozen.since)),
        sign_in: input.sign_in,
        shell: Shell::signed_in(&app, &session, "/safety"),
    };
    Ok(page::render(StatusCode::OK, &page))
}

/// Stops everything that leaves.
pub async fn freeze(
    State(app): State<App>,
    PageSession(session): PageSession,
) -> Result<Response, PageError> {
    notices::freeze(&app.pool, &session.secret)
        .await
        .map_err(page::act_error)?;
    Ok(Redirect::to("/safety").into_response())
}

/// Lets payments go again, from a fresh session.
pub async fn unfreeze(
    State(app): State<App>,
    PageSession(session): PageSession,
) -> Result<Response, PageError> {
    let done = notices::unfreeze(&app.pool, &session.secret)
        .await
        .map_err(page::act_error)?;
    Ok(match done {
        Unfrozen::Now | Unfrozen::Before => Redirect::to("/safety"),
        Unfrozen::SignInAgain => Redirect::to("/safety?sign_in=true"),
    }
    .into_response())
}
