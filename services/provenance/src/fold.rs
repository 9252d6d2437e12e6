//! A message in composed form and lower case, each byte tied to the bytes the customer typed.

use unicode_normalization::{
    IsNormalized, UnicodeNormalization, char::canonical_combining_class, is_nfc_quick,
};

use crate::Span;

/// The folded text and, for each of its bytes, the typed bytes it comes from.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    /// NFC, lower case, straight apostrophes. Never NFKC: that would make 102 of 10².
    pub text: String,
    /// Where the character that a folded byte belongs to begins and ends in the typed text. Empty where every
    /// folded byte stands at its typed place, as in plain ASCII.
    places: Vec<(u32, u32)>,
    /// Where a capital was typed, by folded byte, in order.
    capitals: Vec<usize>,
    /// Where each invisible character stands, by folded byte.
    pub hidden: Vec<usize>,
}

impl Folded {
    /// Folds a message.
    pub(crate) fn new(typed: &str) -> Self {
        if typed
            .bytes()
            .all(|byte| matches!(byte, b' '..=b'~' | b'\n'))
        {
            return Self::plain(typed);
        }
        let mut folded = Self::default();
        folded.text.reserve(typed.len());
        folded.places.reserve(typed.len());
        if is_nfc_quick(typed.chars()) == IsNormalized::Yes {
            for (start, character) in typed.char_indices() {
                folded.push(character, start, start + character.len_utf8());
            }
            return folded;
        }
        // A run from one starter to the next is composed on its own, so that the map stays exact.
        let mut start = 0;
        while start < typed.len() {
            let end = typed[start..]
                .char_indices()
                .skip(1)
                .find(|(_, character)| !joins_the_character_before(*character))
                .map_or(typed.len(), |(offset, _)| start + offset);
            for character in typed[start..end].nfc() {
                folded.push(character, start, end);
            }
            start = end;
        }
        folded
    }

    /// Folds a message of nothing but letters, marks and blanks that fold byte by byte.
    fn plain(typed: &str) -> Self {
        let capitals = typed
            .bytes()
            .enumerate()
            .filter_map(|(at, byte)| byte.is_ascii_uppercase().then_some(at))
            .collect();
        Self {
            text: typed.to_ascii_lowercase(),
            capitals,
            ..Self::default()
        }
    }

    fn push(&mut self, character: char, start: usize, end: usize) {
        let place = (
            u32::try_from(start).unwrap_or(u32::MAX),
            u32::try_from(end).unwrap_or(u32::MAX),
        );
        let before = self.text.len();
        if character.is_uppercase() {
            self.capitals.push(before);
        }
        if matches!(character, ' '..='~') {
            self.text.push(character.to_ascii_lowercase());
            self.places.push(place);
            return;
        }
        let after_picture = character == '\u{fe0f}'
            && self
                .text
                .chars()
                .next_back()
                .is_some_and(|last| !last.is_alphanumeric() && !last.is_ascii());
        let hidden = countersign_domain::text::is_hidden(character)
            && !matches!(character, '\n' | '\r' | '\t')
            // Keyboards put this behind pictures by themselves; behind a letter or digit it hides something.
            && !after_picture;
        if hidden {
            self.hidden.push(before);
        }
        match character {
            '\u{2019}' | '\u{2018}' | '\u{02bc}' | '\u{00b4}' => self.text.push('\''),
            '\r' => self.text.push('\n'),
            other => self.text.extend(other.to_lowercase()),
        }
        self.places.resize(self.text.len(), place);
    }

    /// The typed bytes of a folded range.
    pub(crate) fn typed(&self, start: usize, end: usize) -> Span {
        let place = |at: usize| -> Option<(usize, usize)> {
            if self.places.is_empty() {
                return (at < self.text.len()).then_some((at, at + 1));
            }
            let (start, end) = self.places.get(at)?;
            Some((*start as usize, *end as usize))
        };
        let begin = place(start).map_or(0, |(begin, _)| begin);
        let finish = end.checked_sub(1).and_then(place).map_or(0, |(_, end)| end);
        Span {
            start: begin,
            end: finish.max(begin),
        }
    }

    /// Whether a capital letter was typed at a folded byte where a character begins.
    pub(crate) fn capital(&self, at: usize) -> bool {
        self.capitals.binary_search(&at).is_ok()
    }
}

fn joins_the_character_before(character: char) -> bool {
    canonical_combining_class(character) != 0
        // Vowels and finals of Hangul compose with the syllable before them.
        || matches!(character, '\u{1161}'..='\u{1175}' | '\u{11a8}'..='\u{11c2}')
}

/// Whether a character begins a letter of its own instead of changing the one before.
pub(crate) fn is_base(character: char) -> bool {
    canonical_combining_class(character) == 0
}

/// A word in lower case without marks on its letters; letters that do not decompose have a row of their own.
pub(crate) fn without_accents(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    for character in word
        .nfd()
        .filter(|character| canonical_combining_class(*character) == 0)
    {
        match character {
            'ł' => plain.push('l'),
            'ø' => plain.push('o'),
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            other => plain.push(other),
        }
    }
    plain
}

/// Folds a name as a message is folded.
pub(crate) fn folded_name(name: &str) -> String {
    Folded::new(name.trim())
        .text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_composed_letter_points_at_both_typed_characters() {
        let folded = Folded::new("to Jose\u{301}!");
        assert_eq!(folded.text, "to josé!");
        let at = folded.text.find('é').unwrap();
        assert_eq!(folded.typed(at, at + 2), Span { start: 6, end: 9 });
        assert!(folded.capital(3));
    }

    #[test]
    fn compatibility_forms_stay_what_they_are() {
        assert_eq!(Folded::new("10\u{b2} \u{bd}").text, "10\u{b2} \u{bd}");
    }
}
