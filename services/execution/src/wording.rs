//! The bank's words on a card, and the customer's own as a card may repeat them.

use countersign_domain::{
    ActionKind, DisputeReason, Frequency, Money, ProfileField, text::last_four,
};
use countersign_provenance::{Input, MessageSpan};
use countersign_texts::Texts;

/// Longest excerpt of the customer's words, in characters.
const EXCERPT_LENGTH_MAX: usize = 140;
/// A run of digits longer than this is hidden in an excerpt.
const DIGITS_SHOWN_MAX: usize = 6;

/// A name and the end of its account: `Bob Smith ·· 6819`.
pub(crate) fn name_and_account(name: &str, account: &str) -> String {
    format!("{name} ·· {}", last_four(account))
}

/// The words of a clause as the card repeats them: one line, links and long numbers hidden, cut at
/// [`EXCERPT_LENGTH_MAX`] characters with the cut marked.
pub(crate) fn excerpt(input: &Input, at: MessageSpan) -> Option<String> {
    let message = input
        .messages
        .iter()
        .find(|message| message.sequence == at.sequence)?;
    let words = message.text.get(at.span.start..at.span.end)?;
    let mut shown = String::new();
    for word in words.split_whitespace() {
        if !shown.is_empty() {
            shown.push(' ');
        }
        if looks_like_link(word) {
            shown.push_str("[link]");
        } else {
            push_without_long_numbers(&mut shown, word);
        }
    }
    if shown.chars().count() > EXCERPT_LENGTH_MAX {
        shown = shown.chars().take(EXCERPT_LENGTH_MAX - 1).collect();
        shown.push('…');
    }
    Some(shown)
}

fn looks_like_link(word: &str) -> bool {
    let lower = word.to_lowercase();
    lower.contains("://")
        || lower.starts_with("www.")
        || lower.starts_with("mailto:")
        || dotted_host(&lower)
}

/// `bank.example/login` is a link; `20.50` and `Ltd.` are not.
fn dotted_host(word: &str) -> bool {
    let host = word
        .split(['/', '?', '#'])
        .next()
        .unwrap_or(word)
        .trim_matches(|c: char| !c.is_alphanumeric());
    match host.rsplit_once('.') {
        Some((before, ending)) => {
            !before.is_empty()
                && ending.chars().count() >= 2
                && ending.chars().all(char::is_alphabetic)
        }
        None => false,
    }
}

fn push_without_long_numbers(shown: &mut String, word: &str) {
    let mut digits = String::new();
    for character in word
        .chars()
        .filter(|c| !countersign_domain::text::is_hidden(*c))
    {
        if character.is_numeric() {
            digits.push(character);
            continue;
        }
        flush(shown, &mut digits);
        shown.push(character);
    }
    flush(shown, &mut digits);
}

fn flush(shown: &mut String, digits: &mut String) {
    if digits.chars().count() > DIGITS_SHOWN_MAX {
        shown.push('…');
    } else {
        shown.push_str(digits);
    }
    digits.clear();
}

pub(crate) fn frequency(frequency: Frequency) -> &'static str {
    match frequency {
        Frequency::Weekly => "every week",
        Frequency::Monthly => "every month",
        Frequency::Quarterly => "every three months",
        Frequency::Yearly => "every year",
    }
}

pub(crate) fn dispute_reason(reason: DisputeReason) -> &'static str {
    match reason {
        DisputeReason::NotRecognised => "I don't recognise it",
        DisputeReason::ChargedTwice => "I was charged twice",
        DisputeReason::WrongAmount => "The amount is wrong",
        DisputeReason::NotReceived => "I never got what I paid for",
        DisputeReason::CancelledSubscription => "I had cancelled this",
    }
}

pub(crate) fn your_field(field: ProfileField) -> &'static str {
    match field {
        ProfileField::Address => "your address",
        ProfileField::Phone => "your phone number",
        ProfileField::Email => "your e-mail address",
    }
}

/// What a card is about before its values are known.
pub(crate) fn plain_title(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Transfer => "Send money",
        ActionKind::Refund => "Send a payment back",
        ActionKind::StandingOrderCreate => "Set up a standing order",
        ActionKind::StandingOrderChange => "Change a standing order",
        ActionKind::StandingOrderCancel => "End a standing order",
        ActionKind::CardFreeze => "Freeze a card",
        ActionKind::CardUnfreeze => "Unfreeze a card",
        ActionKind::Dispute => "Dispute a transaction",
        ActionKind::Payee => "Save a new payee",
        ActionKind::ProfileChange => "Change your profile",
        ActionKind::LimitChange => "Raise a limit",
    }
}

