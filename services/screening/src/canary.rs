//! A customer's canary code, found again in a text that disguises it.
//!
//! Each customer's data holds a code that stands nowhere else: sixteen characters of an alphabet without vowels.
//! Ten of them in a row, in a text that goes to somebody else, mean a leak. This module turns texts and codes into
//! comparable [`Run`]s; whose runs they are is for the database to say, which knows them by keyed hash.
//!
//! **Expected false alarms.** After folding the alphabet has 30 characters, so a run that is there by accident
//! equals one of the 7 runs of 10 million customers with a chance of 7·10⁷ / 30¹⁰ ≈ 1.2·10⁻⁷. Vowels end a run,
//! so ordinary prose has none; a reply full of account numbers has about a hundred: one false alarm in some
//! eighty thousand such replies.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

use crate::decode;

/// Characters of a code.
pub const CODE_LENGTH: usize = 16;
/// Characters in a row that count as a leak.
pub const RUN_LENGTH: usize = 10;
/// Most bytes of a text that are looked at, decoded forms included.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// How often a decoded text is decoded again: base64 of hex is found, a third layer is not.
const LAYERS_MAX: usize = 2;

/// [`RUN_LENGTH`] characters of a code in folded form.
pub type Run = [u8; RUN_LENGTH];

/// The runs of a customer's code.
pub fn runs_of_code(code: &str) -> BTreeSet<Run> {
    let mut runs = BTreeSet::new();
    collect(&fold(code), &mut runs);
    runs
}

/// Every run in a text that could be part of a code: plain, and decoded from each known disguise.
pub fn runs_in_text(text: &str) -> BTreeSet<Run> {
    let mut runs = BTreeSet::new();
    let mut budget = TEXT_BYTES_MAX;
    look(text, LAYERS_MAX, &mut budget, &mut runs);
    runs
}

fn look(text: &str, layers: usize, budget: &mut usize, runs: &mut BTreeSet<Run>) {
    let text = &text[..text.floor_char_boundary(*budget)];
    *budget -= text.len();
    let folded = fold(text);
    collect(&folded, runs);
    collect(&folded.into_iter().rev().collect::<Vec<_>>(), runs);
    let rotated = fold(&decode::rot13(text));
    collect(&rotated, runs);
    if layers > 0 {
        for decoded in decode::all(text) {
            look(&decoded, layers - 1, budget, runs);
        }
    }
}

/// Adds every window of [`RUN_LENGTH`] characters without a break in it.
fn collect(folded: &[Option<u8>], runs: &mut BTreeSet<Run>) {
    for part in folded.split(Option::is_none) {
        for window in part.windows(RUN_LENGTH) {
            let mut run = [0; RUN_LENGTH];
            for (place, character) in run.iter_mut().zip(window) {
                *place = character.unwrap_or_default();
            }
            runs.insert(run);
        }
    }
}

/// The characters a code is made of, one for each group that the eye takes for the same; `None` where a letter
/// stands that no code has. Separators, marks and hidden characters leave nothing.
fn fold(text: &str) -> Vec<Option<u8>> {
    text.nfkd().filter_map(fold_character).collect()
}

