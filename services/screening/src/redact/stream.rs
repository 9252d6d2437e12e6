//! Redaction of a text that arrives piece by piece, such as a model's reply.

use super::view::View;
use super::{Redactor, Replace, join, pem};

/// How much is held back at least, in bytes: no secret that has spaces in it is longer, keys in blocks apart.
const HOLD: usize = 160;
/// How much of what was passed on is remembered, in bytes: no rule looks back farther.
const CONTEXT: usize = 160;
/// Most that is held back, in bytes. What is longer goes up to its end.
const HELD_MAX: usize = 64 * 1024;
/// How long an unfinished key block may be without anything that looks like a key, in bytes.
const OPEN_BLOCK_MAX: usize = 4096;

/// Takes secrets out of a text in pieces. The result does not depend on where the text was cut, and nothing
/// of a secret is passed on before the secret is known whole.
#[derive(Debug)]
pub struct TextRedactor {
    redactor: Redactor,
    /// The end of what was passed on, and what is held back.
    text: String,
    /// Where the held part of `text` begins.
    held: usize,
    /// A secret longer than [`HELD_MAX`] whose placeholder was passed on already.
    swallowing: Option<Until>,
}

/// Where a swallowed secret ends.
#[derive(Clone, Copy, Debug)]
enum Until {
    /// With its run of characters.
    Space,
    /// With the last line of its block.
    BlockEnd,
}

