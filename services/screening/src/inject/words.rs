//! A text as sentences of words that mean something.

use std::ops::Range;

use super::letters::{ASCII, NONE, letters_of};
use super::lexicon::{ANY, Concept, Lexicon, ROOT, SPACE};

/// Phrases that can be under way at once.
const ACTIVE_MAX: usize = 8;
/// Words of one letter in a row that are a word spelled with spaces.
const SPELLED_MIN: usize = 6;
/// Letters of a word that may be several without spaces.
const JOINED_MIN: usize = 20;
/// Most letters of such a word that are looked at.
const JOINED_MAX: usize = 256;

/// What every rule needs one of.
pub(super) const TRIGGERS: u64 = Concept::Ignore.mask()
    | Concept::Override.mask()
    | Concept::Stop.mask()
    | Concept::Reveal.mask()
    | Concept::Ai.mask()
    | Concept::Role.mask()
    | Concept::NowOn.mask()
    | Concept::Negation.mask()
    | Concept::Call.mask()
    | Concept::Pay.mask()
    | Concept::Send.mask()
    | Concept::NewTask.mask()
    | Concept::Before.mask()
    | Concept::Skip.mask()
    | Concept::Unasked.mask()
    | Concept::Obey.mask()
    | Concept::Drain.mask()
    | Concept::Apply.mask()
    | Concept::Prompt.mask()
    | Concept::Rotated.mask()
    | Concept::Reversed.mask();

/// A word or phrase that means something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub language: u8,
    pub concept: Concept,
    /// Numbers of its first and last word in the sentence.
    pub first: u32,
    pub last: u32,
    /// Where it ends in the text.
    pub end: usize,
}

/// A sentence that has such words.
#[derive(Debug)]
pub(super) struct Sentence<'s> {
    pub tokens: &'s [Token],
    /// Where it is in the text.
    pub span: Range<usize>,
    /// Number of the sentence, and of the string it is in.
    pub number: u32,
    pub piece: u32,
}

/// A phrase under way.
#[derive(Clone, Copy)]
struct Active {
    node: u16,
    /// The last node that says what any longer word means.
    begun: u16,
    first: u32,
    alive: bool,
}

/// Reads a text and calls back for each sentence with words that mean something.
pub(super) fn sentences(lexicon: &Lexicon, text: &str, on: &mut impl FnMut(&Sentence<'_>)) {
    let mut reader = Reader {
        lexicon,
        text,
        tokens: Vec::with_capacity(32),
        active: [Active {
            node: ROOT,
            begun: ROOT,
            first: 0,
            alive: false,
        }; ACTIVE_MAX],
        count: 0,
        word: 0,
        sentence_start: 0,
        number: 0,
        piece: 0,
        spelled: Vec::new(),
        is_worth_judging: false,
    };
    reader.read(on);
}

struct Reader<'r> {
    lexicon: &'r Lexicon,
    text: &'r str,
    tokens: Vec<Token>,
    active: [Active; ACTIVE_MAX],
    count: usize,
    word: u32,
    sentence_start: usize,
    number: u32,
    piece: u32,
    /// Letters of words of one letter each, in a row.
    spelled: Vec<u8>,
    /// Whether a word of this sentence can be the heart of an order.
    is_worth_judging: bool,
}

