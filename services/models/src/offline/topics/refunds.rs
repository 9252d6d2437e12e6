//! Sending an incoming payment back.

use serde_json::json;

use crate::offline::{
    ask::Movement,
    turn::{Part, Turn},
    words::Kind,
};

use super::{
    activity::{find, is_incoming, line, transaction_id},
    request,
};

/// Prepares sending back the one payment that fits; asks when none or several do.
pub(super) fn refund(turn: &Turn<'_>, movement: &Movement) -> Part {
    if movement.sum.is_none() && movement.name.is_none() {
        return Ok(
            "Which payment should go back? For example: Send back the 10 from Bob".to_owned(),
        );
    }
    let found = find(turn, movement, is_incoming)?;
    match found[..] {
        [one] => match transaction_id(one) {
            Some(id) => request(turn, "request_refund", json!({ "transaction": id }), Kind::REFUND),
            None => Ok("I can't send that one back.".to_owned()),
        },
        [] => Ok("I see no recent incoming payment like that, so nothing was prepared. Type “show my last transactions” to look for it.".to_owned()),
        _ => {
            let lines: Vec<String> = found.iter().take(5).filter_map(|one| line(one)).collect();
            Ok(format!(
                "More than one payment fits:\n{}\nTell me the amount and the name of the one you mean.",
                lines.join("\n")
            ))
        }
    }
}
