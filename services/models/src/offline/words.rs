//! What the offline model says. Short, plain, and never that something was sent: it cannot know.

use serde_json::Value;

use super::{
    reading,
    text::{pattern, shown},
    turn::Refused,
};

/// Said once, at the start of a conversation.
pub(crate) const WHO_I_AM: &str =
    "I'm the built-in offline model: fixed rules instead of an AI, so plain sentences work best.";

/// What it can do, as sentences to type.
pub(crate) const HELP: &str = "Here is what you can type:\n\
    • Send 20 to Bob\n\
    • How much do I have?\n\
    • Show my last transactions\n\
    • What did I spend on groceries last month?\n\
    • Who are my payees? · Add a new payee\n\
    • Freeze my debit card · Unfreeze it\n\
    • Dispute the 64.10 at Nordwind, I don't recognise it\n\
    • Set up a monthly standing order of 50 to Mum from 1 December\n\
    • Cancel the rent standing order\n\
    • Send back the 10 from Bob\n\
    • Change my address\n\
    • What are my limits? · What is waiting?\n\
    • What letters do I have? · Read the electricity bill\n\
    I prepare; only you can confirm, on the right.";

/// Said when a message is not understood.
pub(crate) const UNKNOWN: &str = "Sorry, I did not understand that.";

/// Longest summary of a request in a reply, in characters.
pub(crate) const SUMMARY_CHARACTERS_MAX: usize = 140;

/// A kind of request, as far as the reply differs by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// What the customer does with the card.
    press: &'static str,
    /// A sentence that asks for it in a way the bank certainly reads.
    example: &'static str,
}

impl Kind {
    /// A payment.
    pub(crate) const PAYMENT: Self = Self {
        press: "press Send there",
        example: "Send 20 to Bob",
    };
    /// Sending a payment back.
    pub(crate) const REFUND: Self = Self {
        press: "press the button there",
        example: "Refund the 10 from Bob",
    };
    /// A standing order.
    pub(crate) const ORDER: Self = Self {
        press: "confirm it there",
        example: "Set up a monthly standing order of 50 to Mum from 1 December",
    };
    /// Freezing a card.
    pub(crate) const FREEZE: Self = Self {
        press: "confirm it there",
        example: "Freeze my debit card",
    };
    /// Unfreezing a card.
    pub(crate) const UNFREEZE: Self = Self {
        press: "confirm it there",
        example: "Unfreeze my debit card",
    };
    /// A dispute.
    pub(crate) const DISPUTE: Self = Self {
        press: "confirm it there",
        example: "Dispute the 64.10 at Nordwind",
    };
    /// A new payee.
    pub(crate) const PAYEE: Self = Self {
        press: "confirm it there",
        example: "Save a new payee",
    };
    /// A change of the profile.
    pub(crate) const PROFILE: Self = Self {
        press: "confirm it there",
        example: "Change my address",
    };
}

/// What to say when a request stands on the panel.
pub(crate) fn prepared(answer: &Value, kind: Kind) -> String {
    let press = kind.press;
    let open: Vec<&str> = reading::items_at(answer, "open_slots")
        .iter()
        .filter_map(slot_name)
        .map(slot_words)
        .collect();
    if answer["status"].as_str() == Some("already_waiting") {
        return if open.is_empty() {
            format!("That is already waiting for you. Check it on the right and {press}.")
        } else {
            format!(
                "That is already waiting for you, with {} open: fill that in on the right, then {press}.",
                joined(&open)
            )
        };
    }
    let replaced = if answer["superseded"].is_string() {
        " It replaces the earlier request."
    } else {
        ""
    };
    let summary = reading::text(answer, &["summary"])
        .map(|summary| shown(summary, SUMMARY_CHARACTERS_MAX).replace('\n', " "))
        .map(|summary| summary.trim_end_matches(['.', ' ']).to_owned())
        .filter(|summary| !summary.is_empty() && !sounds_done(summary))
        .map_or_else(String::new, |summary| format!(": {summary}"));
    if open.is_empty() {
        return format!("I've prepared it{summary}. Check it on the right and {press}.{replaced}");
    }
    format!(
        "I've prepared it{summary}. I left {} open: fill that in on the right, then {press}.{replaced}",
        joined(&open)
    )
}

/// A summary such as "Dispute 64.10 EUR paid on …" would read as if the assistant had paid.
fn sounds_done(summary: &str) -> bool {
    pattern!(r"\b(?:paid|sent|transferred|moved|frozen|blocked|cancelled|confirmed|done)\b")
        .is_match(summary)
}

/// A slot's name, whether it stands there as text or in an object.
fn slot_name(slot: &Value) -> Option<&str> {
    slot.as_str().or_else(|| slot["slot"].as_str())
}

