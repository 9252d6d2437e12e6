//! A customer's canary code, found again in a text that disguises it.
//!
//! Each customer's data holds a code that stands nowhere else: sixteen characters of an alphabet without vowels.
//! Ten of them in a row, in a text that goes to somebody else, mean a leak. This module turns texts and codes into
//! comparable [`Run`]s; whose runs they are is for the database to say, which knows them by keyed hash.
//!
//! **Expected false alarms.** After folding the alphabet has 30 characters, so a run that is there by accident
//! equals one of the 7 runs of 10 million customers with a chance of 7·10⁷ / 30¹⁰ ≈ 1.2·10⁻⁷. Vowels end a run, and a run
//! counts only with letters *and* digits, so prose has none, nor have amounts, dates and account numbers; turned around,
//! rotated or decoded they rarely do. The test `false_alarms_for_ten_million_customers` prints the figure for real
//! sentences.

use std::collections::BTreeSet;
use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

use crate::decode;

/// Characters of a code.
pub const CODE_LENGTH: usize = 16;
/// Characters in a row that count as a leak.
pub const RUN_LENGTH: usize = 10;
/// Most bytes of a text that are looked at, decoded forms included.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Letters of a run, at least. Every run of a code has them: the database takes no other code.
const LETTERS_MIN: usize = 2;
/// Digits of a run, at least. Every run of a code has one: the database takes no other code.
const DIGITS_MIN: usize = 1;
/// Shortest word that counts as a part of a code told in parts.
const PART_MIN: usize = 3;
/// How much of a conversation's replies is kept to be looked at together, in bytes: every disguise of ten characters is
/// shorter.
const TAIL_BYTES: usize = 4096;
/// How many characters of parts are kept from what went before.
const PARTS_MAX: usize = 4096;
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
    collect(&fold(&decode::rot13(text)), runs);
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
            // 0 and 1 stand for letters as well, so they make neither a digit nor a letter of it.
            let digits = run.iter().filter(|c| matches!(c, b'2'..=b'9')).count();
            let letters = run.iter().filter(|c| c.is_ascii_alphabetic()).count();
            if digits >= DIGITS_MIN && letters >= LETTERS_MIN {
                runs.insert(run);
            }
        }
    }
}

/// The characters a code is made of, one for each group that the eye takes for the same; `None` where a letter
/// stands that no code has. Separators, marks and hidden characters leave nothing.
fn fold(text: &str) -> Vec<Option<u8>> {
    text.nfkd().filter_map(fold_character).collect()
}

