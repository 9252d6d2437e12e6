//! Signs: turns of phrase that say how a remark bears on a request, laid over the tokens without joining them.
//!
//! A language file lists them by kind. A pattern is words; `...` stands for up to six others between them, and a
//! word that ends in `*` for all its endings. Accents do not count, so that hasty spelling is read as well.

use std::borrow::Cow;

use crate::{
    fold::without_accents,
    hashing::WordMap,
    lexemes::{Lexeme, Shape, elision},
};

/// How many words `...` may stand for.
const GAP_WORDS_MAX: usize = 6;

/// The letters of a stem that patterns with an open first word are found by.
const STEM_LETTERS: usize = 3;

/// A set of signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signs(u64);

impl Signs {
    pub(crate) const NONE: Self = Self(0);
    /// Puts a request in doubt or off ("let me sleep on it").
    pub(crate) const HESITATE: Self = Self(1);
    /// A later time ("another day"), which puts off what it stands beside unless that is a request.
    pub(crate) const POSTPONE: Self = Self(2);
    /// Somebody need not be paid ("already paid", "leave … out").
    pub(crate) const SPARE: Self = Self(4);
    /// Only who is named ("just Alice").
    pub(crate) const RESTRICT: Self = Self(8);
    /// The customer speaks of himself.
    pub(crate) const FIRST_PERSON: Self = Self(16);
    /// Sounds like a doubt and is none ("I'm sure", "can't wait").
    pub(crate) const HARMLESS: Self = Self(32);
    /// Makes a request of what stands with it, whatever its words do alone ("n'oublie surtout pas de").
    pub(crate) const ASKS: Self = Self(64);
    /// Nobody means what he says with it ("in your dreams").
    pub(crate) const MOCK: Self = Self(128);
    /// The payee before was a slip ("wrong person").
    pub(crate) const WRONG_PAYEE: Self = Self(256);
    /// The amount before was a slip ("wrong amount").
    pub(crate) const WRONG_AMOUNT: Self = Self(512);
    /// The two amounts or payees before changed places ("the other way round").
    pub(crate) const SWAP: Self = Self(2048);
    /// Thanks, whatever numbers they hold ("a million thanks").
    pub(crate) const THANKS: Self = Self(4096);
    /// A letter's beginning or end: a customer's own only with words of asking ([`Self::I_ASK`]).
    pub(crate) const LETTER: Self = Self(8192);
    /// The customer asks in the first person ("I should be grateful if you would").
    pub(crate) const I_ASK: Self = Self(16384);
    /// Sends back what came in ("stort … terug").
    pub(crate) const REFUNDS: Self = Self(65536);
    /// A verb of paying in two parts ("maak … over", "get … across to").
    pub(crate) const PAYS: Self = Self(1_048_576);
    /// Heads a note to oneself where a colon follows ("don't forget:").
    pub(crate) const MEMO: Self = Self(4_194_304);
    /// A time that is over ("yesterday").
    pub(crate) const PAST: Self = Self(2_097_152);
    /// Sets something up ("stel … in").
    pub(crate) const MAKES: Self = Self(131_072);
    /// Closes a message: a name alone behind it is the writer's ("Un saludo, Pilar").
    pub(crate) const SIGN_OFF: Self = Self(262_144);
    /// The customer owes, where an amount follows ("devo 20 a Bob").
    pub(crate) const OWES_AMOUNT: Self = Self(32768);
    /// Courtesy, haste or a small talk's turn that sounds like a condition or a denial ("if you have a minute").
    pub(crate) const COURTESY: Self = Self(524_288);
    /// Glad of it, or waiting for it ("he'll be chuffed", "she asked twice"): told of somebody, it takes nothing back.
    pub(crate) const PLEASED: Self = Self(8_388_608);
    /// Would be welcome, where the assistant or a sum follows ("it would be great if you").
    pub(crate) const WISHES: Self = Self(16_777_216);
    /// Asked for it ("she asked twice"), so that "already" beside it takes nothing back.
    pub(crate) const ASKED: Self = Self(134_217_728);
    /// How old somebody is, where a bare number follows ("he turns").
    pub(crate) const AGE: Self = Self(268_435_456);
    /// The customer and somebody else ("we", "nous").
    pub(crate) const WE: Self = Self(536_870_912);
    /// A slip of the eye or hand ("I mixed the digits up"): with other values in its message it only says why, and alone
    /// it doubts what was asked.
    pub(crate) const SLIP: Self = Self(1_073_741_824);
    /// Begs pardon: behind talk that names no value it is about that talk ("the kids are screaming, sorry").
    pub(crate) const APOLOGY: Self = Self(33_554_432);
    /// Seeks assent at the end of talk that names no value ("lovely weather, isn't it").
    pub(crate) const TAG: Self = Self(67_108_864);
    /// The customer owes.
    pub(crate) const DEBT: Self = Self(1024);
    /// The customer guesses ("I think it was"): the sums beside it are none to pay yet.
    pub(crate) const GUESS: Self = Self(1 << 32);
    /// A price for each of several ("per kid", "for each of the"): the sum must be worked out.
    pub(crate) const RATE: Self = Self(1 << 33);
    /// Leaves the choice to another ("whichever you like").
    pub(crate) const CHOICE: Self = Self(1 << 34);
    /// A verb that at the head of a sentence, before its subject, makes a condition ("should", "mocht").
    pub(crate) const INVERTED: Self = Self(1 << 35);
    /// The same as a guess where a mark or the end follows ("65, I think").
    pub(crate) const GUESS_BEHIND: Self = Self(1 << 37);
    /// The same as an inverted verb behind the order ("überweise 20, sollte er anrufen").
    pub(crate) const INVERTED_BEHIND: Self = Self(1 << 38);
    /// What follows gives its place to another ("instead of").
    pub(crate) const REPLACES: Self = Self(1 << 36);

