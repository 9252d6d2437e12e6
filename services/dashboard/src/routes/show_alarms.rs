//! `GET /alarms`: what the chat origin noticed in replies, in numbers with the conversations behind them.

use askama::Template;
use axum::{
    extract::{Query, State},
    http::StatusCode,
    response::Response,
};
use countersign_domain::{ConversationId, CustomerId};
use serde::Deserialize;

use super::show_overview::shown;
use crate::{
    app::App,
    page::{PageError, Shell, render},
    session,
    session::Operator,
};

/// Most events in the list.
const LIST_MAX: i64 = 100;

/// Which events the list shows; all of them without a word.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    kind: Option<String>,
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
        r#"SELECT kind, rule, count(*) AS "replies!", sum(number)::bigint AS "count!"
             FROM bank.chat_event WHERE recorded_at > bank.bank_clock() - interval '24 hours'
            GROUP BY kind, rule ORDER BY kind = 'canary_alarm' DESC, kind = 'secret_asked' DESC, sum(number) DESC, rule"#
    )
    .fetch_all(&mut *transaction)
    .await?;
    let rows = sqlx::query!(
        "SELECT recorded_at, kind, rule, number, customer_id, conversation_id FROM bank.chat_event
          WHERE ($1::text IS NULL OR kind = $1) ORDER BY recorded_at DESC LIMIT $2",
        wanted.kind,
        LIST_MAX
    )
    .fetch_all(&mut *transaction)
    .await?;
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
        events: rows
            .into_iter()
            .map(|row| Event {
                recorded: shown(row.recorded_at),
                kind: row.kind,
                rule: row.rule,
                count: row.number,
                customer: CustomerId::from_uuid(row.customer_id).to_string(),
                conversation: ConversationId::from_uuid(row.conversation_id).to_string(),
            })
            .collect(),
        used: Used {
            turns: used.turns,
            tokens: used.tokens,
            cost: format!("{}.{:06}", used.cost / 1_000_000, used.cost % 1_000_000),
        },
        filtered: wanted.kind.is_some(),
    };
    Ok(render(StatusCode::OK, &page))
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
        "claim_corrected" => "A reply said that something was done, and it was not",
        _ => "",
    }
}