impl TextRedactor {
    /// Begins a text.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            text: String::new(),
            held: 0,
            swallowing: None,
        }
    }

    /// Takes the next piece and returns what may be passed on by now.
    pub fn push(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        if !self.swallow() {
            return String::new();
        }
        let finds = self.finds();
        let cut = self.cut(&finds);
        let mut passed = self.pass(&finds, cut);
        if self.text.len() - self.held > HELD_MAX {
            passed.push_str(&self.give_up(&finds));
        }
        passed
    }

    /// Ends the text and returns what was held back.
    pub fn finish(mut self) -> String {
        if self.swallowing.is_some() {
            return String::new();
        }
        let finds = self.finds();
        let end = self.text.len();
        self.pass(&finds, end)
    }

    fn finds(&self) -> Vec<Replace> {
        join(self.redactor.find(&View::of_text(&self.text), true))
    }

    /// Up to where the text can be passed on: no secret begins before and ends behind, now or later.
    fn cut(&self, finds: &[Replace]) -> usize {
        let from = self
            .text
            .floor_char_boundary(self.text.len().saturating_sub(HOLD));
        if from <= self.held {
            return self.held;
        }
        // A run of characters without a space may be one secret however long it is.
        let behind_space = |(at, character): (usize, char)| {
            character
                .is_whitespace()
                .then_some(at + character.len_utf8())
        };
        let run = self.text[self.held..from]
            .char_indices()
            .rev()
            .find_map(behind_space);
        let mut cut = self.held + run.unwrap_or(0);
        if let Some(block) = self.open_block(cut) {
            cut = cut.min(block);
        }
        // From the back, so that a cut that moved into an earlier find moves on.
        for find in finds.iter().rev() {
            if find.span.start < cut && find.span.end > cut {
                cut = find.span.start;
            }
        }
        cut.max(self.held)
    }

    /// Where a key block begins that has no end yet.
    fn open_block(&self, cut: usize) -> Option<usize> {
        let from = self
            .text
            .floor_char_boundary(cut.saturating_sub(OPEN_BLOCK_MAX).max(self.held));
        let mark = self.text[from..].rfind(pem::MARK)? + from;
        let before = self
            .text
            .floor_char_boundary(mark.saturating_sub(64).max(self.held));
        let begin = before + self.text[before..mark].rfind("BEGIN")?;
        let dashes = self.text[before..begin].trim_end_matches(['-', ' ']).len();
        Some(before + dashes)
    }

    /// Passes on what stands before the cut.
    fn pass(&mut self, finds: &[Replace], cut: usize) -> String {
        let mut passed = String::new();
        let mut at = self.held;
        for find in finds.iter().filter(|find| find.span.end <= cut) {
            let start = find.span.start.max(self.held);
            if find.span.end > at && start >= at {
                passed.push_str(&self.text[at..start]);
                passed.push_str(&find.with);
                at = find.span.end;
            }
        }
        passed.push_str(&self.text[at..cut]);
        self.held = cut;
        self.forget();
        passed
    }

    /// Drops what no rule looks back to any more.
    fn forget(&mut self) {
        let from = self
            .text
            .floor_char_boundary(self.held.saturating_sub(CONTEXT));
        self.text.drain(..from);
        self.held -= from;
    }

    /// Too much is held: the secret in it goes now, and what still belongs to it when it comes.
    fn give_up(&mut self, finds: &[Replace]) -> String {
        let open = finds.iter().any(|find| find.span.end == self.text.len());
        let block = self.open_block(self.text.len()).is_some() || self.text.contains("BEGIN");
        let with = match finds.first() {
            Some(find) if open => find.with.clone(),
            // A run this long that is no secret yet is no text either.
            _ => "[redacted: long_run]".to_owned(),
        };
        self.swallowing = Some(if block { Until::BlockEnd } else { Until::Space });
        self.text.drain(..self.held);
        self.held = 0;
        with
    }

    /// Drops what belongs to a swallowed secret; whether anything else is there.
    fn swallow(&mut self) -> bool {
        let Some(until) = self.swallowing else {
            return true;
        };
        let end = match until {
            Until::Space => self.text.find(char::is_whitespace),
            Until::BlockEnd => pem::end_line(self.text.as_bytes(), 0).map(|(_, end)| end),
        };
        match end {
            // Dashes may still follow.
            Some(end) if end < self.text.len() => {
                self.text.drain(..end);
                self.swallowing = None;
                true
            }
            _ => {
                let from = self
                    .text
                    .floor_char_boundary(self.text.len().saturating_sub(HOLD));
                self.text.drain(..from);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rules;
    use super::*;

    fn stream(pieces: &[&str]) -> String {
        let mut redactor = TextRedactor::new(Redactor::new(&Rules::all()));
        let mut passed: String = pieces.iter().map(|piece| redactor.push(piece)).collect();
        passed.push_str(&redactor.finish());
        passed
    }

    #[test]
    fn a_cut_anywhere_changes_nothing() {
        let redactor = Redactor::new(&Rules::all());
        let long = "word ".repeat(60);
        for secret in [
            "4111 1111 1111 1111",
            "kim.lee@example.com",
            "DE89 3704 0044 0532 0130 00",
            "api_key: 9f8e7d6c5b4a3928",
            "Bearer aaa.bbb",
            "postgres://app:s3cret@db/x",
            "AKIAIOSFODNN7EXAMPLE",
            "４１１１ １１１１ １１１１ １１１１",
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
            "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dGhpcyBpcyBubyByZWFsIHNpZ25hdHVyZQ",
            "bm90ZTogQUtJQUlPU0ZPRE5ON0VYQU1QTEUgaXMgdGhlIGtleQ==",
        ] {
            for text in [
                format!("see {secret} is…"),
                format!("{long}{secret}, {long}"),
            ] {
                let whole = redactor.redact_text(&text).text.into_owned();
                assert!(
                    whole.contains("[redacted: ") || secret.starts_with("bm90"),
                    "{whole}"
                );
                assert!(!whole.contains(secret));
                for (cut, _) in text.char_indices() {
                    let mut stream = TextRedactor::new(redactor.clone());
                    let mut passed = stream.push(&text[..cut]);
                    passed.push_str(&stream.push(&text[cut..]));
                    passed.push_str(&stream.finish());
                    assert_eq!(passed, whole, "cut at {cut} of {text}");
                }
                let mut stream = TextRedactor::new(redactor.clone());
                let mut passed: String = text
                    .chars()
                    .map(|c| stream.push(c.encode_utf8(&mut [0; 4])))
                    .collect();
                passed.push_str(&stream.finish());
                assert_eq!(passed, whole, "one by one: {text}");
            }
        }
    }

    #[test]
    fn nothing_of_the_first_half_is_passed_on() {
        let mut redactor = TextRedactor::new(Redactor::new(&Rules::standard()));
        assert!(!redactor.push("Your card 4111 1111").contains("4111"));
        let rest = redactor.push(" 1111 1111 is blocked") + &redactor.finish();
        assert_eq!(rest, "Your card [redacted: card ending 1111] is blocked");
    }

    #[test]
    fn ordinary_text_flows() {
        let mut redactor = TextRedactor::new(Redactor::new(&Rules::standard()));
        let passed = redactor.push(&"You have 12.50 EUR left. ".repeat(40));
        assert!(passed.len() > 700, "{}", passed.len());
    }

    #[test]
    fn a_secret_without_end_is_swallowed() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(4000);
        let text = format!("a -----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY----- b");
        let pieces: Vec<String> = text
            .as_bytes()
            .chunks(1000)
            .map(|c| String::from_utf8_lossy(c).into_owned())
            .collect();
        let passed = stream(&pieces.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(passed, "a[redacted: private_key] b");
        let run = "x".repeat(200_000);
        let pieces: Vec<String> = run
            .as_bytes()
            .chunks(1000)
            .map(|c| String::from_utf8_lossy(c).into_owned())
            .collect();
        let passed = stream(
            &pieces
                .iter()
                .map(String::as_str)
                .chain([" end"])
                .collect::<Vec<_>>(),
        );
        assert_eq!(passed, "[redacted: long_run] end");
    }
}