/// Why the bank refused, and the one thing to do.
pub(crate) fn refusal(code: &str) -> &'static str {
    match code {
        "limit_per_transfer" => "Nothing was sent: this is more than your limit for one transfer.",
        "limit_per_day" => "Nothing was sent: this is more than what is left for today.",
        "limit_pending_total" => {
            "Nothing was sent: too much is waiting already. Send or cancel something first."
        }
        "limit_first_payment" => {
            "Nothing was sent: a first payment to a new payee has a lower limit."
        }
        "limit_name_check" => {
            "Nothing was sent: the account is in another name, and the limit for that is lower. Check the number with the payee."
        }
        "frozen" => {
            "Nothing was sent: your payments are stopped. You can let them go again under Safety."
        }
        "limit_new_passkey" => {
            "Nothing was sent: your passkey is new, and for its first day the limit of a first payment counts."
        }
        "insufficient_funds" => "Nothing was sent: the account does not hold enough.",
        "currency_mismatch" => "Nothing was sent: the two accounts are not in the same currency.",
        _ => "The bank could not do this now. Nothing was changed.",
    }
}

/// Why something is over that the customer or the bank stopped.
pub(crate) fn cancelled(code: &str) -> &'static str {
    match code {
        "taken_back" => "Nothing was sent: you wrote something that takes it back.",
        "changed" => {
            "Nothing was sent: something about this payment is not as you confirmed it. Ask again if you still want it."
        }
        "name_check_answered" => {
            "Nothing was sent: the bank could check the name of the account by now, and it is not the name you paid. Ask again to see it."
        }
        "" | "cancelled" => "You cancelled this. Nothing happened.",
        code => refusal(code),
    }
}

/// The sentence after a Confirm.
pub(crate) fn done(
    texts: &Texts,
    kind: ActionKind,
    total: Option<Money>,
    can_be_undone: bool,
    is_undone: bool,
) -> String {
    let with = |english: &str, total: Money| texts.with(english, &[("total", &texts.money(total))]);
    let plain = match (kind, total) {
        (ActionKind::Transfer | ActionKind::Refund, _) if is_undone => {
            "Undone. Nothing was sent, and the money is back on your account."
        }
        (ActionKind::Transfer, Some(total)) if can_be_undone => {
            return with(
                "{total} goes out in a moment. Until then you can undo it.",
                total,
            );
        }
        (ActionKind::Refund, Some(total)) if can_be_undone => {
            return with(
                "{total} goes back in a moment. Until then you can undo it.",
                total,
            );
        }
        (ActionKind::Transfer, Some(total)) => return with("Sent {total}.", total),
        (ActionKind::Refund, Some(total)) => return with("Sent {total} back.", total),
        (ActionKind::StandingOrderCreate, _) => "The standing order is set up.",
        (ActionKind::StandingOrderChange, _) => "The standing order is changed.",
        (ActionKind::StandingOrderCancel, _) => "The standing order is ended.",
        (ActionKind::CardFreeze, _) => "The card is frozen.",
        (ActionKind::CardUnfreeze, _) => "The card works again.",
        (ActionKind::Dispute, _) => "The dispute is open.",
        (ActionKind::Payee, _) => "The payee is saved.",
        (ActionKind::LimitChange, _) => {
            "Your limit is raised when it has cooled off. Until then you can stop it under Limits."
        }
        (ActionKind::ProfileChange, _) => "Your profile is changed.",
        _ => "Done.",
    };
    texts.say(plain).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_no_number_and_no_abbreviation() {
        for link in [
            "https://a.example",
            "www.bank.example",
            "bank.example/login",
            "(bank.example)",
        ] {
            assert!(looks_like_link(link), "{link}");
        }
        for word in ["20.50", "Ltd.", "Bob", "1.234,56", "e.g."] {
            assert!(!looks_like_link(word), "{word}");
        }
    }

    #[test]
    fn a_long_number_is_hidden_in_an_excerpt() {
        let mut shown = String::new();
        push_without_long_numbers(&mut shown, "GB29601613319268");
        assert_eq!(shown, "GB…");
        let mut shown = String::new();
        push_without_long_numbers(&mut shown, "1234.56");
        assert_eq!(shown, "1234.56");
    }
}
