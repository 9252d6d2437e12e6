//! Checks on texts that people type on the panel, and on account numbers.

use iban::IbanLike as _;

/// Longest note for a payee, in characters.
pub const NOTE_LENGTH_MAX: usize = 200;

/// Why a note was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// More than [`NOTE_LENGTH_MAX`] characters.
    #[error("the note is longer than 200 characters")]
    TooLong,
    /// A line break, a control character, or one that is invisible or turns the writing around.
    #[error("the note holds a line break or a character that cannot be seen")]
    Character,
}

/// Checks a note for a payee: one line, [`NOTE_LENGTH_MAX`] characters, nothing invisible.
///
/// # Errors
/// Which rule the note breaks. The note is never shortened or repaired.
pub fn check_note(note: &str) -> Result<(), NoteError> {
    if note.chars().count() > NOTE_LENGTH_MAX {
        return Err(NoteError::TooLong);
    }
    if note.chars().any(is_hidden) {
        return Err(NoteError::Character);
    }
    Ok(())
}

/// Whether a character is a control, invisible, a tag, or turns the direction of writing.
///
/// The zero-width joiner counts as hidden: it has no place in a payment's texts.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00AD}'
                | '\u{034F}'
                | '\u{061C}'
                | '\u{115F}'
                | '\u{1160}'
                | '\u{17B4}'
                | '\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FEFF}'
                | '\u{FFA0}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// The last four characters of an account number, for display beside a name.
pub fn last_four(account: &str) -> &str {
    let start = account
        .char_indices()
        .rev()
        .nth(3)
        .map_or(0, |(position, _)| position);
    &account[start..]
}

/// Reads an IBAN with or without spaces and checks its checksum (ISO 13616). The result has no spaces.
pub fn parse_iban(text: &str) -> Option<String> {
    let compact: String = text.chars().filter(|c| *c != ' ').collect();
    compact
        .parse::<iban::Iban>()
        .ok()
        .map(|iban| iban.electronic_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_visible_line() {
        assert_eq!(check_note("Rent for März"), Ok(()));
        assert_eq!(check_note(&"é".repeat(200)), Ok(()));
        assert_eq!(check_note(&"é".repeat(201)), Err(NoteError::TooLong));
        for hidden in ["a\nb", "a\u{202e}b", "a\u{200b}b", "a\0b", "a\u{e0041}b"] {
            assert_eq!(check_note(hidden), Err(NoteError::Character), "{hidden:?}");
        }
    }

    #[test]
    fn an_iban_needs_its_checksum() {
        assert_eq!(
            parse_iban("GB29 NWBK 6016 1331 9268 19").as_deref(),
            Some("GB29NWBK60161331926819")
        );
        assert_eq!(parse_iban("GB29 NWBK 6016 1331 9268 18"), None);
    }
}
