//! The customer's payees.

use serde_json::json;

use crate::offline::{
    reading::text,
    text::marked_name,
    turn::{Part, Turn},
    words::Kind,
};

use super::request;

/// Most payees in one reply.
const SHOWN_MAX: usize = 30;

/// Lists the payees.
pub(super) fn show(turn: &Turn<'_>) -> Part {
    let payees = turn.list("list_payees")?;
    if payees.is_empty() {
        return Ok("You have no payees yet. To save one, type: Add a new payee".to_owned());
    }
    let mut lines: Vec<String> = payees
        .iter()
        .take(SHOWN_MAX)
        .filter_map(|payee| {
            let name = text(payee, &["name", "alias"]).map(marked_name)?;
            Some(match text(payee, &["account_ends"]) {
                Some(digits) => format!("• {name} ·· {digits}"),
                None => format!("• {name}"),
            })
        })
        .collect();
    if payees.len() > SHOWN_MAX {
        lines.push(format!("… and {} more.", payees.len() - SHOWN_MAX));
    }
    Ok(format!("Your payees:\n{}", lines.join("\n")))
}

/// Opens the form for a new payee.
pub(super) fn add(turn: &Turn<'_>) -> Part {
    request(turn, "request_payee", json!({}), Kind::PAYEE)
}
