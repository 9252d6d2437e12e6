//! How values look on the server-drawn pages: names of outsiders, account numbers, days, moments.

use countersign_screening::{DisplayName, display_name};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::language::spoken;

/// A name an outsider chose, as a page may show it. In the page it stands in a `<bdi>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownName {
    /// The name with nothing hidden in it.
    pub text: String,
    /// What the customer should know about its letters; empty for ordinary names.
    pub remark: String,
}

/// Prepares an outsider's text for a page.
pub fn name(stored: &str) -> ShownName {
    let shown = display_name(stored);
    ShownName {
        remark: remark(&shown),
        text: shown.text,
    }
}

/// What hides in a name, each thing in words of its own. That it was cut is marked in the name itself.
pub fn remark(shown: &DisplayName) -> String {
    let hidden = shown.notes.iter().filter(|note| !note.starts_with("cut:"));
    hidden
        .map(|note| spoken().note(note))
        .collect::<Vec<_>>()
        .join(" · ")
}

/// An outsider's text that may be empty, such as a payment's reference.
pub fn optional_name(stored: &str) -> Option<ShownName> {
    (!stored.trim().is_empty()).then(|| name(stored))
}

/// An account number in groups of four, as people read it.
pub fn iban(number: &str) -> String {
    let characters: Vec<char> = number.chars().collect();
    characters
        .chunks(4)
        .map(|group| group.iter().collect())
        .collect::<Vec<String>>()
        .join(" ")
}

/// A moment, for the page's script to put into the reader's own time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// For programs, RFC 3339.
    pub exact: String,
    /// For people, in UTC and their language: `30 Nov 2026, 10:42 UTC`.
    pub text: String,
}

/// Prepares a moment for a page.
pub fn moment(at: OffsetDateTime) -> Moment {
    let at = at.to_offset(time::UtcOffset::UTC);
    Moment {
        exact: at.format(&Rfc3339).unwrap_or_default(),
        text: spoken().moment(at.date(), at.time()),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn people_read_days_moments_and_account_numbers() {
        assert_eq!(
            moment(datetime!(2026-11-30 11:42:07 +01:00)).text,
            "30 Nov 2026, 10:42 UTC"
        );
        assert_eq!(
            iban("GB29NWBK60161331926819"),
            "GB29 NWBK 6016 1331 9268 19"
        );
    }

    #[test]
    fn a_name_says_what_hides_in_it() {
        let shown = name("Bob\u{202e}");
        assert_eq!(shown.text, "Bob\u{fffd}");
        assert!(!shown.remark.is_empty());
        let long = name(&"x".repeat(90));
        assert!(
            long.text.ends_with('…') && long.remark.is_empty(),
            "{long:?}"
        );
        assert_eq!(optional_name("  "), None);
    }
}