impl Reader<'_> {
    fn read(&mut self, on: &mut impl FnMut(&Sentence<'_>)) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            let is_letter = match byte {
                0x80.. => self
                    .character(at)
                    .is_some_and(|(letters, _)| letters.is_some()),
                _ => ASCII[byte as usize] != NONE || byte.is_ascii_digit(),
            };
            if is_letter {
                at = self.read_word(at);
                continue;
            }
            let ends = match byte {
                0 | b'!' | b'?' | b';' => true,
                b'.' => bytes
                    .get(at + 1)
                    .is_none_or(|next| matches!(next, 0..=b' ' | b'"' | b'\'' | b')' | 0x80..)),
                b'\n' => bytes.get(at + 1) == Some(&b'\n'),
                _ => false,
            };
            if ends {
                self.end_sentence(at, on);
                if byte == 0 {
                    self.piece += 1;
                }
            }
            at += match byte {
                0x80.. => self.character(at).map_or(1, |(_, length)| length),
                _ => 1,
            };
        }
        self.end_sentence(bytes.len(), on);
    }

    /// The character at a place: its letters, and its length.
    fn character(&self, at: usize) -> Option<(Option<super::letters::Letters>, usize)> {
        let character = self.text[at..].chars().next()?;
        Some((letters_of(character), character.len_utf8()))
    }

    /// Reads the word that begins at a place and returns where it ends.
    fn read_word(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        if self.count < ACTIVE_MAX {
            self.active[self.count] = Active {
                node: ROOT,
                begun: ROOT,
                first: self.word,
                alive: true,
            };
            self.count += 1;
        }
        let mut at = start;
        let mut letters = 0;
        let mut digits = 0;
        let mut last = NONE;
        let mut alive = true;
        while at < bytes.len() {
            let byte = bytes[at];
            if byte >= 0x80 {
                let Some((Some(found), length)) = self.character(at) else {
                    break;
                };
                for letter in found.as_slice() {
                    alive = alive && self.step(*letter);
                    last = *letter;
                }
                letters += found.as_slice().len().max(1);
                at += length;
                continue;
            }
            let letter = ASCII[byte as usize];
            let digit = byte.is_ascii_digit();
            if letter == NONE && !digit {
                break;
            }
            digits += usize::from(digit);
            letters += 1;
            last = letter;
            at += 1;
            if letter == NONE {
                alive = false;
                self.kill();
            } else if alive {
                alive = self.step(letter);
            }
        }
        self.end_word(start..at, letters, digits, last);
        at
    }

    /// Moves every phrase under way on by a letter; whether any is still under way.
    #[inline]
    fn step(&mut self, letter: u8) -> bool {
        let mut any = false;
        for active in &mut self.active[..self.count] {
            if active.alive {
                active.node = self.lexicon.child(active.node, usize::from(letter));
                active.alive = active.node != ROOT;
                if self.lexicon.is_begun(active.node) {
                    active.begun = active.node;
                }
                any |= active.alive;
            }
        }
        any
    }

    fn kill(&mut self) {
        for active in &mut self.active[..self.count] {
            active.alive = false;
        }
    }

    fn end_word(&mut self, span: Range<usize>, letters: usize, digits: usize, last: u8) {
        let number = digits == letters;
        if number {
            // Digits stand for letters only among letters: 14 is no word.
            self.kill();
            self.active[..self.count]
                .iter_mut()
                .for_each(|active| active.begun = ROOT);
        }
        let mut kept = 0;
        for index in 0..self.count {
            let active = self.active[index];
            if active.begun != ROOT {
                self.push_all(active.begun, false, active.first, span.end);
            }
            if active.alive {
                self.push_all(active.node, true, active.first, span.end);
                let next = self.lexicon.child(active.node, SPACE);
                if next != ROOT {
                    self.active[kept] = Active {
                        node: next,
                        begun: ROOT,
                        ..active
                    };
                    kept += 1;
                }
            }
        }
        self.count = kept;
        if number {
            self.push(ANY, Concept::Amount, self.word, span.end);
        }
        self.special(&span);
        match (letters, last) {
            (1, letter) if letter != NONE => self.spelled.push(letter),
            _ => {
                self.read_spelled(span.start);
                if letters >= JOINED_MIN && digits * 4 < letters {
                    self.read_joined(&span);
                }
            }
        }
        self.word += 1;
    }

    fn push_all(&mut self, node: u16, whole: bool, first: u32, end: usize) {
        let meanings = if whole {
            self.lexicon.whole(node)
        } else {
            self.lexicon.begun(node)
        };
        for (language, concept) in meanings {
            self.is_worth_judging |= TRIGGERS & concept.mask() != 0;
            self.tokens.push(Token {
                language: *language,
                concept: *concept,
                first,
                last: self.word,
                end,
            });
        }
    }

    fn push(&mut self, language: u8, concept: Concept, first: u32, end: usize) {
        self.tokens.push(Token {
            language,
            concept,
            first,
            last: self.word,
            end,
        });
    }

    /// Identifiers and addresses, by what stands around a word.
    fn special(&mut self, span: &Range<usize>) {
        let bytes = self.text.as_bytes();
        if bytes.get(span.end) == Some(&b'_') || (span.start > 0 && bytes[span.start - 1] == b'_') {
            self.push(ANY, Concept::Identifier, self.word, span.end);
            let word = &self.text[span.clone()];
            const PAYS: [&str; 9] = [
                "transfer", "pay", "payment", "send", "wire", "withdraw", "order", "delete",
                "money",
            ];
            if PAYS.iter().any(|pays| word.eq_ignore_ascii_case(pays)) {
                self.push(ANY, Concept::PayTool, self.word, span.end);
            }
        }
        let is_mailbox = bytes.get(span.end) == Some(&b'@')
            && bytes
                .get(span.end + 1)
                .is_some_and(u8::is_ascii_alphanumeric);
        if is_mailbox || bytes[span.end..].starts_with(b"://") {
            self.push(ANY, Concept::Address, self.word, span.end);
        }
    }

    /// Words spelled letter by letter: `i g n o r e`.
    fn read_spelled(&mut self, at: usize) {
        if self.spelled.len() >= SPELLED_MIN {
            let letters = std::mem::take(&mut self.spelled);
            self.read_letters(&letters, at);
        }
        self.spelled.clear();
    }

    /// Words without spaces: `ignoreallpreviousinstructions`.
    fn read_joined(&mut self, span: &Range<usize>) {
        let mut letters = Vec::new();
        for character in self.text[span.clone()].chars().take(JOINED_MAX) {
            match u8::try_from(character) {
                Ok(byte) if byte < 128 => letters.push(ASCII[byte as usize]),
                _ => {
                    letters.extend_from_slice(letters_of(character).unwrap_or_default().as_slice())
                }
            }
        }
        self.read_letters(&letters, span.end);
    }

    /// Every word of at least four letters anywhere in a row of letters.
    fn read_letters(&mut self, letters: &[u8], end: usize) {
        const LENGTH_MIN: usize = 4;
        let letters = &letters[..letters.len().min(JOINED_MAX)];
        for start in 0..letters.len() {
            let mut node = ROOT;
            for (length, letter) in letters[start..].iter().enumerate() {
                if *letter == NONE {
                    break;
                }
                node = self.lexicon.child(node, usize::from(*letter));
                if node == ROOT {
                    break;
                }
                if length + 1 >= LENGTH_MIN {
                    self.push_all(node, true, self.word, end);
                    self.push_all(node, false, self.word, end);
                }
            }
        }
    }

    fn end_sentence(&mut self, at: usize, on: &mut impl FnMut(&Sentence<'_>)) {
        self.read_spelled(at);
        if self.is_worth_judging {
            on(&Sentence {
                tokens: &self.tokens,
                span: self.sentence_start..at,
                number: self.number,
                piece: self.piece,
            });
        }
        self.tokens.clear();
        self.is_worth_judging = false;
        self.count = 0;
        self.word = 0;
        self.number += 1;
        self.sentence_start = at + 1;
    }
}
