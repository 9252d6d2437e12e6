//! Which characters of a text cannot be seen, judged by their neighbours.
//!
//! The same joiner that hides a word in a bank name holds an emoji family together and shapes Persian
//! and Hindi words, so a character is judged in its place, never alone.

use countersign_domain::text::is_hidden;
use unicode_script::{Script, UnicodeScript as _};

const ZERO_WIDTH_NON_JOINER: char = '\u{200C}';
const ZERO_WIDTH_JOINER: char = '\u{200D}';

/// What a character that cannot be seen does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// Turns the direction of the writing around (bidi controls).
    Direction,
    /// Takes no room or looks like nothing (zero-width, tag, filler, variation).
    Invisible,
    /// A control character, a line break among them.
    Control,
}

/// Says whether a character cannot be seen where it stands, and what it does then.
///
/// `before` is the character in front of it *in the original text*, `after` the one behind it.
pub fn hidden_at(before: Option<char>, character: char, after: Option<char>) -> Option<Hidden> {
    if !is_hidden(character) && character != '\u{2800}' {
        return None;
    }
    match character {
        '\u{061C}'
        | '\u{200E}'
        | '\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2066}'..='\u{2069}' => Some(Hidden::Direction),
        '\u{2028}' | '\u{2029}' => Some(Hidden::Control),
        c if c.is_control() => Some(Hidden::Control),
        ZERO_WIDTH_JOINER if joins_emoji(before, after) => None,
        ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER if shapes_a_word(before, after) => None,
        '\u{FE0E}' | '\u{FE0F}' if takes_a_variation(before, after) => None,
        _ => Some(Hidden::Invisible),
    }
}

fn joins_emoji(before: Option<char>, after: Option<char>) -> bool {
    before.is_some_and(|c| c == '\u{FE0F}' || is_emoji(c)) && after.is_some_and(is_emoji)
}

fn shapes_a_word(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return false;
    };
    // A joiner shapes letters; behind another one it has nothing to shape.
    if is_hidden(before) || is_hidden(after) {
        return false;
    }
    let letter = |c: char| match c.script() {
        // Vowel signs that several scripts share count as the script of what they stand beside.
        Script::Inherited => after.script(),
        script => script,
    };
    letter(before) == after.script() && is_joining(after.script())
}

fn is_joining(script: Script) -> bool {
    matches!(
        script,
        Script::Arabic
            | Script::Syriac
            | Script::Nko
            | Script::Mongolian
            | Script::Devanagari
            | Script::Bengali
            | Script::Gurmukhi
            | Script::Gujarati
            | Script::Oriya
            | Script::Tamil
            | Script::Telugu
            | Script::Kannada
            | Script::Malayalam
            | Script::Sinhala
            | Script::Khmer
            | Script::Myanmar
    )
}

/// An emoji takes one variation mark; so does a digit in front of the keycap mark.
fn takes_a_variation(before: Option<char>, after: Option<char>) -> bool {
    before.is_some_and(is_emoji)
        || (before.is_some_and(|c| c.is_ascii_digit() || c == '#' || c == '*')
            && after == Some('\u{20E3}'))
}

fn is_emoji(character: char) -> bool {
    matches!(
        character,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{24C2}'
            | '\u{2190}'..='\u{21FF}'
            | '\u{2300}'..='\u{23FF}'
            | '\u{25AA}'..='\u{27BF}'
            | '\u{2934}' | '\u{2935}'
            | '\u{2B00}'..='\u{2BFF}'
            | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
            | '\u{1F000}'..='\u{1FAFF}'
    )
}

/// Walks over a text with each character's neighbours.
pub fn with_neighbours(text: &str) -> impl Iterator<Item = (Option<char>, char, Option<char>)> {
    let mut before = None;
    let mut characters = text.chars().peekable();
    std::iter::from_fn(move || {
        let character = characters.next()?;
        let item = (before, character, characters.peek().copied());
        before = Some(character);
        Some(item)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<Hidden> {
        with_neighbours(text)
            .filter_map(|(before, c, after)| hidden_at(before, c, after))
            .collect()
    }

    #[test]
    fn a_joiner_behind_a_joiner_shapes_nothing() {
        assert_eq!(found("\u{200C}\u{200C}\u{D00}").len(), 2);
        assert_eq!(found("می\u{200C}\u{200C}خواهم").len(), 2);
    }

    #[test]
    fn what_shapes_ordinary_writing_is_not_hidden() {
        for text in [
            "Bob Smith",
            "José Núñez",
            "👩\u{200D}👩\u{200D}👧",
            "❤\u{FE0F}\u{200D}🔥",
            "👩🏽\u{200D}🚀",
            "1\u{FE0F}\u{20E3}",
            "می\u{200C}خواهم",
            "क्\u{200D}ष",
            "שלום",
        ] {
            assert_eq!(found(text), [], "{text:?}");
        }
    }

    #[test]
    fn the_same_characters_elsewhere_are_hidden() {
        assert_eq!(found("Bo\u{200D}b"), [Hidden::Invisible]);
        assert_eq!(found("Bo\u{200C}b"), [Hidden::Invisible]);
        assert_eq!(found("می\u{200C}b"), [Hidden::Invisible]);
        assert_eq!(found("👩\u{200D}b"), [Hidden::Invisible]);
        assert_eq!(found("b\u{FE0F}"), [Hidden::Invisible]);
        assert_eq!(found("❤\u{FE0F}\u{FE0F}"), [Hidden::Invisible]);
        assert_eq!(found("\u{200D}"), [Hidden::Invisible]);
        assert_eq!(found("a\u{2800}b"), [Hidden::Invisible]);
        assert_eq!(found("a\u{E0041}"), [Hidden::Invisible]);
        assert_eq!(found("a\u{202E}b"), [Hidden::Direction]);
        assert_eq!(found("a\nb"), [Hidden::Control]);
        assert_eq!(found("a\u{2028}b"), [Hidden::Control]);
    }
}
