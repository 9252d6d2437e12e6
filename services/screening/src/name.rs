//! Names that outsiders wrote, as a page may show them.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::{
    hidden::{Hidden, hidden_at, with_neighbours},
    lookalike::lookalike_notes,
};

/// Most characters (as people count them) of a name that are shown.
pub const NAME_LENGTH_MAX: usize = 70;
/// Most code points one shown character may be built of, so that stacked marks cannot cover their neighbours.
const MARKS_MAX: usize = 12;
/// Most combining marks on one letter.
const COMBINING_MAX: usize = 3;
/// Bytes of a name that are looked at; a longer one is cut here before anything else.
const NAME_BYTES_MAX: usize = 8 * 1024;
/// Stands where hidden characters stood.
const HOLE: char = '\u{FFFD}';
/// Stands where the name was cut.
const CUT: char = '…';

/// A name as it may be shown: nothing in it hides, turns the writing around or runs on without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayName {
    /// The name, hidden characters replaced by `�`, cut with `…` after [`NAME_LENGTH_MAX`] characters.
    /// In HTML it belongs into a `<bdi>` element.
    pub text: String,
    /// What the customer should know about it, each a plain clause: `contains a Cyrillic “а”`.
    pub notes: Vec<String>,
}

impl DisplayName {
    /// The name between Unicode isolates, for places that hold plain text only (a page title, a label read aloud).
    pub fn isolated(&self) -> String {
        format!("\u{2068}{}\u{2069}", self.text)
    }
}

/// Prepares an outsider's name for display.
pub fn display_name(name: &str) -> DisplayName {
    let name = cut_bytes(name);
    let mut notes = Vec::new();
    let (seen, hidden) = replace_hidden(name);
    push_hidden_notes(hidden, &mut notes);

    let spaced = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    let mut stacked = false;
    let mut clusters = spaced.graphemes(true);
    for cluster in clusters.by_ref().take(NAME_LENGTH_MAX) {
        stacked |= push_cluster(cluster, &mut text);
    }
    let left = clusters.count();
    if stacked {
        notes.push("contains stacked marks".to_owned());
    }
    notes.extend(lookalike_notes(&spaced));
    if left > 0 {
        text.push(CUT);
        notes.push(format!("cut: {left} more characters"));
    }
    if text.chars().all(|c| c == HOLE || c.is_whitespace()) {
        text = "(no name)".to_owned();
    }
    DisplayName { text, notes }
}

fn cut_bytes(name: &str) -> &str {
    &name[..name.floor_char_boundary(NAME_BYTES_MAX)]
}

/// How many characters of each kind were hidden.
#[derive(Default)]
struct Count {
    direction: usize,
    invisible: usize,
    control: usize,
}

fn replace_hidden(name: &str) -> (String, Count) {
    let mut seen = String::with_capacity(name.len());
    let mut count = Count::default();
    for (before, character, after) in with_neighbours(name) {
        match hidden_at(before, character, after) {
            None => seen.push(character),
            // A line break or a tab inside a name is a space that was meant to look like the end.
            Some(Hidden::Control) if character.is_whitespace() => {
                count.control += 1;
                seen.push(' ');
            }
            Some(kind) => {
                match kind {
                    Hidden::Direction => count.direction += 1,
                    Hidden::Invisible => count.invisible += 1,
                    Hidden::Control => count.control += 1,
                }
                if !seen.ends_with(HOLE) {
                    seen.push(HOLE);
                }
            }
        }
    }
    (seen, count)
}

fn push_hidden_notes(count: Count, notes: &mut Vec<String>) {
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    if count.direction > 0 {
        let n = count.direction;
        notes.push(match n {
            1 => "contains a character that turns the writing around".to_owned(),
            _ => format!("contains {n} characters that turn the writing around"),
        });
    }
    if count.invisible > 0 {
        let n = count.invisible;
        notes.push(format!("contains {n} invisible character{}", plural(n)));
    }
    if count.control > 0 {
        let n = count.control;
        notes.push(format!(
            "contains {n} line break{} or control character{}",
            plural(n),
            plural(n)
        ));
    }
}

/// Appends one character as people count them; answers whether marks had to be left out.
fn push_cluster(cluster: &str, text: &mut String) -> bool {
    let mut combining = 0;
    let mut dropped = false;
    for (position, character) in cluster.chars().enumerate() {
        if unicode_normalization::char::is_combining_mark(character) {
            combining += 1;
        }
        if combining > COMBINING_MAX || position >= MARKS_MAX {
            dropped = true;
        } else {
            text.push(character);
        }
    }
    dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str) -> (String, Vec<String>) {
        let DisplayName { text, notes } = display_name(name);
        (text, notes)
    }

    #[test]
    fn an_ordinary_name_stays_as_it_is() {
        for name in [
            "Bob Smith",
            "José",
            "محمد",
            "👩\u{200D}👩\u{200D}👧 Family",
            "می\u{200C}خواهم",
        ] {
            assert_eq!(shown(name), (name.to_owned(), vec![]));
        }
    }

    #[test]
    fn hidden_characters_leave_a_hole_and_a_note() {
        assert_eq!(
            shown("Bob\u{200B}\u{200B} Smith"),
            (
                "Bob� Smith".to_owned(),
                vec!["contains 2 invisible characters".to_owned()]
            )
        );
        assert_eq!(
            shown("Bob \u{202E}htimS"),
            (
                "Bob �htimS".to_owned(),
                vec!["contains a character that turns the writing around".to_owned()]
            )
        );
        let (text, notes) = shown("Bob\nTotal: 0.00");
        assert_eq!(text, "Bob Total: 0.00");
        assert_eq!(notes, ["contains 1 line break or control character"]);
    }

    #[test]
    fn a_long_name_is_cut_and_says_so() {
        let (text, notes) = shown(&"é".repeat(70));
        assert_eq!((text.chars().count(), notes.len()), (70, 0));
        let (text, notes) = shown(&"e\u{301}".repeat(75));
        assert_eq!(text.graphemes(true).count(), 71);
        assert!(text.ends_with(CUT));
        assert_eq!(notes, ["cut: 5 more characters"]);
    }

    #[test]
    fn a_lookalike_behind_the_cut_is_still_named() {
        let (_, notes) = shown(&format!("{} B\u{43e}b", "x".repeat(90)));
        assert_eq!(
            notes,
            ["contains a Cyrillic “о”", "cut: 24 more characters"]
        );
    }

    #[test]
    fn stacked_marks_do_not_cover_the_neighbours() {
        let (text, notes) = shown(&format!("B{}ob", "\u{336}".repeat(50)));
        assert_eq!(text.chars().count(), 3 + COMBINING_MAX);
        assert_eq!(notes, ["contains stacked marks"]);
    }

    #[test]
    fn a_name_without_a_visible_letter_says_so() {
        for name in ["", "   ", "\u{200B}", "\u{202E} \u{2066}", "\u{3164}"] {
            assert_eq!(display_name(name).text, "(no name)", "{name:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_hidden_is_ever_shown(name in "\\PC{0,40}[\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2069}\u{e0020}-\u{e007f}\n\r\t]{0,5}\\PC{0,90}") {
            let shown = display_name(&name);
            for (before, character, after) in with_neighbours(&shown.text) {
                proptest::prop_assert_eq!(hidden_at(before, character, after), None, "{:?}", character);
            }
            proptest::prop_assert!(shown.text.graphemes(true).count() <= NAME_LENGTH_MAX + 1);
        }
    }
}
