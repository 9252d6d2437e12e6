//! Lines about cards, as the panel's page received them.

use super::{
    Played, Truth,
    replies::{TextSought, folded, sought},
    rows::unquoted,
};
use crate::recording::Seen;

/// Reads a line.
pub fn condition(line: &str, played: &Played<'_>) -> Truth {
    let cards = &played.recording.cards;
    if line == "card offers a merchant in the pick list"
        || line == "card offers a sender in the pick list"
    {
        let kind = if line.contains("merchant") {
            "merchant"
        } else {
            "sender"
        };
        let ids = &played.recording.ids;
        let speaker = played.first_speaker();
        let outsiders: Vec<&str> = ids.names(kind, speaker).collect();
        let saved: Vec<&str> = ids.names("payee_id", speaker).collect();
        return Some(Ok(cards.iter().any(|seen| {
            choices(seen).iter().any(|label| {
                let name = label.split(" ·· ").next().unwrap_or(label);
                outsiders.contains(&name) && !saved.contains(&name)
            })
        })));
    }
    if let Some(text) = line.strip_prefix("card offers ") {
        let text = folded(unquoted(text));
        return Some(Ok(cards.iter().any(|seen| {
            choices(seen)
                .iter()
                .any(|label| folded(label).contains(&text))
        })));
    }
    if line == "card shows old and new amount" {
        return Some(Ok(old_and_new(played)));
    }
    for (stem, wanted) in [
        ("card shows ", true),
        ("card contains ", true),
        ("card does not show ", false),
    ] {
        if let Some(text) = line.strip_prefix(stem) {
            // Words about what a card means, not characters on it, are for people.
            if text.starts_with("a warning") || text.starts_with("a name warning") {
                return Some(warned(text, cards).map(|shown| shown == wanted));
            }
            let text = match sought(text, played) {
                TextSought::Text(text) => folded(&text),
                TextSought::Unclear(why) => return Some(Err(why)),
            };
            return Some(Ok(wanted
                == cards
                    .iter()
                    .any(|seen| folded(&seen.card.to_string()).contains(&text))));
        }
    }
    if let Some(rest) = line.strip_prefix("complete card") {
        let words: Vec<String> = unquoted(rest.trim().trim_start_matches("for "))
            .split(" to ")
            .map(folded)
            .collect();
        return Some(Ok(cards.iter().any(|seen| {
            let shown = folded(&seen.card.to_string());
            seen.card["confirm_hash"].is_string()
                && words.iter().all(|word| shown.contains(word.as_str()))
        })));
    }
    None
}

/// A card that changes a standing order names what it is today, and what it would be or that the customer has to say it.
fn old_and_new(played: &Played<'_>) -> bool {
    let orders = played
        .recording
        .beginning()
        .map(|rows| rows.orders.as_slice())
        .unwrap_or_default();
    played.recording.cards.iter().any(|seen| {
        let shown = folded(&seen.card["rows"].to_string());
        let today = orders.iter().any(|order| {
            let amount = order.amount.to_string();
            let (whole, cents) = amount.split_at(amount.len().saturating_sub(2));
            shown.contains(&format!("{whole}{cents}"))
        });
        let slots = seen.card["open_slots"].as_array().into_iter().flatten();
        let asks = slots.into_iter().any(|slot| slot["slot"] == "amount");
        today && (asks || shown.matches("eur").count() >= 2)
    })
}

/// `a warning about a look-alike`
fn warned(text: &str, cards: &[Seen]) -> Result<bool, String> {
    if text.starts_with("a warning") {
        return Ok(cards.iter().any(|seen| {
            seen.card["warnings"]
                .as_array()
                .is_some_and(|list| !list.is_empty())
        }));
    }
    Err("no rule reads this line".to_owned())
}

fn choices(seen: &Seen) -> Vec<String> {
    let slots = seen.card["open_slots"].as_array().into_iter().flatten();
    slots
        .flat_map(|slot| slot["choices"].as_array().into_iter().flatten())
        .filter_map(|choice| choice["label"].as_str())
        .map(ToOwned::to_owned)
        .collect()
}
