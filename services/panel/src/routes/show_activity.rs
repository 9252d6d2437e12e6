//! `GET /activity` and `GET /activity.csv`: what went in and out, newest first, filtered; as a page and as a statement.

use std::collections::HashMap;

use askama::Template;
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use countersign_domain::AccountId;
use countersign_store::{
    read::{
        self,
        account::Account,
        history::{self, Filter, Movement},
    },
    session::begin,
};
use countersign_texts::Texts;
use serde::Deserialize;

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    show::{self, ShownName},
};

/// Movements on one page.
const PAGE_LENGTH: usize = 25;

/// Movements in one statement.
const STATEMENT_LENGTH_MAX: i64 = 10_000;
/// Longest text that is searched for.
const TEXT_LENGTH_MAX: usize = 100;

/// Which movements, as the form says it (an empty field is no filter), and the last one of the page before.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[serde(default)]
    account: String,
    #[serde(default)]
    way: String,
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    after: String,
}

impl Input {
    /// The filter, of the customer's own accounts only. What is no filter is not there.
    fn filter(&self, accounts: &[Account]) -> Result<Filter, PageError> {
        let account = optional::<AccountId>(&self.account)?;
        if account.is_some_and(|id| accounts.iter().all(|one| one.id != id)) {
            return Err(PageError::NotFound);
        }
        let day = |text: &str| {
            let form = time::macros::format_description!("[year]-[month]-[day]");
            (!text.is_empty())
                .then(|| time::Date::parse(text, &form))
                .transpose()
                .map_err(|_| PageError::NotFound)
        };
        if self.text.chars().count() > TEXT_LENGTH_MAX || self.text.contains('\0') {
            return Err(PageError::NotFound);
        }
        Ok(Filter {
            account,
            incoming: match self.way.as_str() {
                "" => None,
                "in" => Some(true),
                "out" => Some(false),
                _ => return Err(PageError::NotFound),
            },
            from: day(&self.from)?,
            to: day(&self.to)?,
            text: self.text.trim().to_owned(),
        })
    }

    /// The same filter as the query of an address, without a place in the list.
    fn query(&self) -> String {
        let fields = [
            ("account", &self.account),
            ("way", &self.way),
            ("from", &self.from),
            ("to", &self.to),
            ("text", &self.text),
        ];
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in fields {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        query.finish()
    }
}

fn optional<T: std::str::FromStr>(text: &str) -> Result<Option<T>, PageError> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| PageError::NotFound)
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityPage {
    shell: Shell,
    accounts: Vec<Choice>,
    movements: Vec<Line>,
    older: Option<String>,
    statement: String,
    input: Input,
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
    state: &'static str,
    undo_until: Option<show::Moment>,
    undone: bool,
}

/// Shows a page of movements.
pub async fn show_activity(
    State(app): State<App>,
    PageSession(session): PageSession,
    input: Result<Query<Input>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(input) = input.map_err(|_| PageError::NotFound)?;
    let mut transaction = begin(&app.pool, &session.secret).await?;
    let accounts = read::account::all(&mut transaction).await?;
    let filter = input.filter(&accounts)?;
    // One more than is shown tells whether there are older ones.
    let asked = i64::try_from(PAGE_LENGTH + 1).unwrap_or(i64::MAX);
    let mut found = history::page(&mut transaction, &filter, optional(&input.after)?, asked)
        .await?
        .ok_or(PageError::NotFound)?;
    let more = found.len() > PAGE_LENGTH;
    found.truncate(PAGE_LENGTH);
    let query = input.query();
    let older = found.last().filter(|_| more).map(|last| {
        let before = if query.is_empty() { "" } else { "&" };
        format!("/activity?{query}{before}after={}", last.id)
    });
    let labels: HashMap<AccountId, &str> = accounts
        .iter()
        .map(|one| (one.id, one.label.as_str()))
        .collect();
    let movements = found
        .into_iter()
        .map(|movement| line(movement, &labels, session.texts))
        .collect();
    let accounts = accounts
        .iter()
        .map(|one| Choice {
            id: one.id.to_string(),
            label: one.label.clone(),
            current: Some(one.id) == filter.account,
        })
        .collect();
    let page = ActivityPage {
        shell: Shell::signed_in(&app, &session, "/activity"),
        accounts,
        movements,
        older,
        statement: format!("/activity.csv?{query}"),
        input,
    };
    Ok(page::render(StatusCode::OK, &page))
}

