//! `GET /`: what was asked for and what became of it, in numbers with the requests behind them.

use askama::Template;
use axum::{
    extract::{Query, State},
    http::{StatusCode, header},
    response::Response,
};
use countersign_domain::{ActionId, ConversationId};
use serde::Deserialize;
use sqlx::{Postgres, Transaction};
use time::OffsetDateTime;

use crate::{
    app::App,
    csv, door,
    page::{PageError, Shell, render},
    session,
    session::Operator,
};

/// Most requests in the list.
const LIST_MAX: i64 = 50;

/// Most requests in a file.
const FILE_MAX: i64 = 10_000;
/// Longest look back at events, in hours.
const HOURS_MAX: i32 = 24 * 31;

/// Which requests the list shows; all of them without a word.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    state: Option<String>,
    kind: Option<String>,
    reason: Option<String>,
    conversation: Option<ConversationId>,
    /// An event that happened to them within `hours`.
    event: Option<String>,
    hours: Option<i32>,
    /// Only those with an event that is not in the signed log in time.
    #[serde(default)]
    unlogged: bool,
    /// Whether the page loads itself again.
    #[serde(default)]
    live: bool,
}

impl Wanted {
    fn is_filtered(&self) -> bool {
        self.state.is_some()
            || self.kind.is_some()
            || self.reason.is_some()
            || self.conversation.is_some()
            || self.event.is_some()
            || self.unlogged
    }

