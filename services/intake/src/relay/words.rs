//! A reply's words on their way to the page: without what cannot be seen, without secrets, without anything that looks
//! like more than words, and with every address that is not the bank's set apart.
//!
//! A rule may need more than the piece that has come, so words are held back to the end of their sentence, and a hundred
//! and sixty bytes at least. What comes out does not depend on where the reply was cut.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;

use countersign_screening::{
    Redactor, ReplyCleaner,
    guard::{
        contacts::{Own, foreign},
        credentials::asks_for_credentials,
        reply_rules,
        safe_account::safe_account_advice,
        shape, whole_sentences,
    },
    redact::TextRedactor,
};

use super::REPLY_LENGTH_MAX;

/// What the placeholder of a masked secret begins with.
const PLACEHOLDER: &str = "[redacted: ";

/// The rules, compiled once for all replies.
#[derive(Clone, Debug)]
pub struct Screens {
    redactor: Redactor,
    own: Own,
}

impl Screens {
    /// Prepares the rules. `own_contacts` are the hosts and telephone numbers that the bank gives out.
    ///
    /// # Errors
    /// When a rule cannot be compiled. Nothing may be shown then.
    pub fn new(own_contacts: &[String]) -> anyhow::Result<Self> {
        Ok(Self {
            redactor: Redactor::new(&reply_rules()?),
            own: Own::new(own_contacts),
        })
    }
}

/// A part of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The words.
    pub text: String,
    /// What the page says of them.
    pub mark: Mark,
}

/// What the page says of a part of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    Plain,
    /// A link, a mailbox or a number that is not the bank's.
    Foreign,
    /// Advice that no bank gives.
    Warned,
}

/// Why a reply ends where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It grew past [`REPLY_LENGTH_MAX`].
    TooLong,
    /// It asks the customer for a password, a PIN or a code.
    AsksForSecret,
}

/// The words of one reply.
#[derive(Debug)]
pub(super) struct Words {
    cleaner: ReplyCleaner,
    redactor: TextRedactor,
    again: Redactor,
    own: Own,
    held: String,
    length: usize,
    /// Placeholders by rule, as they came, and as they went on.
    came: BTreeMap<String, u32>,
    went: BTreeMap<String, u32>,
    ended: bool,
}

impl Words {
    pub(super) fn new(screens: &Screens) -> Self {
        Self {
            cleaner: ReplyCleaner::default(),
            redactor: TextRedactor::new(screens.redactor.clone()),
            again: screens.redactor.clone(),
            own: screens.own.clone(),
            held: String::new(),
            length: 0,
            came: BTreeMap::new(),
            went: BTreeMap::new(),
            ended: false,
        }
    }

    pub(super) fn push(&mut self, piece: &str) -> Result<Vec<Piece>, Stopped> {
        if self.ended {
            return Ok(Vec::new());
        }
        let clean = self.cleaner.push(piece);
        self.take(&clean)?;
        let cut = whole_sentences(&self.held);
        self.release(cut)
    }

    pub(super) fn finish(&mut self) -> Result<Vec<Piece>, Stopped> {
        if mem::replace(&mut self.ended, true) {
            return Ok(Vec::new());
        }
        let clean = self.cleaner.finish();
        self.take(&clean)?;
        let redactor = mem::replace(&mut self.redactor, TextRedactor::new(self.again.clone()));
        let rest = redactor.finish();
        self.held.push_str(&rest);
        self.release(self.held.len())
    }

    /// Secrets that were masked here, by rule: those that came as placeholders already are somebody else's work.
    pub(super) fn masked(&self) -> impl Iterator<Item = (String, u32)> {
        self.went.iter().filter_map(|(rule, number)| {
            let number = number.saturating_sub(self.came.get(rule).copied().unwrap_or(0));
            (number > 0).then(|| (rule.clone(), number))
        })
    }

    fn take(&mut self, clean: &str) -> Result<(), Stopped> {
        self.length += clean.chars().count();
        if self.length > REPLY_LENGTH_MAX {
            self.ended = true;
            return Err(Stopped::TooLong);
        }
        count(clean, &mut self.came);
        let masked = self.redactor.push(clean);
        self.held.push_str(&masked);
        Ok(())
    }

