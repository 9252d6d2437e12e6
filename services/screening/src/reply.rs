//! A model's reply on its way to the browser, piece by piece.

use crate::hidden::{Hidden, hidden_at};

/// Takes characters that cannot be seen out of a streamed reply.
///
/// Whether a joiner belongs to an emoji is known only from the character behind it, so one that cannot be
/// seen waits for its neighbour. The result is the same however the reply was cut.
#[derive(Debug, Default)]
pub struct ReplyCleaner {
    before: Option<char>,
    held: Option<char>,
}

impl ReplyCleaner {
    /// Takes a piece and returns what may be shown by now.
    pub fn push(&mut self, piece: &str) -> String {
        let mut shown = String::with_capacity(piece.len() + 4);
        for character in piece.chars() {
            self.step(Some(character), &mut shown);
        }
        shown
    }

    /// Ends the reply and returns what was held back.
    pub fn finish(&mut self) -> String {
        let mut shown = String::new();
        self.step(None, &mut shown);
        shown
    }

    fn step(&mut self, next: Option<char>, shown: &mut String) {
        if let Some(held) = self.held.take() {
            self.judge(held, next, shown);
        }
        match next {
            // Only what may be hidden waits for its neighbour: ordinary text is shown at once.
            Some(character) if hidden_at(self.before, character, None).is_none() => {
                shown.push(character);
                self.before = Some(character);
            }
            _ => self.held = next,
        }
    }

    fn judge(&mut self, held: char, next: Option<char>, shown: &mut String) {
        match hidden_at(self.before, held, next) {
            None => shown.push(held),
            Some(Hidden::Control) if matches!(held, '\n' | '\u{2028}' | '\u{2029}') => {
                shown.push('\n');
            }
            Some(Hidden::Control) if held == '\t' => shown.push(' '),
            Some(_) => {}
        }
        self.before = Some(held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(pieces: &[&str]) -> String {
        let mut cleaner = ReplyCleaner::default();
        let mut shown: String = pieces.iter().map(|piece| cleaner.push(piece)).collect();
        shown.push_str(&cleaner.finish());
        shown
    }

    #[test]
    fn hidden_characters_leave_and_an_emoji_family_stays() {
        assert_eq!(
            clean(&["S\u{200B}ent \u{E0041}\u{202E}it\u{AD}.\nBye\r\t!"]),
            "Sent it.\nBye !"
        );
        assert_eq!(clean(&["👩\u{200D}👩\u{200D}👧"]), "👩\u{200D}👩\u{200D}👧");
    }

    #[test]
    fn ordinary_text_is_not_held_back() {
        assert_eq!(ReplyCleaner::default().push("Grüße 👩"), "Grüße 👩");
    }

    #[test]
    fn the_result_is_the_same_however_the_reply_is_cut() {
        let reply =
            "a\u{200D}b 👩\u{200D}🚀\u{200D} ❤\u{FE0F}\u{FE0F} x\u{E0041}\u{E007F}\u{2069}é";
        let whole = clean(&[reply]);
        for (position, _) in reply.char_indices() {
            assert_eq!(
                clean(&[&reply[..position], &reply[position..]]),
                whole,
                "{position}"
            );
        }
        let one_by_one: Vec<String> = reply.chars().map(String::from).collect();
        assert_eq!(
            clean(&one_by_one.iter().map(String::as_str).collect::<Vec<_>>()),
            whole
        );
    }
}
