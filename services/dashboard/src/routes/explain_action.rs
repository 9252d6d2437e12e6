//! `POST /actions/{action}/explain`: why the words behind a request count, or do not. Reads them for a reason.

use axum::{
    Form,
    extract::{Path, State},
    response::Response,
};
use countersign_domain::Currency;
use serde::Deserialize;

use super::{explain_pasted, show_action};
use crate::{app::App, conversation, explain::explain, page::PageError, session::Operator};

/// Why the operator reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    reason: String,
}

/// Records the read and shows the conversation explained.
///
/// # Errors
/// [`PageError`].
pub async fn explain_action(
    State(app): State<App>,
    operator: Operator,
    Path(action): Path<String>,
    Form(input): Form<Input>,
) -> Result<Response, PageError> {
    let found = show_action::find(&app, &operator, &action).await?;
    let read = conversation::read(
        &app.pool,
        &operator,
        found.customer,
        found.conversation,
        &input.reason,
    )
    .await?;
    let explanation = explain(&read, Currency::Eur);
    Ok(explain_pasted::show_explained(
        &operator,
        &action,
        &read,
        explanation,
    ))
}
