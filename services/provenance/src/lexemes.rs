//! The first reading of a message: words, digits, marks, and what is masked before any number is looked for.

use crate::{
    digits::digit_of,
    fold::{Folded, is_base},
    masks::{self, DateStyle},
    names::Names,
    quotes::Quoted,
};

/// What stands at a place, before any language is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Letters.
    Word,
    /// Letters and digits mixed, or a numeral that is no decimal digit.
    Garbage,
    /// Digits with their marks.
    Digits,
    /// A sign, dash or stop.
    Mark(char),
    /// A saved name.
    Name { index: usize, possessive: bool },
    /// An IBAN with a right checksum, without spaces.
    Iban(String),
    /// Something of an IBAN's form with a wrong checksum.
    BadIban,
    /// A sort code with an account number, as `123456/12345678`.
    SortCode(String),
    /// A date; the day where it can be only one.
    Date(Option<(i32, u8, u8)>),
    /// A time, phone number, reference or the like.
    Masked,
    /// Somebody else's words.
    Quoted,
}

/// One piece of a folded text.
#[derive(Clone, Debug)]
pub(crate) struct Lexeme {
    pub shape: Shape,
    pub start: usize,
    pub end: usize,
    /// Nothing stands between it and the piece before.
    pub glued: bool,
    /// It begins with a capital.
    pub capital: bool,
}

/// Beginnings that French, Italian and Portuguese write together with the next word.
const ELISIONS: &[&str] = &[
    "l", "d", "n", "j", "m", "t", "s", "c", "qu", "jusqu", "lorsqu", "puisqu", "all", "dell",
    "nell", "dall", "sull", "un", "quest", "quell", "c", "gliel",
];

/// The length of such a beginning of a word, its apostrophe included.
pub(crate) fn elision(word: &str) -> Option<usize> {
    let at = word.find('\'')?;
    ELISIONS.contains(&&word[..at]).then_some(at + 1)
}

/// Reads a folded text. Linear: each character is looked at a bounded number of times.
pub(crate) fn read(
    folded: &Folded,
    quoted: &[Quoted],
    names: &Names,
    style: DateStyle,
) -> Vec<Lexeme> {
    let text = folded.text.as_str();
    let mut lexemes = Vec::with_capacity(text.len() / 4 + 1);
    let mut quoted = quoted.iter().peekable();
    let mut at = 0;
    let mut last_end = usize::MAX;
    while let Some(character) = text[at..].chars().next() {
        if character == ' ' && quoted.peek().is_none_or(|(start, _)| *start > at) {
            at += 1;
            continue;
        }
        if let Some((start, end)) = quoted.peek()
            && *start <= at
        {
            let end = (*end).max(at + character.len_utf8());
            quoted.next();
            lexemes.push(Lexeme {
                shape: Shape::Quoted,
                start: at,
                end,
                glued: last_end == at,
                capital: false,
            });
            at = end;
            last_end = end;
            continue;
        }
        if character != '\n'
            && (character.is_whitespace() || !is_base(character) || is_joining_hidden(character))
        {
            at += character.len_utf8();
            continue;
        }
        let (shape, length) = one(folded, at, names, style, lexemes.last(), last_end == at);
        let end = at + length;
        lexemes.push(Lexeme {
            shape,
            start: at,
            end,
            glued: last_end == at,
            capital: folded.capital(at),
        });
        last_end = end;
        at = end;
    }
    lexemes
}

/// Hidden characters do not end the loop's progress; the clause they stand in grounds nothing anyway.
fn is_joining_hidden(character: char) -> bool {
    countersign_domain::text::is_hidden(character) && character != '\n'
}

fn one(
    folded: &Folded,
    at: usize,
    names: &Names,
    style: DateStyle,
    before: Option<&Lexeme>,
    glued: bool,
) -> (Shape, usize) {
    let text = folded.text.as_str();
    let rest = &text[at..];
    let first = rest.chars().next().unwrap_or(' ');
    let inside_word = glued
        && before.is_some_and(|before| matches!(before.shape, Shape::Digits | Shape::Garbage));
    // A name that is also an ordinary word counts only with a capital inside a sentence.
    let inside_sentence = before
        .is_some_and(|before| !matches!(before.shape, Shape::Mark('.' | '!' | '?' | ';' | '\n')));
    if !inside_word
        && let Some((index, end)) = names.at(text, at)
        && (!names.get(index).ordinary || (inside_sentence && folded.capital(at)))
    {
        let possessive = text[end..].starts_with("'s");
        return (
            Shape::Name { index, possessive },
            end - at + if possessive { 2 } else { 0 },
        );
    }
    if first.is_alphabetic() {
        if !inside_word && let Some((iban, length)) = masks::iban(rest) {
            return (iban.map_or(Shape::BadIban, Shape::Iban), length);
        }
        return word(rest);
    }
    if digit_of(first).is_some() {
        let negative = before.is_some_and(|before| {
            glued && matches!(before.shape, Shape::Mark('-' | '+' | '/' | ':' | '#' | '.'))
        });
        if !negative && let Some(found) = masks::at_digit(rest, style) {
            return found;
        }
        return (Shape::Digits, masks::digits_length(rest));
    }
    if first == '+'
        && let Some(length) = masks::phone(rest)
    {
        return (Shape::Masked, length);
    }
    if first.is_numeric() {
        return (Shape::Garbage, first.len_utf8());
    }
    (Shape::Mark(first), first.len_utf8())
}

fn word(rest: &str) -> (Shape, usize) {
    // Most words are plain letters up to a blank or a mark.
    let plain = rest.bytes().take_while(u8::is_ascii_lowercase).count();
    if matches!(
        rest.as_bytes().get(plain),
        None | Some(b' ' | b',' | b'.' | b'!' | b'?' | b'\n')
    ) && plain > 0
    {
        return (Shape::Word, plain);
    }
    let mut end = 0;
    let mut mixed = false;
    let mut characters = rest.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character.is_alphabetic() || !is_base(character) {
        } else if character == '\'' {
            let letter_follows = characters
                .peek()
                .is_some_and(|(_, next)| next.is_alphabetic());
            if !letter_follows || at == 0 {
                break;
            }
            if elision(rest) == Some(at + 1) {
                return (Shape::Word, at + 1);
            }
        } else if character.is_numeric() {
            mixed = true;
        } else {
            break;
        }
        end = at + character.len_utf8();
        // A code glued to its digits ("usd34.6") is two pieces.
        if !mixed
            && characters
                .peek()
                .is_some_and(|(_, next)| digit_of(*next).is_some())
            && crate::currencies::is_code(&rest[..end])
        {
            return (Shape::Word, end);
        }
    }
    (if mixed { Shape::Garbage } else { Shape::Word }, end.max(1))
}