fn fold_character(character: char) -> Option<Option<u8>> {
    let plain = if character.is_ascii() {
        character
    } else if character.is_alphanumeric() {
        let mut buffer = [0; 4];
        let mut shape = skeleton(character.encode_utf8(&mut buffer));
        match (shape.next(), shape.next()) {
            (Some(one), None) if one.is_ascii_alphanumeric() => one,
            _ => return Some(None),
        }
    } else {
        return None;
    };
    match plain.to_ascii_uppercase() {
        'O' => Some(Some(b'0')),
        'I' | 'L' | '|' => Some(Some(b'1')),
        'A' | 'E' | 'U' => Some(None),
        other if other.is_ascii_alphanumeric() => u8::try_from(other).ok().map(Some),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "7KQ2XW9ZL4BTM0HD";
    /// What a disguise would carry: ten characters of the code.
    const PART: &str = "Q2XW9ZL4BT";

    fn is_found(text: &str) -> bool {
        !runs_in_text(text).is_disjoint(&runs_of_code(CODE))
    }

    #[test]
    fn a_code_has_seven_runs() {
        assert_eq!(runs_of_code(CODE).len(), CODE_LENGTH - RUN_LENGTH + 1);
    }

    #[test]
    fn ten_characters_count_and_nine_do_not() {
        assert!(is_found(&format!("your code is {PART}, keep it")));
        assert!(!is_found("your code is Q2XW9ZL4B, keep it"));
    }

    #[test]
    fn every_known_disguise_is_seen_through() {
        for disguise in [
            PART.to_lowercase(),
            "Ｑ２ＸＷ９ＺＬ４ＢＴ".to_owned(),
            "Q2\u{425}W9\u{396}L4\u{412}\u{422}".to_owned(),
            "Q2XW9ZI4BT q2xw9z|4bt".to_owned(),
            "Q-2.X W_9/Z*L\n4,B\u{200b}T".to_owned(),
            "Q\u{336}2\u{336}X\u{336}W\u{336}9\u{336}Z\u{336}L\u{336}4\u{336}B\u{336}T".to_owned(),
            PART.chars().rev().collect(),
            "D2KJ9MY4OG".to_owned(),
            "see UTJYVzlaTDRCVA== there".to_owned(),
            "UTJY Vzla\nTDRC VA".to_owned(),
            "YVEyWFc5Wkw0QlR6eg==".to_owned(),
            "51325857395a4c344254".to_owned(),
            "51 32 58 57 39 5a 4c 34 42 54".to_owned(),
            "\\x51\\x32\\x58\\x57\\x39\\x5a\\x4c\\x34\\x42\\x54".to_owned(),
            "%51%32%58%57%39%5A%4C%34%42%54".to_owned(),
            "&#81;&#50;&#88;&#87;&#57;&#90;&#76;&#52;&#66;&#84;".to_owned(),
            "&#x51;&#x32;&#x58;&#x57;&#x39;&#x5a;&#x4c;&#x34;&#x42;&#x54;".to_owned(),
            "81 50 88 87 57 90 76 52 66 84".to_owned(),
            "NTEzMjU4NTczOTVhNGMzNDQyNTQ=".to_owned(),
        ] {
            assert!(is_found(&disguise), "{disguise}");
        }
    }

    #[test]
    fn ordinary_answers_hold_no_run_or_a_strange_one() {
        for answer in [
            "You have 1,240.50 EUR in Current and 48,000 JPY in Travel money.",
            "Your last transactions: 2026-11-30 12.00 EUR · Cafe Luna, 2026-11-29 2.62 EUR · Corner Bakery",
            "IBAN DE89 3704 0044 0532 0130 00, card ending 4821",
            "Rhythm myths: why try syzygy by my crypt?",
        ] {
            assert!(!is_found(answer), "{answer}");
        }
        assert!(
            runs_in_text("I've prepared it. Check it on the right and press Send there.")
                .is_empty()
        );
    }

    #[test]
    fn a_hostile_text_costs_a_bounded_time() {
        let began = std::time::Instant::now();
        for part in ["UTJY", "%51", "51 ", "&#81;", "\\x51", "7KQ2"] {
            runs_in_text(&part.repeat(20_000 / part.len()));
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(5));
    }

    proptest::proptest! {
        #[test]
        fn separators_anywhere_hide_nothing(cuts in proptest::collection::vec("[ .,:;/_*\u{200b}\u{ad}-]{0,3}", 16)) {
            let text: String = CODE.chars().zip(&cuts).map(|(c, cut)| format!("{c}{cut}")).collect();
            proptest::prop_assert!(is_found(&text), "{}", text);
        }
    }
}
