//! `GET /receipts`: everything the customer ever confirmed, newest first.

use askama::Template;
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::StatusCode,
    response::Response,
};
use countersign_domain::{ActionId, record::ConfirmRecord};
use countersign_execution::receipt::short_code;
use countersign_store::{read::ReadError, session::begin};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    session::Session,
    show::{self, Moment},
};

/// Receipts on one page.
const PAGE_LENGTH: usize = 25;

/// The last receipt of the page before.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    after: Option<ActionId>,
}

#[derive(Template)]
#[template(path = "receipts.html")]
struct ReceiptsPage {
    shell: Shell,
    receipts: Vec<Line>,
    older: Option<ActionId>,
}

struct Line {
    action: ActionId,
    title: String,
    to: Option<String>,
    at: Moment,
    short_code: String,
}

/// Shows a page of receipts.
pub async fn show_receipts(
    State(app): State<App>,
    PageSession(session): PageSession,
    input: Result<Query<Input>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(input) = input.map_err(|_| PageError::NotFound)?;
    let mut receipts = load(&app, &session, input.after).await?;
    let more = receipts.len() > PAGE_LENGTH;
    receipts.truncate(PAGE_LENGTH);
    let older = receipts.last().filter(|_| more).map(|last| last.action);
    let page = ReceiptsPage {
        shell: Shell::signed_in(&app, &session, "/receipts"),
        receipts,
        older,
    };
    Ok(page::render(StatusCode::OK, &page))
}

async fn load(
    app: &App,
    session: &Session,
    after: Option<ActionId>,
) -> Result<Vec<Line>, PageError> {
    let mut transaction = begin(&app.pool, &session.secret).await?;
    let asked = i64::try_from(PAGE_LENGTH + 1).unwrap_or(i64::MAX);
    let rows = sqlx::query!(
        r#"SELECT e.action_id, e.record, e.executed_hash, e.executed_at FROM bank.execution e
            WHERE e.customer_id = (SELECT bank.current_customer())
              AND ($1::uuid IS NULL OR (e.executed_at, e.action_id) < (
                    SELECT o.executed_at, o.action_id FROM bank.execution o
                     WHERE o.customer_id = (SELECT bank.current_customer()) AND o.action_id = $1))
            ORDER BY e.executed_at DESC, e.action_id DESC LIMIT $2"#,
        after.map(ActionId::uuid),
        asked
    )
    .fetch_all(&mut *transaction)
    .await
    .map_err(ReadError::from)?;
    rows.into_iter()
        .map(|row| {
            line(
                ActionId::from_uuid(row.action_id),
                &row.record,
                &row.executed_hash,
                row.executed_at,
            )
        })
        .collect()
}

fn line(
    action: ActionId,
    record: &[u8],
    executed: &[u8],
    at: OffsetDateTime,
) -> Result<Line, PageError> {
    let record: ConfirmRecord =
        serde_json::from_slice(record).map_err(|_| ReadError::Corrupt("record"))?;
    let executed = executed
        .try_into()
        .map_err(|_| ReadError::Corrupt("executed hash"))?;
    let shown = |label: &str| {
        record
            .display
            .iter()
            .find(|row| row.label == label)
            .map(|row| row.value.clone())
    };
    // One name beside the title; where there are several, the button's words say how many.
    let (title, to) = if record.lines.len() > 1 {
        (shown("button"), None)
    } else {
        (
            shown("title"),
            shown(countersign_texts::of(&record.locale).say("To")),
        )
    };
    Ok(Line {
        action,
        title: title.unwrap_or_default(),
        to,
        at: show::moment(at),
        short_code: short_code(executed),
    })
}
