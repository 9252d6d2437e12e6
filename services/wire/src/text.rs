//! Strings: from their spelling to their characters, and the case folding other readers apply.

use std::borrow::Cow;

/// The characters of a string whose spelling was already accepted by the reader.
///
/// `raw` is what stands between the quotes.
pub(crate) fn unescape(raw: &str) -> String {
    let mut characters = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        characters.push_str(&rest[..at]);
        let escape = rest.as_bytes()[at + 1];
        rest = &rest[at + 2..];
        match escape {
            b'b' => characters.push('\u{8}'),
            b'f' => characters.push('\u{c}'),
            b'n' => characters.push('\n'),
            b'r' => characters.push('\r'),
            b't' => characters.push('\t'),
            b'u' => {
                let mut unit = hexadecimal(&rest.as_bytes()[..4]);
                rest = &rest[4..];
                if (0xd800..0xdc00).contains(&unit) {
                    // The reader has seen to it that the other half follows.
                    let low = hexadecimal(&rest.as_bytes()[2..6]);
                    rest = &rest[6..];
                    unit = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                }
                characters.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => characters.push(char::from(other)),
        }
    }
    characters.push_str(rest);
    characters
}

/// The value of hexadecimal digits that were checked before.
pub(crate) fn hexadecimal(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |value, digit| {
        (value << 4) | char::from(*digit).to_digit(16).unwrap_or(0)
    })
}

/// A name as readers that ignore case see it.
///
/// Beyond ASCII they also take the Kelvin sign for `k` and the long s for `s`; both are letters
/// that fold into ASCII and that a check on bytes alone would let through.
#[must_use]
pub fn fold(name: &str) -> Cow<'_, str> {
    let folds = |character: char| {
        character.is_ascii_uppercase() || matches!(character, '\u{212a}' | '\u{17f}')
    };
    if !name.chars().any(folds) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(
        name.chars()
            .map(|character| match character {
                '\u{212a}' => 'k',
                '\u{17f}' => 's',
                other => other.to_ascii_lowercase(),
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_characters() {
        assert_eq!(unescape(r#"a\"\\\/\b\f\n\r\tz"#), "a\"\\/\u{8}\u{c}\n\r\tz");
        assert_eq!(unescape(r"\u0061\ud83d\ude00é"), "a😀é");
    }

    #[test]
    fn letters_that_fold_into_ascii_fold() {
        assert_eq!(fold("params"), Cow::Borrowed("params"));
        assert_eq!(fold("PARAM\u{17f}"), "params");
        assert_eq!(fold("to\u{212a}en"), "token");
    }
}
