//! `POST /limits` and `POST /limits/{act}/stop`: a limit as the customer types it. Lower takes effect at once; higher becomes a card.

use axum::{
    Form,
    extract::{Path, State, rejection::FormRejection},
    response::{IntoResponse, Redirect, Response},
};
use countersign_domain::ActionId;
use countersign_execution::{
    ActError,
    limit::{self, Changed, LimitName},
};
use serde::Deserialize;

use crate::{
    app::App,
    page::{self, PageError, PageSession},
    routes::show_limits::limits_page,
};

/// What the form holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    limit: String,
    #[serde(default)]
    currency: String,
    value: String,
}

/// Changes a limit, or says beside the form what is wrong.
pub async fn change_limit(
    State(app): State<App>,
    PageSession(session): PageSession,
    input: Result<Form<Input>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(input) = input.map_err(|_| PageError::NotFound)?;
    let name = LimitName::of(&input.limit).ok_or(PageError::NotFound)?;
    let currency = input.currency.parse().ok();
    let said = match limit::change(&app.pool, &session.secret, name, currency, &input.value).await {
        Ok(Changed::Asked) => return Ok(Redirect::to("/#waiting").into_response()),
        Ok(Changed::Lowered) => "Done. It is so from now on.",
        Ok(Changed::Same) => "It is that already.",
        Ok(Changed::TooHigh) => "The bank does not go as high as that. Call it if you need more.",
        Ok(Changed::NoSuchLimit) => "You have no such limit. Call the bank to have one set.",
        Err(ActError::Invalid(sentence)) => sentence,
        Err(error) => return Err(page::act_error(error)),
    };
    limits_page(&app, &session, Some(said)).await
}

/// Stops a raise that cools off.
pub async fn stop_limit_change(
    State(app): State<App>,
    PageSession(session): PageSession,
    Path(action): Path<String>,
) -> Result<Response, PageError> {
    let action: ActionId = action.parse().map_err(|_| PageError::NotFound)?;
    limit::stop(&app.pool, &session.secret, action)
        .await
        .map_err(page::act_error)?;
    Ok(Redirect::to("/limits").into_response())
}