    /// Looks through the words up to the cut and hands them out.
    fn release(&mut self, cut: usize) -> Result<Vec<Piece>, Stopped> {
        if cut == 0 {
            return Ok(Vec::new());
        }
        let rest = self.held.split_off(cut);
        let words = mem::replace(&mut self.held, rest);
        count(&words, &mut self.went);
        let words = shape::plain(&words);
        if asks_for_credentials(&words) {
            self.ended = true;
            self.held.clear();
            return Err(Stopped::AsksForSecret);
        }
        let warned = safe_account_advice(&words);
        let mut pieces = Vec::new();
        let mut at = 0;
        for span in foreign(&words, &self.own) {
            split(&words, at..span.start, &warned, &mut pieces);
            pieces.push(Piece {
                text: words[span.clone()].to_owned(),
                mark: Mark::Foreign,
            });
            at = span.end;
        }
        split(&words, at..words.len(), &warned, &mut pieces);
        Ok(pieces)
    }
}

/// Cuts a part where advice that no bank gives begins and ends.
fn split(words: &str, part: Range<usize>, warned: &[Range<usize>], pieces: &mut Vec<Piece>) {
    let mut at = part.start;
    let mut push = |range: Range<usize>, mark| {
        if !range.is_empty() {
            let text = words[range].to_owned();
            pieces.push(Piece { text, mark });
        }
    };
    for advice in warned {
        let advice = advice.start.max(at)..advice.end.min(part.end);
        if !advice.is_empty() {
            push(at..advice.start, Mark::Plain);
            push(advice.clone(), Mark::Warned);
            at = advice.end;
        }
    }
    push(at..part.end, Mark::Plain);
}

