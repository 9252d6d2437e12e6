//! `GET /actions/{action}`: one request from first to last, with the records behind it.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::Response,
};
use countersign_domain::{ActionId, ConversationId, CustomerId};
use uuid::Uuid;

use super::show_overview::shown;
use crate::{
    app::App,
    page::{PageError, Shell, render},
    session,
    session::Operator,
};

/// One record of what happened to it.
struct Event {
    sequence: i64,
    kind: String,
    leaf: String,
    place: String,
    recorded: String,
}

#[derive(Template)]
#[template(path = "action.html")]
struct Page {
    shell: Shell,
    action: String,
    customer: String,
    conversation: String,
    kind: String,
    state: String,
    reason: String,
    created: String,
    superseded_by: Option<String>,
    executed: Option<String>,
    events: Vec<Event>,
}

/// Whose request it is and in which conversation.
pub struct Found {
    /// The customer.
    pub customer: Uuid,
    /// The conversation.
    pub conversation: Uuid,
}

/// Shows one request.
///
/// # Errors
/// [`PageError`].
pub async fn show_action(
    State(app): State<App>,
    operator: Operator,
    Path(action): Path<String>,
) -> Result<Response, PageError> {
    let action: ActionId = action.parse().map_err(|_| PageError::NotFound)?;
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let row = sqlx::query!(
        "SELECT customer_id, conversation_id, kind, state, reason, created_at, superseded_by FROM bank.pending_action WHERE action_id = $1",
        action.uuid()
    )
    .fetch_optional(&mut *transaction)
    .await?
    .ok_or(PageError::NotFound)?;
    let executed = sqlx::query_scalar!(
        "SELECT executed_at FROM bank.execution WHERE customer_id = $1 AND action_id = $2",
        row.customer_id,
        action.uuid()
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let events = sqlx::query!(
        "SELECT sequence, kind, leaf_hash, leaf_index, recorded_at FROM bank.bank_event
          WHERE customer_id = $1 AND action_id = $2 ORDER BY sequence",
        row.customer_id,
        action.uuid()
    )
    .fetch_all(&mut *transaction)
    .await?;
    transaction.rollback().await?;
    let page = Page {
        shell: Shell::signed_in(&operator, ""),
        action: action.to_string(),
        customer: CustomerId::from_uuid(row.customer_id).to_string(),
        conversation: ConversationId::from_uuid(row.conversation_id).to_string(),
        kind: row.kind,
        state: row.state,
        reason: row.reason.unwrap_or_default(),
        created: shown(row.created_at),
        superseded_by: row
            .superseded_by
            .map(|other| ActionId::from_uuid(other).to_string()),
        executed: executed.map(shown),
        events: events
            .into_iter()
            .map(|event| Event {
                sequence: event.sequence,
                kind: event.kind,
                leaf: hex::encode(event.leaf_hash),
                place: event
                    .leaf_index
                    .map_or_else(|| "not yet".to_owned(), |index| index.to_string()),
                recorded: shown(event.recorded_at),
            })
            .collect(),
    };
    Ok(render(StatusCode::OK, &page))
}

/// Finds whose request an id names.
///
/// # Errors
/// [`PageError::NotFound`] when there is none.
pub async fn find(app: &App, operator: &Operator, action: &str) -> Result<Found, PageError> {
    let action: ActionId = action.parse().map_err(|_| PageError::NotFound)?;
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let row = sqlx::query!(
        "SELECT customer_id, conversation_id FROM bank.pending_action WHERE action_id = $1",
        action.uuid()
    )
    .fetch_optional(&mut *transaction)
    .await?
    .ok_or(PageError::NotFound)?;
    transaction.rollback().await?;
    Ok(Found {
        customer: row.customer_id,
        conversation: row.conversation_id,
    })
}
