//! Transactions: the newest, older ones, those with somebody.

use serde_json::{Value, json};

use crate::offline::{
    ask::{Activity, Movement},
    reading::{id, items_at, money, same_amount, shown_money, text},
    text::{fit, marked_name, shown_name},
    turn::{Part, Stop, Turn},
};

use super::payments::own_account;

/// Transactions in one reply.
const SHOWN_MAX: usize = 10;
/// Pages that are searched for a movement.
const PAGES_MAX: usize = 3;

/// Shows transactions.
pub(super) fn show(turn: &Turn<'_>, activity: &Activity) -> Part {
    let account = match &activity.account {
        Some(name) => own_account(turn, name)?,
        None => None,
    };
    if let Some(with) = &activity.with {
        return show_with(turn, with, account.as_deref());
    }
    // One page of the bank holds more than one reply shows.
    let mut skip = activity.page * SHOWN_MAX;
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = page(turn, account.as_deref(), cursor)?;
        let transactions = transactions(page);
        if skip < transactions.len() || next(page).is_none() {
            let lines: Vec<String> = transactions
                .iter()
                .skip(skip)
                .take(SHOWN_MAX)
                .filter_map(line)
                .collect();
            if lines.is_empty() {
                let said = if activity.page == 0 {
                    "There are no transactions yet."
                } else {
                    "There are no older ones."
                };
                return Ok(said.to_owned());
            }
            let more = if skip + SHOWN_MAX < transactions.len() || next(page).is_some() {
                "\nType “more” for older ones."
            } else {
                ""
            };
            let head = if activity.page == 0 {
                "Your last transactions"
            } else {
                "Older transactions"
            };
            return Ok(format!("{head}:\n{}{more}", lines.join("\n")));
        }
        skip -= transactions.len();
        cursor = next(page);
    }
    Ok("I only look that far back here. See Activity on the page for all of them.".to_owned())
}

fn show_with(turn: &Turn<'_>, with: &str, account: Option<&str>) -> Part {
    let mut lines: Vec<String> = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = page(turn, account, cursor)?;
        lines.extend(
            transactions(page)
                .iter()
                .filter(|one| is_with(one, with))
                .filter_map(line),
        );
        cursor = next(page);
        if cursor.is_none() || lines.len() >= SHOWN_MAX {
            break;
        }
    }
    lines.truncate(SHOWN_MAX);
    if lines.is_empty() {
        return Ok(format!(
            "I see no recent transactions with “{}”.",
            shown_name(with)
        ));
    }
    Ok(format!(
        "Transactions with “{}”:\n{}",
        shown_name(with),
        lines.join("\n")
    ))
}

/// The transactions that a customer's words fit, newest first, from the last pages.
pub(super) fn find<'p>(
    turn: &Turn<'p>,
    movement: &Movement,
    wanted: impl Fn(&Value) -> bool,
) -> Result<Vec<&'p Value>, Stop> {
    let mut found: Vec<&Value> = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = page(turn, None, cursor)?;
        found.extend(
            transactions(page)
                .iter()
                .filter(|one| wanted(one) && fits(one, movement)),
        );
        cursor = next(page);
        if cursor.is_none() || !found.is_empty() {
            break;
        }
    }
    Ok(found)
}

fn fits(transaction: &Value, movement: &Movement) -> bool {
    let sum = movement.sum.as_ref().and_then(|sum| sum.value.as_deref());
    let amount_fits = sum.is_none_or(|typed| {
        amount(transaction).is_some_and(|(amount, _)| same_amount(typed, &amount))
    });
    let name_fits = movement
        .name
        .as_deref()
        .is_none_or(|name| is_with(transaction, name));
    amount_fits && name_fits && (sum.is_some() || movement.name.is_some())
}

fn is_with(transaction: &Value, name: &str) -> bool {
    counterparty(transaction).is_some_and(|known| fit(name, known).is_some())
        || text(transaction, &["reference", "category"])
            .is_some_and(|known| fit(name, known).is_some())
}

/// A transaction as one line of a reply.
pub(super) fn line(transaction: &Value) -> Option<String> {
    let money = shown_money(&amount(transaction)?);
    let day = text(
        transaction,
        &[
            "date",
            "booked_on",
            "day",
            "booked_at",
            "created_at",
            "posted_at",
        ],
    )
    .map_or_else(String::new, |day| {
        format!("{} ", day.get(..10).unwrap_or(day))
    });
    let name = counterparty(transaction)
        .map_or_else(String::new, |name| format!(" · {}", marked_name(name)));
    let sign = if is_incoming(transaction) && !money.starts_with('-') {
        "+"
    } else {
        ""
    };
    Some(format!("• {day}{sign}{money}{name}"))
}

/// Whether money came in.
pub(super) fn is_incoming(transaction: &Value) -> bool {
    let kind = text(transaction, &["direction", "kind", "type"]).unwrap_or_default();
    matches!(
        kind,
        "in" | "incoming" | "credit" | "payment_in" | "own_in" | "interest" | "opening"
    )
}

/// The id of a transaction.
pub(super) fn transaction_id(transaction: &Value) -> Option<&str> {
    id(transaction, "trf")
}

fn counterparty(transaction: &Value) -> Option<&str> {
    text(
        transaction,
        &[
            "counterparty",
            "counterparty_name",
            "merchant",
            "payee",
            "sender",
            "name",
            "with",
        ],
    )
}

fn amount(transaction: &Value) -> Option<(String, String)> {
    money(transaction, &["amount", "money"])
}

fn page<'p>(
    turn: &Turn<'p>,
    account: Option<&str>,
    cursor: Option<&str>,
) -> Result<&'p Value, Stop> {
    let mut arguments = json!({});
    if let Some(account) = account {
        arguments["account"] = json!(account);
    }
    if let Some(cursor) = cursor {
        arguments["cursor"] = json!(cursor);
    }
    turn.read("list_transactions", arguments)
}

fn transactions(page: &Value) -> &[Value] {
    match items_at(page, "transactions") {
        [] => crate::offline::reading::items(page),
        transactions => transactions,
    }
}

fn next(page: &Value) -> Option<&str> {
    page["next_cursor"].as_str()
}