    /// The sign that a section of a language file names.
    pub(crate) fn of_section(section: &str) -> Option<Self> {
        Some(match section {
            "hesitate" => Self::HESITATE,
            "postpone" => Self::POSTPONE,
            "spare" => Self::SPARE,
            "restrict" => Self::RESTRICT,
            "first-person" => Self::FIRST_PERSON,
            "harmless" => Self::HARMLESS,
            "asks" => Self::ASKS,
            "courtesy" => Self::COURTESY,
            "pleased" => Self::PLEASED,
            "asked" => Self::ASKED.union(Self::PLEASED),
            "age" => Self::AGE,
            "we" => Self::WE,
            "guess" => Self::GUESS,
            "rate" => Self::RATE,
            "choice" => Self::CHOICE,
            "inverted" => Self::INVERTED,
            "replaces" => Self::REPLACES,
            "guess-behind" => Self::GUESS_BEHIND,
            "inverted-behind" => Self::INVERTED_BEHIND,
            "slip" => Self::SLIP,
            "wishes" => Self::WISHES,
            "apology" => Self::APOLOGY,
            "assent" => Self::TAG,
            "mock" => Self::MOCK,
            "wrong-payee" => Self::WRONG_PAYEE,
            "wrong-amount" => Self::WRONG_AMOUNT,
            "owes" => Self::DEBT,
            "refunds" => Self::REFUNDS,
            "makes" => Self::MAKES,
            "pays" => Self::PAYS,
            "past" => Self::PAST,
            "memo" => Self::MEMO,
            "sign-off" => Self::SIGN_OFF,
            "owes-amount" => Self::OWES_AMOUNT,
            "swap" => Self::SWAP,
            "thanks" => Self::THANKS,
            "letter" => Self::LETTER,
            "i-ask" => Self::I_ASK,
            _ => return None,
        })
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }
}

/// Where a sign stands, in folded bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sign {
    pub signs: Signs,
    pub start: usize,
    pub end: usize,
}

impl Sign {
    /// Whether a byte lies in it behind its first.
    pub(crate) fn spans(&self, at: usize) -> bool {
        self.start < at && at < self.end
    }
}

#[derive(Debug)]
enum Piece {
    Word(Box<str>),
    Stem(Box<str>),
    Gap,
}

impl Piece {
    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Word(wanted) => **wanted == *word,
            Self::Stem(stem) => word.starts_with(&**stem),
            Self::Gap => false,
        }
    }
}

#[derive(Debug)]
struct Pattern {
    pieces: Vec<Piece>,
    signs: Signs,
}

/// The patterns of a language.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    /// By their first word.
    words: WordMap<Vec<Pattern>>,
    /// Those that begin with a stem, by its first letters.
    stems: WordMap<Vec<Pattern>>,
}

impl Patterns {
    /// Adds a pattern as a language file writes it.
    pub(crate) fn add(&mut self, text: &str, signs: Signs) {
        let mut pieces = Vec::new();
        for word in text.split([' ', '-']).filter(|word| !word.is_empty()) {
            if word == "..." {
                pieces.push(Piece::Gap);
                continue;
            }
            let cut = elision(word).filter(|cut| *cut < word.len()).unwrap_or(0);
            for part in [&word[..cut], &word[cut..]] {
                match part.strip_suffix('*') {
                    _ if part.is_empty() => {}
                    Some(stem) => {
                        let stem = without_accents(stem);
                        assert!(
                            stem.chars().count() >= STEM_LETTERS,
                            "the stem of {part:?} is too short to be found"
                        );
                        pieces.push(Piece::Stem(stem.into()));
                    }
                    None => pieces.push(Piece::Word(without_accents(part).into())),
                }
            }
        }
        let (table, first) = match pieces.first() {
            Some(Piece::Word(word)) => (&mut self.words, word.clone()),
            Some(Piece::Stem(stem)) => (&mut self.stems, letters(stem).into()),
            _ => panic!("the pattern {text:?} does not begin with a word"),
        };
        table
            .entry(first)
            .or_default()
            .push(Pattern { pieces, signs });
    }