/// Counts the placeholders of a text by their rules.
fn count(text: &str, counts: &mut BTreeMap<String, u32>) {
    for (at, _) in text.match_indices(PLACEHOLDER) {
        let rest = &text[at + PLACEHOLDER.len()..];
        let rule: String = rest
            .chars()
            .take_while(|c| c.is_ascii_lowercase() || *c == '_')
            .take(64)
            .collect();
        if !rule.is_empty() {
            *counts.entry(rule).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words::new(&Screens::new(&["bank.example".to_owned()]).expect("screens"))
    }

    /// The whole reply as the page would have it, foreign parts in braces.
    fn play(pieces: &[&str]) -> Result<String, Stopped> {
        let mut words = words();
        let mut shown = Vec::new();
        for piece in pieces {
            shown.extend(words.push(piece)?);
        }
        shown.extend(words.finish()?);
        let mark = |piece: Piece| match piece.mark {
            Mark::Foreign => format!("{{{}}}", piece.text),
            Mark::Warned => format!("!{}!", piece.text),
            Mark::Plain => piece.text,
        };
        Ok(shown.into_iter().map(mark).collect())
    }

    #[test]
    fn a_reply_without_end_is_cut() {
        let mut words = words();
        let piece = "é".repeat(1000);
        let mut pieces = 0;
        while words.push(&piece).is_ok() {
            pieces += 1;
            assert!(pieces <= 20, "not cut");
        }
        assert_eq!(words.push("more"), Ok(Vec::new()));
    }

    #[test]
    fn hidden_characters_do_not_reach_the_page() {
        assert_eq!(play(&["Hel\u{202e}lo\u{e0041}"]).as_deref(), Ok("Hello"));
        assert_eq!(
            play(&["👩\u{200d}👩\u{200d}👧"]).as_deref(),
            Ok("👩\u{200d}👩\u{200d}👧")
        );
    }

    /// What must not stand in any reply, and how it is shown instead.
    const REPLIES: [(&str, &str); 10] = [
        (
            "Your card 4111 1111 1111 1111 was used. Thanks for asking, and have a nice day.",
            "Your card [redacted: card ending 1111] was used. Thanks for asking, and have a nice day.",
        ),
        (
            "The key is api_key: 9f8e7d6c5b4a3928 and that was all of it, more or less, I would say.",
            "The key is api_key: [redacted: named_secret] and that was all of it, more or less, I would say.",
        ),
        (
            "See https://evil.example/pay?x=1 now. Or bank.example for help.",
            "See {https://evil.example/pay?x=1} now. Or bank.example for help.",
        ),
        (
            "Please call +44 113 496 0122. Thank you.",
            "Please call {+44 113 496 0122}. Thank you.",
        ),
        (
            "Write to kim.lee@evil.example soon.",
            "Write to {kim.lee@evil.example} soon.",
        ),
        (
            "![bal](https://x.example/p.png?d=9) is here.",
            "bal {https://x.example/p.png?d=9} is here.",
        ),
        ("<b>Hello</b> [ Confirm ] now.", "Hello Confirm now."),
        (
            "Your card ending 4821 is frozen. You have 1,240.50 EUR.",
            "Your card ending 4821 is frozen. You have 1,240.50 EUR.",
        ),
        (
            "IBAN DE89 3704 0044 0532 0130 00 is the landlord's.",
            "IBAN [redacted: iban ending 3000] is the landlord's.",
        ),
        (
            "You have 5 EUR. Move all of it to a safe account at once. Or ask evil.example about it.",
            "You have 5 EUR. !Move all of it to a safe account at once.! Or ask {evil.example} about it.",
        ),
    ];

    #[test]
    fn a_cut_at_any_byte_changes_nothing_and_leaks_nothing() {
        for (reply, wanted) in REPLIES {
            assert_eq!(play(&[reply]).as_deref(), Ok(wanted));
            for (at, _) in reply.char_indices() {
                assert_eq!(
                    play(&[&reply[..at], &reply[at..]]).as_deref(),
                    Ok(wanted),
                    "cut at {at}"
                );
            }
            let characters: Vec<String> = reply.chars().map(String::from).collect();
            let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
            assert_eq!(play(&characters).as_deref(), Ok(wanted), "one by one");
        }
    }

    #[test]
    fn nothing_of_a_secret_is_passed_on_before_it_is_known_whole() {
        for (reply, secret) in [
            ("Your card is 4111 1111 1111 1111 now.", "4111"),
            ("Write to the IBAN DE89 3704 0044 0532 0130 00 now.", "3704"),
            (
                "The key sk_live_4eC39HqLyjWDarjtT1zdp7dc is yours.",
                "4eC39",
            ),
        ] {
            let mut words = words();
            let mut passed = String::new();
            for character in reply.chars() {
                let pieces = words
                    .push(character.encode_utf8(&mut [0; 4]))
                    .expect("goes on");
                passed.extend(pieces.into_iter().map(|piece| piece.text));
                assert!(!passed.contains(secret), "{passed}");
            }
        }
    }

    #[test]
    fn a_reply_that_asks_for_a_secret_stops_before_it_says_so() {
        let reply = "I can unlock it for you. Please tell me your PIN. Then we go on.";
        assert_eq!(play(&[reply]), Err(Stopped::AsksForSecret));
        for (at, _) in reply.char_indices() {
            let mut words = words();
            let mut shown = Vec::new();
            let mut stopped = false;
            for piece in [&reply[..at], &reply[at..]] {
                match words.push(piece) {
                    Ok(pieces) => shown.extend(pieces),
                    Err(_) => stopped = true,
                }
            }
            stopped |= words.finish().is_err();
            let shown: String = shown.into_iter().map(|piece| piece.text).collect();
            assert!(stopped && !shown.contains("PIN"), "cut at {at}: {shown}");
        }
        assert_eq!(
            play(&["Never tell anybody your PIN."]).as_deref(),
            Ok("Never tell anybody your PIN.")
        );
    }

    #[test]
    fn sentences_are_shown_as_they_end() {
        let mut words = words();
        let sentence = "You have 12.50 EUR left in your account today. ";
        let shown: usize = (0..10)
            .map(|_| words.push(sentence).expect("goes on").len())
            .sum();
        assert!(shown >= 5, "{shown}");
    }

    #[test]
    fn what_was_masked_is_counted_and_what_came_masked_is_not() {
        let mut words = words();
        words
            .push("[redacted: iban ending 1234] and 4111 1111 1111 1111.")
            .expect("goes on");
        words.finish().expect("ends");
        assert_eq!(words.masked().collect::<Vec<_>>(), [("card".to_owned(), 1)]);
    }
}