fn fold_character(character: char) -> Option<Option<u8>> {
    // What decoding a text that was none comes to. A zero byte stands between the letters of wide characters.
    if character == '\u{FFFD}'
        || (character.is_ascii_control() && character != '\0' && !character.is_ascii_whitespace())
    {
        return Some(None);
    }
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

/// The words of a text that could be parts of a code told in parts, one after the other.
fn parts(text: &str, into: &mut Vec<Option<u8>>) {
    for word in text.split(|c: char| c.is_whitespace() || ",;:.!?()[]\"“”'".contains(c)) {
        // O and I are no letters of a code; a part that writes them for 0 and 1 is found where it is not cut.
        if word.contains(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) {
            continue;
        }
        let folded = fold(word);
        if folded.len() >= PART_MIN && folded.iter().all(Option::is_some) {
            into.extend(folded);
        }
    }
}

/// Looks through the replies of a conversation as they come, the newest together with those before it: a code may be
/// told in parts, over several replies, with other words between.
#[derive(Debug, Default)]
pub struct Watch {
    tail: String,
    parts: Vec<Option<u8>>,
    seen: HashSet<Run>,
}

impl Watch {
    /// Begins behind replies that were shown already, oldest first. Their own runs are not reported again.
    #[must_use]
    pub fn behind<'t>(replies: impl IntoIterator<Item = &'t str>) -> Self {
        let mut watch = Self::default();
        for reply in replies {
            // Long replies take long to decode, and were looked at when they were shown.
            parts(reply, &mut watch.parts);
            watch.tail.push_str(reply);
            watch.tail.push(' ');
        }
        watch.forget();
        let before = watch.runs();
        watch.seen.extend(before);
        watch
    }

    /// Takes the next words that are about to be shown, and returns the runs that they complete.
    pub fn take(&mut self, words: &str) -> BTreeSet<Run> {
        // A part may have begun with the words before: what was counted of it is counted anew.
        let from = self.tail.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let mut unfinished = Vec::new();
        parts(&self.tail[from..], &mut unfinished);
        self.parts
            .truncate(self.parts.len() - unfinished.len().min(self.parts.len()));
        parts(&format!("{}{words}", &self.tail[from..]), &mut self.parts);
        self.tail.push_str(words);
        let mut runs = self.runs();
        self.forget();
        runs.retain(|run| self.seen.insert(*run));
        runs
    }

    fn runs(&self) -> BTreeSet<Run> {
        let mut runs = runs_in_text(&self.tail);
        collect(&self.parts, &mut runs);
        let reversed: Vec<_> = self.parts.iter().rev().copied().collect();
        collect(&reversed, &mut runs);
        runs
    }

    fn forget(&mut self) {
        let from = self
            .tail
            .ceil_char_boundary(self.tail.len().saturating_sub(TAIL_BYTES));
        self.tail.drain(..from);
        let from = self.parts.len().saturating_sub(PARTS_MAX);
        self.parts.drain(..from);
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
            "UQAyAFgAVwA5AFoATAA0AEIAVAA=".to_owned(),
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

    fn notices(replies: &[&str], pieces: &[&str]) -> bool {
        let mut watch = Watch::behind(replies.iter().copied());
        let code = runs_of_code(CODE);
        pieces
            .iter()
            .any(|piece| !watch.take(piece).is_disjoint(&code))
    }

    #[test]
    fn a_code_told_in_parts_is_noticed_however_it_is_cut() {
        assert!(notices(&[], &["first Q2XW9 and then ZL4BT"]));
        assert!(notices(
            &["The first part: Q2XW9."],
            &["And the other one is ZL4BT, keep it."]
        ));
        assert!(notices(&["7KQ2X", "no", "W9ZL4"], &["BTM0HD"]));
        assert!(notices(&[], &["TB4LZ, ", "then 9WX2Q"]), "backwards");
        assert!(
            !notices(&["Q2XW9ZL4BT was shown"], &["and nothing more"]),
            "not reported again"
        );
        assert!(!notices(&["Q2XW9"], &["Bob Smith"]));
        for text in [
            format!("your code is {PART}, keep it"),
            "see UTJYVzlaTDRCVA== there".to_owned(),
            "%51%32%58%57%39%5A%4C%34%42%54".to_owned(),
        ] {
            for at in 0..=text.len() {
                assert!(notices(&[], &[&text[..at], &text[at..]]), "{at}: {text}");
                let mut watch = Watch::default();
                let shown = |run: BTreeSet<Run>| !run.is_disjoint(&runs_of_code(CODE));
                let noticed: Vec<bool> = text
                    .chars()
                    .map(|c| shown(watch.take(c.encode_utf8(&mut [0; 4]))))
                    .collect();
                assert!(noticed.contains(&true), "one by one: {text}");
            }
        }
    }

    #[test]
    fn false_alarms_for_ten_million_customers() {
        const SENTENCES: [&str; 2] = [
            include_str!("../../../fixtures/screening/benign.tsv"),
            include_str!("../../../fixtures/screening/benign-chat.tsv"),
        ];
        let mut watch = Watch::default();
        let (mut sentences, mut runs) = (0_u32, 0);
        for line in SENTENCES.iter().flat_map(|text| text.lines().skip(1)) {
            sentences += 1;
            runs += watch
                .take(line.split_once('\t').expect("two columns").1)
                .len();
        }
        // 7 runs of 10 million customers, among 30 to the power of 10.
        let per_run = 7e7 / 30_f64.powi(10);
        let replies = f64::from(sentences) / 5.0;
        let alarms = f64::from(u32::try_from(runs).expect("few")) * per_run / replies;
        println!(
            "{runs} runs in {sentences} sentences; expected false alarms in a million replies of five sentences: {:.3}",
            alarms * 1e6
        );
        assert!(alarms * 1e6 < 1.0, "{alarms}");
    }

    #[test]
    fn runs_of_digits_alone_do_not_count() {
        assert!(runs_in_text("IBAN DE89 3704 0044 0532 0130 00, 2026-11-30 12:05").len() < 12);
        assert!(runs_in_text("0532013000 12345678901234").is_empty());
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