    /// The signs in a message, in the order of their first words.
    pub(crate) fn find(&self, text: &str, lexemes: &[Lexeme]) -> Vec<Sign> {
        let words: Vec<Option<Cow<str>>> = lexemes
            .iter()
            .map(|lexeme| {
                (lexeme.shape == Shape::Word).then(|| plain(&text[lexeme.start..lexeme.end]))
            })
            .collect();
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let Some(word) = word else { continue };
            let whole = self.words.get(&**word);
            let begun = self.stems.get(letters(word));
            for pattern in whole.into_iter().chain(begun).flatten() {
                if let Some(end) = ends(&pattern.pieces, &words, lexemes, at) {
                    found.push(Sign {
                        signs: pattern.signs,
                        start: lexemes[at].start,
                        end: lexemes[end - 1].end,
                    });
                }
            }
        }
        without_overruled(found)
    }
}

/// Leaves out what sounds like a doubt inside a longer phrase that is none, and the other way round.
fn without_overruled(found: Vec<Sign>) -> Vec<Sign> {
    let weighs = |sign: &Sign| sign.end - sign.start;
    let doubt = Signs::HESITATE.union(Signs::POSTPONE).union(Signs::SPARE);
    let overruled = |sign: &Sign| {
        let rivals = if sign.signs.has(doubt) {
            Signs::HARMLESS
        } else if sign.signs.has(Signs::HARMLESS) {
            doubt
        } else {
            return false;
        };
        found.iter().any(|other| {
            other.signs.has(rivals)
                && other.start < sign.end
                && sign.start < other.end
                && weighs(other) > weighs(sign)
        })
    };
    found
        .iter()
        .filter(|sign| !overruled(sign))
        .copied()
        .collect()
}

fn letters(word: &str) -> &str {
    word.char_indices()
        .nth(STEM_LETTERS)
        .map_or(word, |(end, _)| &word[..end])
}

fn plain(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(without_accents(word))
    }
}

/// The lexeme behind a pattern that begins at a place.
fn ends(
    pieces: &[Piece],
    words: &[Option<Cow<str>>],
    lexemes: &[Lexeme],
    at: usize,
) -> Option<usize> {
    let Some((piece, rest)) = pieces.split_first() else {
        return Some(at);
    };
    if !matches!(piece, Piece::Gap) {
        let here = skip_hyphen(lexemes, at);
        let word = words.get(here)?.as_deref()?;
        return piece
            .fits(word)
            .then(|| ends(rest, words, lexemes, here + 1))
            .flatten();
    }
    (at..=at + GAP_WORDS_MAX)
        .take_while(|next| {
            *next == at
                || lexemes.get(*next - 1).is_some_and(|lexeme| {
                    !matches!(lexeme.shape, Shape::Mark('.' | '!' | '?' | ';' | '\n'))
                })
        })
        .find_map(|next| ends(rest, words, lexemes, next))
}

/// "peut-être", "vas-y": the hyphen inside a word that a pattern writes apart.
fn skip_hyphen(lexemes: &[Lexeme], at: usize) -> usize {
    let joins = at > 0
        && lexemes
            .get(at)
            .is_some_and(|lexeme| lexeme.glued && lexeme.shape == Shape::Mark('-'))
        && lexemes.get(at + 1).is_some_and(|next| next.glued);
    at + usize::from(joins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fold::Folded, lexemes, masks::DateStyle, names::Names};

    fn signs(pattern: &str, text: &str) -> bool {
        let mut patterns = Patterns::default();
        patterns.add(pattern, Signs::SPARE);
        let folded = Folded::new(text);
        let style = DateStyle {
            day_first: None,
            dotted: false,
        };
        let lexemes = lexemes::read(&folded, &[], &Names::default(), style);
        !patterns.find(&folded.text, &lexemes).is_empty()
    }

    #[test]
    fn a_pattern_spans_a_gap_and_takes_endings() {
        assert!(signs("leave ... out", "please leave Bob out of it"));
        assert!(signs("leave ... out", "leave out"));
        assert!(!signs("leave ... out", "leave Bob. Out"));
        assert!(!signs("leave ... out", "leave a b c d e f g out"));
        assert!(signs("zapłac*", "zaplacone"));
        assert!(signs("peut-être", "peut-être"));
        assert!(signs("j'ai déjà", "J'ai deja"));
    }
}