/// A slot in words.
fn slot_words(slot: &str) -> &str {
    match slot {
        "payee" => "the payee",
        "amount" => "the amount",
        "currency" => "the currency",
        "from_account" => "the account to pay from",
        "card" => "the card",
        "transaction" => "the transaction",
        "reason" | "dispute_reason" => "the reason",
        "order" => "the standing order",
        "frequency" => "how often",
        "start_date" => "the first day",
        "payee_name" => "the name",
        "payee_iban" => "the account number",
        "details" => "the details",
        "value" | "profile_field" => "the new details",
        _ => "something",
    }
}

/// "a", "a and b", "a, b and c".
pub(crate) fn joined(words: &[impl AsRef<str>]) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// A no to a request, in words for the customer.
///
/// Where the bank did not find the request in the customer's words, an example shows how to say it.
pub(crate) fn request_refusal(refused: &Refused, kind: Kind) -> String {
    match refused.code.as_str() {
        "act_not_requested" | "not_grounded" | "invalid_argument" => {
            format!("{} For example: {}", refusal(refused), kind.example)
        }
        _ => refusal(refused),
    }
}

/// A tool's no, in words for the customer.
pub(crate) fn refusal(refused: &Refused) -> String {
    let text = match refused.code.as_str() {
        "invalid_argument" => {
            "That did not work, and nothing was prepared. Please say it again in one plain sentence."
        }
        "not_found" => {
            "I can't find that among your things, so nothing was prepared. Which one do you mean?"
        }
        "act_not_requested" => {
            "The bank did not see you ask for that, so nothing was prepared. Please ask for it in one plain sentence."
        }
        "not_grounded" => {
            "The bank only takes what you typed yourself, and I could not match this to your words. Nothing was prepared. Please say it in one plain sentence."
        }
        "already_waiting" => "That is already waiting for you on the right.",
        "no_newer_message" => {
            "A request is already waiting on the right. Tell me what should be different, or confirm or cancel it there."
        }
        "limit_per_transfer" => {
            "That is above your limit for one transfer, so nothing was prepared. Ask me: What are my limits?"
        }
        "limit_per_day" => {
            "That is above what is left of your daily limit, so nothing was prepared. Ask me: What are my limits?"
        }
        "limit_pending_total" => {
            "Too much is waiting already. Confirm or cancel what is on the right first."
        }
        "limit_first_payment" => {
            "A first payment to a new payee has a lower limit, and this is above it. Nothing was prepared."
        }
        "insufficient_funds" => "There is not enough in that account, so nothing was prepared.",
        "currency_mismatch" => {
            "The currency does not fit the account, so nothing was prepared. Say which account to pay from, for example: from my travel account"
        }
        "not_possible_now" => "That is not possible in its present state. Nothing was prepared.",
        "turn_ended" => "This turn is over. Please write again.",
        "busy" | "unknown_outcome" => {
            "I could not see whether that was prepared. Please look on the right before you ask again."
        }
        "repeated_call" => {
            "I asked for that once already and leave it there. Please look on the right."
        }
        "door_refused" => "I am not allowed to do that here, so nothing was prepared.",
        _ => "The bank cannot answer that right now. Please try again in a moment.",
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_prepared_request_is_never_called_done() {
        let answers = [
            json!({"status": "waiting_for_customer", "action": "act_1", "summary": {"untrusted_text": "Send 20.00 EUR to Bob Smith"}, "open_slots": [], "superseded": null}),
            json!({"status": "waiting_for_customer", "action": "act_1", "summary": "", "open_slots": ["amount", "payee"], "superseded": "act_0"}),
            json!({"status": "already_waiting", "action": "act_1"}),
            json!({"status": "waiting_for_customer", "action": "act_1", "summary": {"untrusted_text": "Dispute 64.10 EUR paid on 2026-11-28"}}),
        ];
        let said: Vec<String> = answers
            .iter()
            .map(|answer| prepared(answer, Kind::PAYMENT))
            .collect();
        assert_eq!(
            said[0],
            "I've prepared it: Send 20.00 EUR to Bob Smith. Check it on the right and press Send there."
        );
        assert_eq!(
            said[1],
            "I've prepared it. I left the amount and the payee open: fill that in on the right, then press Send there. It replaces the earlier request."
        );
        assert_eq!(
            said[2],
            "That is already waiting for you. Check it on the right and press Send there."
        );
        assert_eq!(
            said[3],
            "I've prepared it. Check it on the right and press Send there."
        );
    }

    #[test]
    fn every_code_has_words_of_its_own() {
        let codes = [
            "invalid_argument",
            "not_found",
            "act_not_requested",
            "not_grounded",
            "already_waiting",
            "no_newer_message",
            "limit_per_transfer",
            "limit_per_day",
            "limit_pending_total",
            "limit_first_payment",
            "insufficient_funds",
            "currency_mismatch",
            "not_possible_now",
            "turn_ended",
            "busy",
            "door_refused",
        ];
        let said: std::collections::HashSet<String> = codes
            .iter()
            .map(|code| {
                refusal(&Refused {
                    code: (*code).into(),
                    what: None,
                })
            })
            .collect();
        assert_eq!(said.len(), codes.len());
    }
}
