//! The last step before a card leaves for the page: nothing in a list to choose from may hide.
//!
//! Names in titles, buttons and rows are safe to look at already, since the record holds them as they are
//! displayed. Choices are no part of the record and still hold names as they are stored.

use countersign_execution::Card;
use countersign_screening::display_name;

use crate::{language, show};

/// Stands between a name and the end of its account.
const ACCOUNT_MARK: &str = " ·· ";

/// Makes the choices of a card's open slots safe to look at.
pub fn shown(card: &mut Card) {
    for choice in card
        .open_slots
        .iter_mut()
        .filter_map(|slot| slot.choices.as_mut())
        .flatten()
    {
        choice.label = label(&choice.label);
    }
}

/// The label with its name cut and cleaned, the account's end whole behind it, and what hides in the name in words.
fn label(stored: &str) -> String {
    // The bank wrote the last mark; one inside the name cannot pass for it.
    let (name, account) = match stored.rsplit_once(ACCOUNT_MARK) {
        Some((name, account)) => (name, format!("{ACCOUNT_MARK}{account}")),
        None => (stored, String::new()),
    };
    let name = display_name(name);
    let remark = show::remark(&name);
    if remark.is_empty() {
        return name.text + &account;
    }
    let careful = language::spoken().with("careful: {remark}", &[("remark", &remark)]);
    format!("{}{account} ({careful})", name.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_says_what_its_name_hides_and_keeps_its_account() {
        assert_eq!(label("Bob Smith ·· 6819"), "Bob Smith ·· 6819");
        assert_eq!(
            label("B\u{43e}b ·· 6819"),
            "B\u{43e}b ·· 6819 (careful: contains a Cyrillic “о”)"
        );
        let long = label(&format!("{} ·· 6819", "x".repeat(140)));
        assert!(long.ends_with("… ·· 6819"), "{long}");
        let hidden = label("Bob\u{202e} ·· 6819");
        assert!(
            hidden.starts_with("Bob\u{fffd} ·· 6819 (careful"),
            "{hidden}"
        );
        assert!(!hidden.contains('\u{202e}'));
    }
}
