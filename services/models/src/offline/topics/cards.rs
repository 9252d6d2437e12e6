//! Freezing and unfreezing cards.

use serde_json::{Value, json};

use crate::offline::{
    ask::Card,
    reading::{id, text},
    text::{best_fits, shown_name},
    turn::{Part, Turn},
    words::Kind,
};

use super::request_or_leave_open;

/// Prepares a freeze or an unfreeze; which card stays open unless the customer named one.
pub(super) fn request(turn: &Turn<'_>, card: &Card) -> Part {
    let (tool, kind) = if card.freeze {
        ("request_card_freeze", Kind::FREEZE)
    } else {
        ("request_card_unfreeze", Kind::UNFREEZE)
    };
    let mut arguments = json!({});
    if let Some(which) = &card.which {
        let cards = turn.list("list_cards")?;
        match best_fits(which, cards, names)[..] {
            [one] => {
                if let Some(id) = id(one, "crd") {
                    arguments["card"] = json!(id);
                }
            }
            [] => {
                let known: Vec<String> = cards.iter().filter_map(shown_card).collect();
                return Ok(format!(
                    "I don't find a card “{}”, so nothing was prepared. Your cards:\n{}",
                    shown_name(which),
                    known.join("\n")
                ));
            }
            _ => {}
        }
    }
    request_or_leave_open(turn, tool, arguments, &[("card", "card")], kind)
}

/// Lists the cards.
pub(super) fn show(turn: &Turn<'_>) -> Part {
    let cards: Vec<String> = turn
        .list("list_cards")?
        .iter()
        .filter_map(shown_card)
        .collect();
    if cards.is_empty() {
        return Ok("You have no cards.".to_owned());
    }
    Ok(format!("Your cards:\n{}", cards.join("\n")))
}

fn names(card: &Value) -> Vec<String> {
    ["last_four", "digits", "ending", "label", "name", "kind"]
        .into_iter()
        .filter_map(|member| text(card, &[member]))
        .map(str::to_owned)
        .collect()
}

fn shown_card(card: &Value) -> Option<String> {
    let label = text(card, &["label", "name", "kind"]).map(shown_name)?;
    let digits = text(card, &["last_four", "digits", "ending"])
        .map_or_else(String::new, |digits| format!(" ·· {digits}"));
    let state = match text(card, &["state", "status"]) {
        // Worded so that nobody takes it for something the assistant did.
        Some("frozen") => ", not usable (frozen)".to_owned(),
        Some(state) => format!(", {state}"),
        None => String::new(),
    };
    Some(format!("• {label}{digits}{state}"))
}
