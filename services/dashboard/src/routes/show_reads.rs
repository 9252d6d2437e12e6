//! `GET /reads`: who read what a customer wrote, and why.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use countersign_domain::{ConversationId, CustomerId};

use super::show_overview::shown;
use crate::{
    app::App,
    page::{PageError, Shell, render},
    session,
    session::Operator,
};

/// Most reads shown.
const LIST_MAX: i64 = 100;

struct Read {
    operator: String,
    customer: String,
    conversation: String,
    reason: String,
    recorded: String,
}

#[derive(Template)]
#[template(path = "reads.html")]
struct Page {
    shell: Shell,
    reads: Vec<Read>,
}

/// Shows the newest reads.
///
/// # Errors
/// [`PageError`].
pub async fn show_reads(State(app): State<App>, operator: Operator) -> Result<Response, PageError> {
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let rows = sqlx::query!(
        "SELECT operator, customer_id, conversation_id, reason, recorded_at FROM bank.text_access
          ORDER BY recorded_at DESC LIMIT $1",
        LIST_MAX
    )
    .fetch_all(&mut *transaction)
    .await?;
    transaction.rollback().await?;
    let page = Page {
        shell: Shell::signed_in(&operator, "/reads"),
        reads: rows
            .into_iter()
            .map(|row| Read {
                operator: row.operator,
                customer: CustomerId::from_uuid(row.customer_id).to_string(),
                conversation: ConversationId::from_uuid(row.conversation_id).to_string(),
                reason: row.reason,
                recorded: shown(row.recorded_at),
            })
            .collect(),
    };
    Ok(render(StatusCode::OK, &page))
}
