//! `GET /`: what was asked for and what became of it, in numbers with the requests behind them.

use askama::Template;
use axum::{
    extract::{Query, State},
    http::StatusCode,
    response::Response,
};
use countersign_domain::{ActionId, ConversationId};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::{
    app::App,
    page::{PageError, Shell, render},
    session,
    session::Operator,
};

/// Most requests in the list.
const LIST_MAX: i64 = 50;

/// Which requests the list shows; all of them without a word.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    state: Option<String>,
    kind: Option<String>,
    conversation: Option<ConversationId>,
}

struct Count {
    kind: String,
    state: String,
    reason: String,
    count: i64,
}

/// A request in a list.
pub struct Line {
    action: String,
    kind: String,
    state: String,
    reason: String,
    changed: String,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Page {
    shell: Shell,
    counts: Vec<Count>,
    largest: i64,
    lines: Vec<Line>,
    filtered: bool,
}

/// Shows the last day's counts and the newest requests.
///
/// # Errors
/// [`PageError`].
pub async fn show_overview(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let counts = sqlx::query_as!(
        Count,
        r#"SELECT kind, state, coalesce(reason, '') AS "reason!", count(*) AS "count!"
             FROM bank.pending_action WHERE created_at > bank.bank_clock() - interval '24 hours'
            GROUP BY kind, state, reason ORDER BY count(*) DESC, kind, state"#
    )
    .fetch_all(&mut *transaction)
    .await?;
    let rows = sqlx::query!(
        "SELECT action_id, kind, state, reason, changed_at FROM bank.pending_action
          WHERE ($1::text IS NULL OR state = $1) AND ($2::text IS NULL OR kind = $2)
            AND ($3::uuid IS NULL OR conversation_id = $3)
          ORDER BY changed_at DESC LIMIT $4",
        wanted.state,
        wanted.kind,
        wanted.conversation.map(|conversation| conversation.uuid()),
        LIST_MAX
    )
    .fetch_all(&mut *transaction)
    .await?;
    transaction.rollback().await?;
    let page = Page {
        shell: Shell::signed_in(&operator, "/"),
        largest: counts.iter().map(|count| count.count).max().unwrap_or(1),
        counts,
        lines: rows
            .into_iter()
            .map(|row| Line {
                action: ActionId::from_uuid(row.action_id).to_string(),
                kind: row.kind,
                state: row.state,
                reason: row.reason.unwrap_or_default(),
                changed: shown(row.changed_at),
            })
            .collect(),
        filtered: wanted.state.is_some() || wanted.kind.is_some() || wanted.conversation.is_some(),
    };
    Ok(render(StatusCode::OK, &page))
}

/// A moment as an operator reads it, in UTC.
pub fn shown(moment: OffsetDateTime) -> String {
    let moment = moment.to_offset(time::UtcOffset::UTC);
    format!(
        "{} {:02}:{:02}:{:02} UTC",
        moment.date(),
        moment.hour(),
        moment.minute(),
        moment.second()
    )
}
