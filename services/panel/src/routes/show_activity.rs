//! `GET /activity`: what went in and out, newest first, all accounts or one.

use std::collections::HashMap;

use askama::Template;
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::StatusCode,
    response::Response,
};
use countersign_domain::{AccountId, TransferId};
use countersign_store::{
    read::{self, transaction::Transaction},
    session::begin,
};
use serde::Deserialize;

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    show::{self, ShownName},
};

/// Movements on one page.
const PAGE_LENGTH: usize = 25;

/// Which movements: an account's id or an empty text for all, and the last one of the page before.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[serde(default)]
    account: String,
    after: Option<TransferId>,
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityPage {
    shell: Shell,
    accounts: Vec<Choice>,
    movements: Vec<Line>,
    older: Option<String>,
}

struct Choice {
    id: String,
    label: String,
    current: bool,
}

struct Line {
    counterparty: ShownName,
    reference: Option<ShownName>,
    what: &'static str,
    account: String,
    day: String,
    amount: String,
    incoming: bool,
    on_its_way: bool,
}

/// Shows a page of movements.
pub async fn show_activity(
    State(app): State<App>,
    PageSession(session): PageSession,
    input: Result<Query<Input>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(input) = input.map_err(|_| PageError::NotFound)?;
    let account = match input.account.as_str() {
        "" => None,
        text => Some(text.parse::<AccountId>().map_err(|_| PageError::NotFound)?),
    };
    let mut transaction = begin(&app.pool, &session.secret).await?;
    let accounts = read::account::all(&mut transaction).await?;
    if account.is_some_and(|id| accounts.iter().all(|one| one.id != id)) {
        return Err(PageError::NotFound);
    }
    // One more than is shown tells whether there are older ones.
    let asked = i64::try_from(PAGE_LENGTH + 1).unwrap_or(i64::MAX);
    let mut found = read::transaction::page(&mut transaction, account, input.after, asked)
        .await?
        .ok_or(PageError::NotFound)?;
    let more = found.len() > PAGE_LENGTH;
    found.truncate(PAGE_LENGTH);
    let older = found.last().filter(|_| more).map(|last| match account {
        Some(account) => format!("/activity?account={account}&after={}", last.id),
        None => format!("/activity?after={}", last.id),
    });
    let labels: HashMap<AccountId, &str> = accounts
        .iter()
        .map(|one| (one.id, one.label.as_str()))
        .collect();
    let movements = found
        .into_iter()
        .map(|movement| line(movement, &labels))
        .collect();
    let accounts = accounts
        .iter()
        .map(|one| Choice {
            id: one.id.to_string(),
            label: one.label.clone(),
            current: Some(one.id) == account,
        })
        .collect();
    let page = ActivityPage {
        shell: Shell::signed_in(&app, &session, "/activity"),
        accounts,
        movements,
        older,
    };
    Ok(page::render(StatusCode::OK, &page))
}

fn line(movement: Transaction, labels: &HashMap<AccountId, &str>) -> Line {
    Line {
        counterparty: show::name(&movement.counterparty),
        reference: show::optional_name(&movement.reference),
        what: what(&movement.kind),
        account: labels
            .get(&movement.account)
            .map_or("", |label| *label)
            .to_owned(),
        day: show::day(movement.day),
        amount: movement.amount.to_display(),
        incoming: movement.incoming,
        on_its_way: movement.on_its_way,
    }
}

/// A kind of movement in the words of people.
fn what(kind: &str) -> &'static str {
    match kind {
        "payment_out" => "Sent",
        "payment_in" => "Received",
        "card_payment" => "Paid by card",
        "own_out" => "Moved to your account",
        "own_in" => "Moved from your account",
        "refund_out" => "Sent back",
        "interest" => "Interest",
        "fee" => "Fee",
        _ => "Other",
    }
}
