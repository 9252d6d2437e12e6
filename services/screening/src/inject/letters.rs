//! The letters a reader sees: case, accents, look-alikes and digits that stand for letters folded away.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

/// Greatest code point of the scripts whose look-alikes are kept in a table.
const TABLE_END: usize = 0x0600;

/// The letters (one or two, as numbers 0–25) that a character is read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Letters {
    letters: [u8; 2],
    count: u8,
}

impl Letters {
    /// The letters, as numbers.
    pub fn as_slice(&self) -> &[u8] {
        &self.letters[..usize::from(self.count)]
    }
}

/// A character's letter by its byte: letters, and digits that people write for letters.
pub(super) const ASCII: [u8; 128] = {
    let mut table = [NONE; 128];
    let mut byte = 0;
    while byte < 26 {
        table[b'a' as usize + byte] = byte as u8;
        table[b'A' as usize + byte] = byte as u8;
        byte += 1;
    }
    table[b'0' as usize] = b'o' - b'a';
    table[b'1' as usize] = b'i' - b'a';
    table[b'3' as usize] = b'e' - b'a';
    table[b'4' as usize] = 0;
    table[b'5' as usize] = b's' - b'a';
    table[b'7' as usize] = b't' - b'a';
    table
};
/// No letter.
pub(super) const NONE: u8 = 255;

/// What a character beyond ASCII is read as; `None` where it ends a word.
pub(super) fn letters_of(character: char) -> Option<Letters> {
    static TABLE: LazyLock<Vec<Option<Letters>>> = LazyLock::new(|| {
        let all = (0..TABLE_END as u32).map(|code| char::from_u32(code).and_then(look_up));
        all.collect()
    });
    match TABLE.get(character as usize) {
        Some(known) => *known,
        None => look_up(character),
    }
}

fn look_up(character: char) -> Option<Letters> {
    if is_combining(character) {
        return Some(Letters::default());
    }
    if !character.is_alphanumeric() {
        return None;
    }
    let special = match character {
        'ß' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'ł' | 'Ł' => "l",
        'đ' | 'Đ' => "d",
        'ı' => "i",
        _ => "",
    };
    if !special.is_empty() {
        return Some(of_ascii(special.chars()));
    }
    // Chinese, Japanese and Korean writing looks like no Latin letter, and there is much of it.
    if matches!(character, '\u{2E80}'..='\u{D7FF}') {
        return Some(Letters::default());
    }
    let plain = of_ascii([character].into_iter().nfkd());
    if plain.count > 0 {
        return Some(plain);
    }
    let mut buffer = [0; 4];
    let shape: String = skeleton(character.encode_utf8(&mut buffer)).collect();
    Some(of_ascii(shape.nfkd()))
}

/// A mark over or through the letter before it: strokes and dots between letters part no word.
const fn is_combining(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

fn of_ascii(characters: impl Iterator<Item = char>) -> Letters {
    let mut found = Letters::default();
    for letter in characters.filter(char::is_ascii_alphabetic).take(2) {
        found.letters[usize::from(found.count)] = letter.to_ascii_lowercase() as u8 - b'a';
        found.count += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let letters = text.chars().flat_map(|c| match u8::try_from(c) {
            Ok(byte) if byte < 128 => vec![ASCII[usize::from(byte)]],
            _ => letters_of(c).unwrap_or_default().as_slice().to_vec(),
        });
        letters
            .filter(|letter| *letter != NONE)
            .map(|letter| char::from(b'a' + letter))
            .collect()
    }

    #[test]
    fn what_the_eye_reads_is_what_is_matched() {
        for (text, letters) in [
            ("Précédentes", "precedentes"),
            ("\u{456}gn\u{43E}re", "ignore"),
            ("1gn0r3", "ignore"),
            ("ｉｇｎｏｒｅ", "ignore"),
            ("𝐢𝐠𝐧𝐨𝐫𝐞", "ignore"),
            ("Größe", "grosse"),
            ("łódź", "lodz"),
            ("i\u{336}g\u{336}n\u{336}ore", "ignore"),
            ("中文", ""),
        ] {
            assert_eq!(read(text), letters, "{text}");
        }
    }
}
