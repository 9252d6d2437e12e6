//! `GET /calls`: what assistants asked the bank's tools for, each call under the door's receipt, and the calls that were
//! turned away. `GET /calls.csv`: the same as a file.

use askama::Template;
use axum::{
    extract::{Query, State},
    http::StatusCode,
    response::Response,
};
use countersign_domain::{ConversationId, CustomerId};
use serde::Deserialize;
use sqlx::{Postgres, Transaction};

use super::show_overview::{hours_back, in_address, known, shown};
use crate::{
    app::App,
    csv,
    page::{PageError, Shell, render},
    session,
    session::Operator,
};

/// Most calls in the list.
const LIST_MAX: i64 = 100;
/// Most calls in a file.
const FILE_MAX: i64 = 10_000;

/// Which calls; all of them without a word.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    tool: Option<String>,
    outcome: Option<String>,
    conversation: Option<ConversationId>,
    hours: Option<i32>,
}

impl Wanted {
    const fn is_filtered(&self) -> bool {
        self.tool.is_some()
            || self.outcome.is_some()
            || self.conversation.is_some()
            || self.hours.is_some()
    }

    /// The filters as they stand in an address.
    fn query(&self) -> String {
        let conversation = self.conversation.map(|id| format!("conversation={id}"));
        let hours = self.hours.map(|hours| format!("hours={hours}"));
        [
            in_address("tool", self.tool.as_deref()),
            in_address("outcome", self.outcome.as_deref()),
            conversation,
            hours,
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("&")
    }
}

struct Count {
    tool: String,
    outcome: String,
    count: i64,
}

struct Line {
    recorded: String,
    tool: String,
    outcome: String,
    /// Nobody's for a call that was turned away: the receipt says whose it was.
    customer: String,
    conversation: String,
    receipt: String,
}

#[derive(Template)]
#[template(path = "calls.html")]
struct Page {
    shell: Shell,
    counts: Vec<Count>,
    lines: Vec<Line>,
    filtered: bool,
    query: String,
}

/// Shows the last day's counts and the newest calls.
///
/// # Errors
/// [`PageError`].
pub async fn show_calls(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let counts = sqlx::query_as!(
        Count,
        r#"SELECT tool AS "tool!", outcome AS "outcome!", count(*) AS "count!"
             FROM (SELECT tool, outcome, recorded_at FROM bank.tool_call
                   UNION ALL SELECT tool, reason, recorded_at FROM bank.turned_away) AS calls
            WHERE recorded_at > bank.bank_clock() - interval '24 hours'
            GROUP BY tool, outcome ORDER BY outcome <> 'answered' DESC, count(*) DESC, tool"#
    )
    .fetch_all(&mut *transaction)
    .await?;
    let lines = read(&mut transaction, &wanted, LIST_MAX).await?;
    transaction.rollback().await?;
    let page = Page {
        shell: Shell::signed_in(&operator, "/calls"),
        counts,
        lines,
        filtered: wanted.is_filtered(),
        query: wanted.query(),
    };
    Ok(render(StatusCode::OK, &page))
}

/// `GET /calls.csv`: the filtered list as a file.
///
/// # Errors
/// [`PageError`].
pub async fn export_calls(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let lines = read(&mut transaction, &wanted, FILE_MAX).await?;
    transaction.rollback().await?;
    let headings = [
        "when",
        "tool",
        "outcome",
        "customer",
        "conversation",
        "receipt",
    ];
    let row = |line: Line| {
        vec![
            line.recorded,
            line.tool,
            line.outcome,
            line.customer,
            line.conversation,
            line.receipt,
        ]
    };
    Ok(csv::file("calls", &headings, lines.into_iter().map(row)))
}

async fn read(
    transaction: &mut Transaction<'static, Postgres>,
    wanted: &Wanted,
    most: i64,
) -> Result<Vec<Line>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"SELECT recorded_at AS "recorded_at!", tool AS "tool!", outcome AS "outcome!", customer_id, conversation_id, record_leaf AS "record_leaf!"
             FROM (SELECT recorded_at, tool, outcome, customer_id, conversation_id, record_leaf FROM bank.tool_call
                   UNION ALL SELECT recorded_at, tool, reason, NULL, NULL, record_leaf FROM bank.turned_away) AS calls
            WHERE ($1::text IS NULL OR tool = $1) AND ($2::text IS NULL OR outcome = $2) AND ($3::uuid IS NULL OR conversation_id = $3)
              AND recorded_at > bank.bank_clock() - make_interval(hours => $4)
            ORDER BY recorded_at DESC LIMIT $5"#,
        wanted.tool,
        wanted.outcome,
        wanted.conversation.map(|conversation| conversation.uuid()),
        hours_back(wanted.hours),
        most
    )
    .fetch_all(&mut **transaction)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Line {
            recorded: shown(row.recorded_at),
            tool: row.tool,
            outcome: row.outcome,
            customer: known(row.customer_id.map(CustomerId::from_uuid)),
            conversation: known(row.conversation_id.map(ConversationId::from_uuid)),
            receipt: hex::encode(row.record_leaf),
        })
        .collect())
}
