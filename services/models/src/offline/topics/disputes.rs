//! Disputing a transaction. What happened is typed by the customer on the panel.

use serde_json::json;

use crate::offline::{
    ask::Dispute,
    turn::{Part, Turn},
    words::Kind,
};

use super::{
    activity::{find, is_incoming, line, transaction_id},
    request_or_leave_open,
};

/// Prepares a dispute; transaction and reason stay open where the customer was not clear.
pub(super) fn request(turn: &Turn<'_>, dispute: &Dispute) -> Part {
    let mut arguments = json!({});
    let mut note = String::new();
    let named = dispute.movement.sum.is_some() || dispute.movement.name.is_some();
    if named {
        let found = find(turn, &dispute.movement, |one| !is_incoming(one))?;
        match found[..] {
            [one] => {
                if let Some(id) = transaction_id(one) {
                    arguments["transaction"] = json!(id);
                }
            }
            [] => {
                note =
                    " I see no recent transaction like that, so please choose it there.".to_owned()
            }
            _ => {
                let lines: Vec<String> = found.iter().take(5).filter_map(|one| line(one)).collect();
                note = format!(
                    " More than one transaction fits, so please choose it there:\n{}",
                    lines.join("\n")
                );
            }
        }
    }
    if let Some(reason) = dispute.reason {
        arguments["reason"] = json!(reason);
    }
    let said = request_or_leave_open(
        turn,
        "request_dispute",
        arguments,
        &[("transaction", "transaction"), ("reason", "reason")],
        Kind::DISPUTE,
    )?;
    Ok(format!("{said}{note}"))
}
