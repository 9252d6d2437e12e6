//! `GET /alarms`: what was noticed in replies and tool calls, in numbers with the conversations behind them.

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

/// Most events in the list.
const LIST_MAX: i64 = 100;
/// Most events in a file.
const FILE_MAX: i64 = 10_000;

/// Which events the list shows; all of them without a word.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    kind: Option<String>,
    /// How far back; everything without it.
    hours: Option<i32>,
}

struct Count {
    kind: String,
    meaning: &'static str,
    rule: String,
    replies: i64,
    count: i64,
}

struct Event {
    recorded: String,
    kind: String,
    rule: String,
    count: i32,
    customer: String,
    conversation: String,
}

struct Used {
    turns: i64,
    tokens: i64,
    cost: String,
}

#[derive(Template)]
#[template(path = "alarms.html")]
struct Page {
    shell: Shell,
    counts: Vec<Count>,
    events: Vec<Event>,
    used: Used,
    filtered: bool,
    query: String,
}

/// Shows the last day's counts, the newest events and what the model's use came to.
///
/// # Errors
/// [`PageError`].
pub async fn show_alarms(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let counts = sqlx::query!(
        r#"SELECT kind AS "kind!", rule AS "rule!", count(*) AS "replies!", sum(number)::bigint AS "count!"
             FROM (SELECT kind, rule, number, recorded_at FROM bank.chat_event
                   UNION ALL SELECT 'call_canary', side || '_' || tool, 1, recorded_at FROM bank.call_alarm
                   UNION ALL SELECT 'turned_away', reason || '_' || tool, 1, recorded_at FROM bank.turned_away) AS noticed
            WHERE recorded_at > bank.bank_clock() - interval '24 hours'
            GROUP BY kind, rule
            ORDER BY kind IN ('canary_alarm', 'call_canary') DESC, kind = 'secret_asked' DESC, kind IN ('turned_away', 'agent_misreport', 'scam_advice') DESC, sum(number) DESC, rule"#
    )
    .fetch_all(&mut *transaction)
    .await?;
    let events = read_events(&mut transaction, &wanted, LIST_MAX).await?;
    let used = sqlx::query!(
        r#"SELECT count(*) AS "turns!", coalesce(sum(input_tokens::bigint + output_tokens), 0)::bigint AS "tokens!",
                  coalesce(sum(cost_micros), 0)::bigint AS "cost!"
             FROM bank.model_use WHERE recorded_at > bank.bank_clock() - interval '24 hours'"#
    )
    .fetch_one(&mut *transaction)
    .await?;
    transaction.rollback().await?;
    let page = Page {
        shell: Shell::signed_in(&operator, "/alarms"),
        counts: counts
            .into_iter()
            .map(|row| Count {
                meaning: meaning(&row.kind),
                kind: row.kind,
                rule: row.rule,
                replies: row.replies,
                count: row.count,
            })
            .collect(),
        events,
        used: Used {
            turns: used.turns,
            tokens: used.tokens,
            cost: format!("{}.{:06}", used.cost / 1_000_000, used.cost % 1_000_000),
        },
        filtered: wanted.kind.is_some() || wanted.hours.is_some(),
        query: wanted.query(),
    };
    Ok(render(StatusCode::OK, &page))
}

impl Wanted {
    /// The filters as they stand in an address.
    fn query(&self) -> String {
        let kind = in_address("kind", self.kind.as_deref());
        let hours = self.hours.map(|hours| format!("hours={hours}"));
        kind.into_iter().chain(hours).collect::<Vec<_>>().join("&")
    }
}

/// `GET /alarms.csv`: the filtered list as a file.
///
/// # Errors
/// [`PageError`].
pub async fn export_alarms(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let events = read_events(&mut transaction, &wanted, FILE_MAX).await?;
    transaction.rollback().await?;
    let headings = ["time", "kind", "rule", "count", "customer", "conversation"];
    let row = |event: Event| {
        vec![
            event.recorded,
            event.kind,
            event.rule,
            event.count.to_string(),
            event.customer,
            event.conversation,
        ]
    };
    Ok(csv::file("alarms", &headings, events.into_iter().map(row)))
}

async fn read_events(
    transaction: &mut Transaction<'static, Postgres>,
    wanted: &Wanted,
    most: i64,
) -> Result<Vec<Event>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"SELECT recorded_at AS "recorded_at!", kind AS "kind!", rule AS "rule!", number AS "number!",
                  customer_id, conversation_id
             FROM (SELECT recorded_at, kind, rule, number, customer_id, conversation_id FROM bank.chat_event
                   UNION ALL
                   SELECT recorded_at, 'call_canary', side || '_' || tool, 1, customer_id, conversation_id FROM bank.call_alarm
                   UNION ALL
                   SELECT recorded_at, 'turned_away', reason || '_' || tool, 1, NULL, NULL FROM bank.turned_away) AS noticed
            WHERE ($1::text IS NULL OR kind = $1) AND recorded_at > bank.bank_clock() - make_interval(hours => $2)
            ORDER BY recorded_at DESC LIMIT $3"#,
        wanted.kind,
        hours_back(wanted.hours),
        most
    )
    .fetch_all(&mut **transaction)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Event {
            recorded: shown(row.recorded_at),
            kind: row.kind,
            rule: row.rule,
            count: row.number,
            customer: known(row.customer_id.map(CustomerId::from_uuid)),
            conversation: known(row.conversation_id.map(ConversationId::from_uuid)),
        })
        .collect())
}

/// A kind of event in words.
fn meaning(kind: &str) -> &'static str {
    match kind {
        "canary_alarm" => "Reply withheld: it held another customer's canary",
        "secret_asked" => "Reply withheld: it asked the customer for a secret",
        "injection_flagged" => "A text gave orders to the assistant",
        "masked" => "A secret in a reply was masked",
        "foreign_contact" => "A reply named an address that is not the bank's",
        "guardrail_hit" => "A guardrail of the assistant found something",
        "claim_corrected" => {
            "A reply said that something waits or was done, and the record says otherwise"
        }
        "agent_misreport" => "The assistant reported what is not on record, or in no agreed form",
        "scam_advice" => "A reply advised what only a swindler advises",
        "turned_away" => "A call after its turn's end, or made twice, was turned away",
        "call_canary" => "Tool call withheld: it held another customer's canary",
        _ => "",
    }
}
