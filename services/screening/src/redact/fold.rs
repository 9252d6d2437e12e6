//! The everyday form of a character, as far as secrets are written with it.

use unicode_normalization::UnicodeNormalization as _;

use super::view::is_invisible;

/// What a character becomes in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    /// It stays.
    Same,
    /// It is not seen and leaves nothing.
    Nothing,
    /// It stands for this one.
    To(char),
}

/// First digits (zeros) of the decimal digit sets of Unicode 16, in ascending order; ASCII apart.
const ZEROS: &[u32] = &[
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
    0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0,
    0x11650, 0x116c0, 0x116d0, 0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50, 0x11d50,
    0x11da0, 0x11f50, 0x16130, 0x16a60, 0x16ac0, 0x16b50, 0x16d70, 0x1d7ce, 0x1d7d8, 0x1d7e2,
    0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0,
];

/// Folds a character beyond ASCII.
pub(crate) fn fold(character: char) -> Folded {
    if is_invisible(character) {
        return Folded::Nothing;
    }
    match character {
        '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => {
            return Folded::To(' ');
        }
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => {
            return Folded::To('-');
        }
        '\u{FF01}'..='\u{FF5E}' => {
            let ascii = char::from_u32(character as u32 - 0xFEE0);
            return ascii.map_or(Folded::Same, Folded::To);
        }
        _ => {}
    }
    if let Some(digit) = digit(character) {
        return Folded::To(digit);
    }
    // Letters of mathematics, circled ones and such: one ASCII letter each.
    if matches!(character, '\u{2100}'..='\u{214F}' | '\u{2460}'..='\u{24FF}' | '\u{1D400}'..='\u{1D7FF}')
    {
        let mut forms = [character].into_iter().nfkc();
        if let (Some(one), None) = (forms.next(), forms.next())
            && one.is_ascii_alphanumeric()
        {
            return Folded::To(one);
        }
    }
    Folded::Same
}

/// The ASCII digit of a decimal digit of any script.
fn digit(character: char) -> Option<char> {
    let code = character as u32;
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let zero = ZEROS[after.checked_sub(1)?];
    char::from_digit(code.checked_sub(zero).filter(|value| *value < 10)?, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_any_script_are_digits() {
        for text in ["４１", "٤١", "۴۱", "४१", "𝟒𝟏", "𝟜𝟙", "④①"] {
            let folded: Vec<_> = text.chars().map(fold).collect();
            assert_eq!(folded, [Folded::To('4'), Folded::To('1')], "{text}");
        }
        // The table's order is what the search stands on.
        assert!(ZEROS.is_sorted());
        for zero in ZEROS {
            let first = char::from_u32(*zero).unwrap();
            assert!(first.is_numeric(), "{first:?}");
        }
    }

    #[test]
    fn ordinary_letters_stay() {
        for character in "éßŁжや中½²".chars() {
            assert_eq!(fold(character), Folded::Same, "{character}");
        }
        assert_eq!(fold('\u{200B}'), Folded::Nothing);
        assert_eq!(fold('\u{2011}'), Folded::To('-'));
        assert_eq!(fold('\u{A0}'), Folded::To(' '));
        assert_eq!(fold('Ａ'), Folded::To('A'));
        assert_eq!(fold('𝐀'), Folded::To('A'));
    }
}
