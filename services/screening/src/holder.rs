//! Compares the name that a customer gave a payee with the name of the account's holder.
//!
//! The answer changes what a payment needs, so it errs towards "no match": letters of another script are other letters,
//! however they look, and a name that is only part of another is close at most.

use countersign_domain::NameCheck;
use unicode_normalization::UnicodeNormalization;

/// Words that say what kind of holder it is, not who.
const TITLES: [&str; 22] = [
    "mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "herr", "frau", "and", "und", "the",
    "co", "company", "ltd", "limited", "inc", "gmbh", "plc", "llc", "ag",
];
/// Longest name compared, in characters; a longer one is no match.
const NAME_LENGTH_MAX: usize = 200;

/// Compares a payee's name with the holder's.
pub fn compare(given: &str, held: &str) -> NameCheck {
    if given.chars().count() > NAME_LENGTH_MAX || held.chars().count() > NAME_LENGTH_MAX {
        return NameCheck::NoMatch;
    }
    let (mut given, mut held) = (words(given), words(held));
    if given.is_empty() || held.is_empty() {
        return NameCheck::NoMatch;
    }
    given.sort_unstable();
    held.sort_unstable();
    if given == held {
        return NameCheck::Match;
    }
    let (fewer, more) = if given.len() <= held.len() {
        (&given, &held)
    } else {
        (&held, &given)
    };
    // Each word of the shorter name has one of its own in the longer, and one at least is the same word.
    let mut left: Vec<&String> = more.iter().collect();
    let mut same = 0;
    for word in fewer {
        let place = left
            .iter()
            .position(|other| *other == word)
            .inspect(|_| same += 1)
            .or_else(|| left.iter().position(|other| nearly(word, other)));
        let Some(place) = place else {
            return NameCheck::NoMatch;
        };
        left.swap_remove(place);
    }
    if same > 0 {
        NameCheck::Close
    } else {
        NameCheck::NoMatch
    }
}

/// The words of a name that say who: small letters without marks, titles and forms of companies left out.
fn words(name: &str) -> Vec<String> {
    let letters: String = name
        .nfd()
        .filter(|c| !unicode_normalization::char::is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    letters
        .split_whitespace()
        .filter(|word| !TITLES.contains(word))
        .map(str::to_owned)
        .collect()
}

/// An initial of the other, or one letter away from it.
fn nearly(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (shorter, longer) = if one.len() <= other.len() {
        (&one, &other)
    } else {
        (&other, &one)
    };
    if shorter.len() == 1 {
        return shorter.first() == longer.first();
    }
    // One letter of a short word makes another name of it.
    if shorter.len() < 4 || longer.len() - shorter.len() > 1 {
        return false;
    }
    let start = shorter
        .iter()
        .zip(longer)
        .take_while(|(one, other)| one == other)
        .count();
    let rest = |letters: &[char], from: usize| letters.get(from..).unwrap_or_default().to_vec();
    if shorter.len() == longer.len() {
        let swapped = shorter.len() > start + 1
            && shorter[start] == longer[start + 1]
            && shorter[start + 1] == longer[start]
            && rest(shorter, start + 2) == rest(longer, start + 2);
        rest(shorter, start + 1) == rest(longer, start + 1) || swapped
    } else {
        rest(shorter, start) == rest(longer, start + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_in_another_spelling_is_a_match() {
        for (given, held) in [
            ("Bob Smith", "BOB SMITH"),
            ("Smith, Bob", "Mr Bob Smith"),
            ("José", "Jose\u{301}"),
            ("Acme Ltd", "ACME"),
            ("Jörg Müller", "Jorg Muller"),
        ] {
            assert_eq!(compare(given, held), NameCheck::Match, "{given} / {held}");
        }
    }

    #[test]
    fn nearly_the_same_name_is_close() {
        for (given, held) in [
            ("Kabir Rao", "Kabir"),
            ("B Smith", "Bob Smith"),
            ("Bob Smiht", "Bob Smith"),
            ("Bob Smyth", "Bob Smith"),
            ("Robert Smith Jones", "Robert Smith"),
        ] {
            assert_eq!(compare(given, held), NameCheck::Close, "{given} / {held}");
        }
    }

    #[test]
    fn another_name_is_no_match() {
        for (given, held) in [
            ("City Electric", "Ilse"),
            ("Bob Smith", "Alice Jones"),
            ("Bob Smith", "Bob Jones"),
            ("Ann", "Ian"),
            ("Sam", "\u{405}am"),
            ("", "Bob"),
            ("Mr", "Bob"),
            ("B S", "Bob Smith"),
            ("Bob", "Rob"),
        ] {
            assert_eq!(compare(given, held), NameCheck::NoMatch, "{given} / {held}");
        }
        assert_eq!(compare(&"a".repeat(300), "a"), NameCheck::NoMatch);
    }
}