/// Hands out the same movements as a file for spreadsheets, the newest ten thousand.
pub async fn download_statement(
    State(app): State<App>,
    PageSession(session): PageSession,
    input: Result<Query<Input>, QueryRejection>,
) -> Result<Response, PageError> {
    let Query(input) = input.map_err(|_| PageError::NotFound)?;
    let mut transaction = begin(&app.pool, &session.secret).await?;
    let accounts = read::account::all(&mut transaction).await?;
    let filter = input.filter(&accounts)?;
    let movements = history::page(&mut transaction, &filter, None, STATEMENT_LENGTH_MAX)
        .await?
        .ok_or(PageError::NotFound)?;
    let ibans: HashMap<AccountId, &str> = accounts
        .iter()
        .map(|one| (one.id, one.iban.as_str()))
        .collect();
    let statement =
        statement(&movements, &ibans).map_err(|error| PageError::Unavailable(Box::new(error)))?;
    let headers = [
        (
            header::CONTENT_TYPE,
            "text/csv; charset=utf-8; header=present",
        ),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"statement.csv\"",
        ),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, statement).into_response())
}

/// A statement (RFC 4180). A text of an outsider that a spreadsheet would take for a formula begins with an apostrophe.
fn statement(
    movements: &[Movement],
    ibans: &HashMap<AccountId, &str>,
) -> Result<Vec<u8>, csv::Error> {
    let mut file = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    file.write_record([
        "day",
        "account",
        "what",
        "name",
        "name_account",
        "reference",
        "amount",
        "currency",
        "state",
    ])?;
    for movement in movements {
        let sign = if movement.incoming { "" } else { "-" };
        file.write_record([
            movement.day.to_string(),
            ibans
                .get(&movement.account)
                .map_or("", |iban| *iban)
                .to_owned(),
            what(&movement.kind).to_owned(),
            inert(&movement.counterparty),
            inert(movement.counterparty_iban.as_deref().unwrap_or_default()),
            inert(&movement.reference),
            format!("{sign}{}", movement.amount.to_wire()),
            movement.amount.currency.code().to_owned(),
            state(movement).to_owned(),
        ])?;
    }
    file.into_inner().map_err(|error| error.into_error().into())
}

/// A text that no spreadsheet runs, and that hides nothing.
fn inert(text: &str) -> String {
    let shown: String = text
        .chars()
        .map(|character| {
            if countersign_domain::text::is_hidden(character) {
                '\u{fffd}'
            } else {
                character
            }
        })
        .collect();
    if shown.starts_with(['=', '+', '-', '@', '\'']) {
        return format!("'{shown}");
    }
    shown
}

fn state(movement: &Movement) -> &'static str {
    if movement.undone {
        "undone"
    } else if movement.undo_until.is_some() {
        "can be undone"
    } else if movement.on_its_way {
        "on its way"
    } else {
        "done"
    }
}

fn line(movement: Movement, labels: &HashMap<AccountId, &str>, texts: &Texts) -> Line {
    Line {
        state: state(&movement),
        undo_until: movement.undo_until.map(show::moment),
        undone: movement.undone,
        counterparty: show::name(&movement.counterparty),
        reference: show::optional_name(&movement.reference),
        what: what(&movement.kind),
        account: labels
            .get(&movement.account)
            .map_or("", |label| *label)
            .to_owned(),
        day: texts.day(movement.day),
        amount: texts.money(movement.amount),
        incoming: movement.incoming,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_runs_nothing_of_an_outsider() {
        for (text, wanted) in [
            ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
            ("+49", "'+49"),
            ("-1", "'-1"),
            ("@SUM", "'@SUM"),
            ("\tx", "\u{fffd}x"),
            ("Bob Smith", "Bob Smith"),
            ("Bob\u{202e}", "Bob\u{fffd}"),
        ] {
            assert_eq!(inert(text), wanted, "{text:?}");
        }
    }
}