    /// The filters as they stand in an address.
    fn query(&self) -> String {
        let mut query = Vec::new();
        let texts = [
            ("state", &self.state),
            ("kind", &self.kind),
            ("reason", &self.reason),
            ("event", &self.event),
        ];
        for (name, value) in texts {
            query.extend(in_address(name, value.as_deref()));
        }
        if let Some(conversation) = self.conversation {
            query.push(format!("conversation={conversation}"));
        }
        if let Some(hours) = self.hours {
            query.push(format!("hours={hours}"));
        }
        if self.unlogged {
            query.push("unlogged=true".to_owned());
        }
        query.join("&")
    }
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

/// What asks for somebody to act.
struct Urgent {
    alarms: i64,
    refused: i64,
    unlogged: i64,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Page {
    shell: Shell,
    urgent: Urgent,
    waiting: Option<u64>,
    approvals_page: Option<String>,
    counts: Vec<Count>,
    largest: i64,
    lines: Vec<Line>,
    filtered: bool,
    query: String,
    live: bool,
}

/// Shows what asks for action, the last day's counts and the newest requests.
///
/// # Errors
/// [`PageError`].
pub async fn show_overview(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let urgent = sqlx::query_as!(
        Urgent,
        r#"SELECT (SELECT count(*) FROM bank.chat_event WHERE kind IN ('canary_alarm', 'secret_asked', 'agent_misreport', 'scam_advice') AND recorded_at > bank.bank_clock() - interval '24 hours')
                  + (SELECT count(*) FROM bank.call_alarm WHERE recorded_at > bank.bank_clock() - interval '24 hours')
                  + (SELECT count(*) FROM bank.turned_away WHERE recorded_at > bank.bank_clock() - interval '24 hours') AS "alarms!",
                  (SELECT count(*) FROM bank.bank_event WHERE kind = 'refused' AND recorded_at > bank.bank_clock() - interval '24 hours') AS "refused!",
                  (SELECT count(*) FROM bank.bank_event WHERE leaf_index IS NULL AND recorded_at < bank.bank_clock() - interval '10 seconds') AS "unlogged!""#
    )
    .fetch_one(&mut *transaction)
    .await?;
    let counts = sqlx::query_as!(
        Count,
        r#"SELECT kind, state, coalesce(reason, '') AS "reason!", count(*) AS "count!"
             FROM bank.pending_action WHERE created_at > bank.bank_clock() - interval '24 hours'
            GROUP BY kind, state, reason ORDER BY count(*) DESC, kind, state"#
    )
    .fetch_all(&mut *transaction)
    .await?;
    let lines = read_lines(&mut transaction, &wanted, LIST_MAX).await?;
    transaction.rollback().await?;
    let numbers = door::ask(app.door.as_deref()).await;
    let page = Page {
        shell: Shell::signed_in(&operator, "/"),
        urgent,
        waiting: numbers.and_then(|numbers| numbers.waiting),
        approvals_page: app
            .door
            .as_ref()
            .and_then(|places| places.approvals_page.clone()),
        largest: counts.iter().map(|count| count.count).max().unwrap_or(1),
        counts,
        lines,
        filtered: wanted.is_filtered(),
        query: wanted.query(),
        live: wanted.live,
    };
    let mut response = render(StatusCode::OK, &page);
    if wanted.live {
        let again = header::HeaderValue::from_static(LIVE_SECONDS);
        response.headers_mut().insert(header::REFRESH, again);
    }
    Ok(response)
}

/// How often a live page loads itself again, in seconds.
const LIVE_SECONDS: &str = "10";

/// `GET /requests.csv`: the filtered list as a file.
///
/// # Errors
/// [`PageError`].
pub async fn export_requests(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let lines = read_lines(&mut transaction, &wanted, FILE_MAX).await?;
    transaction.rollback().await?;
    let headings = ["request", "kind", "state", "reason", "changed"];
    let row = |line: Line| {
        vec![
            line.action,
            line.kind,
            line.state,
            line.reason,
            line.changed,
        ]
    };
    Ok(csv::file("requests", &headings, lines.into_iter().map(row)))
}

async fn read_lines(
    transaction: &mut Transaction<'static, Postgres>,
    wanted: &Wanted,
    most: i64,
) -> Result<Vec<Line>, sqlx::Error> {
    let rows = sqlx::query!(
        "SELECT action_id, kind, state, reason, changed_at FROM bank.pending_action a
          WHERE ($1::text IS NULL OR state = $1) AND ($2::text IS NULL OR kind = $2)
            AND ($3::uuid IS NULL OR conversation_id = $3) AND ($4::text IS NULL OR reason = $4)
            AND ($5::text IS NULL OR EXISTS (
                  SELECT FROM bank.bank_event e WHERE e.customer_id = a.customer_id AND e.action_id = a.action_id AND e.kind = $5
                     AND e.recorded_at > bank.bank_clock() - make_interval(hours => $6)))
            AND (NOT $7 OR EXISTS (
                  SELECT FROM bank.bank_event e WHERE e.customer_id = a.customer_id AND e.action_id = a.action_id AND e.leaf_index IS NULL
                     AND e.recorded_at < bank.bank_clock() - interval '10 seconds'))
          ORDER BY changed_at DESC LIMIT $8",
        wanted.state,
        wanted.kind,
        wanted.conversation.map(|conversation| conversation.uuid()),
        wanted.reason,
        wanted.event,
        wanted.hours.unwrap_or(24).clamp(1, HOURS_MAX),
        wanted.unlogged,
        most
    )
    .fetch_all(&mut **transaction)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Line {
            action: ActionId::from_uuid(row.action_id).to_string(),
            kind: row.kind,
            state: row.state,
            reason: row.reason.unwrap_or_default(),
            changed: shown(row.changed_at),
        })
        .collect())
}

/// A filter as it stands in an address: a name of the bank's own lists. Anything else filters nothing in and is left out.
pub fn in_address(name: &str, value: Option<&str>) -> Option<String> {
    value
        .filter(|value| value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
        .map(|value| format!("{name}={value}"))
}

/// How many hours a list goes back: as many as were asked for, and ten years without a word.
pub fn hours_back(hours: Option<i32>) -> i32 {
    const ALWAYS: i32 = 24 * 3653;
    hours.unwrap_or(ALWAYS).clamp(1, ALWAYS)
}

/// An id in text; nothing where nobody is known.
pub fn known(id: Option<impl ToString>) -> String {
    id.map_or_else(String::new, |id| id.to_string())
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
