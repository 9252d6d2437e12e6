//! Numbers in words.

use crate::{
    decimal::Decimal,
    lexemes::{Lexeme, Shape},
    lexicon::{self, Lexicon, Phrase, Use},
    tags::Tags,
};

/// What a run of number words is, and the lexeme after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numeral {
    /// `None` when the words run on to something that is not one number ("eight nine two").
    pub value: Option<Decimal>,
    pub next: usize,
}

/// A word or phrase with a number's value.
#[derive(Clone, Copy)]
struct Piece {
    value: u64,
    /// 60 and 80 in French: teens may follow.
    wide: bool,
    scale: bool,
    next: usize,
}

/// The words of a message in its language. Each is looked up once, whatever is asked about it.
pub(crate) struct Words<'a> {
    pub text: &'a str,
    pub lexemes: &'a [Lexeme],
    pub lexicon: &'static Lexicon,
    known: Vec<Known>,
}

/// What is known of one lexeme.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The phrases it begins, longest first.
    phrases: &'static [Phrase],
    /// What it does alone.
    alone: Tags,
    /// What any phrase that it begins does.
    any: Tags,
}

impl Known {
    fn of(phrases: &'static [Phrase]) -> Self {
        let any = phrases
            .iter()
            .fold(Tags::NONE, |tags, phrase| tags.union(phrase.tags));
        Self {
            phrases,
            alone: lexicon::alone(phrases),
            any,
        }
    }
}

/// A message of no more lexemes may take something back without naming a value.
const SHORT_LEXEMES_MAX: usize = 12;

/// A word that is nothing but courtesy or talk in English or in several languages ("pls", "merci") is that everywhere.
fn courtesy(uses: &[Use]) -> Option<Known> {
    let talk = Tags::FILLER.union(Tags::POLITE).union(Tags::AFFIRM);
    let known = uses.iter().find(|known| !known.tags.is_empty())?;
    let only_talk = uses
        .iter()
        .flat_map(|known| known.phrases)
        .all(|phrase| phrase.tags.without(talk).is_empty())
        && known.tags.has(Tags::FILLER.union(Tags::POLITE))
        && (known.language == 0 || uses.len() > 1);
    only_talk.then(|| Known::of(known.phrases))
}

/// The sentence around a place, and whether it holds a number or a name.
fn sentence_at(lexemes: &[Lexeme], at: usize) -> (std::ops::Range<usize>, bool) {
    let ends = |lexeme: &Lexeme| matches!(lexeme.shape, Shape::Mark('.' | '!' | '?' | ';' | '\n'));
    let from = lexemes[..at]
        .iter()
        .rposition(ends)
        .map_or(0, |mark| mark + 1);
    let to = lexemes[at..]
        .iter()
        .position(ends)
        .map_or(lexemes.len(), |mark| at + mark);
    let has_values = lexemes[from..to]
        .iter()
        .any(|lexeme| matches!(lexeme.shape, Shape::Digits | Shape::Name { .. }));
    (from..to, has_values)
}

impl<'a> Words<'a> {
    /// Reads a message in the locale's language, or in another that its words belong to.
    pub(crate) fn of(text: &'a str, lexemes: &'a [Lexeme], locale: Option<usize>) -> Option<Self> {
        let word = |lexeme: &Lexeme| &text[lexeme.start..lexeme.end];
        let uses: Vec<&'static [Use]> = lexemes
            .iter()
            .map(|lexeme| match lexeme.shape {
                Shape::Word => lexicon::known(word(lexeme)),
                _ => &[],
            })
            .collect();
        let language = language_of(&uses, locale)?;
        let lexicon = &lexicon::all()[language];
        let short = lexemes.len() <= SHORT_LEXEMES_MAX;
        let (mut stretch, mut has_values) = (0..0, false);
        let known = lexemes
            .iter()
            .zip(uses)
            .enumerate()
            .map(|(at, (lexeme, uses))| {
                if let Some(known) = uses.iter().find(|known| known.language == language) {
                    return Known::of(known.phrases);
                }
                if lexeme.shape != Shape::Word {
                    return Known::default();
                }
                let spelt = lexicon.misspelt(word(lexeme));
                if !spelt.is_empty() {
                    return Known::of(spelt);
                }
                if let Some(courtesy) = courtesy(uses).filter(|_| !lexeme.capital) {
                    return courtesy;
                }
                // Asked for only where something can be asked for: it is a search among many words.
                if !short && !stretch.contains(&at) {
                    (stretch, has_values) = sentence_at(lexemes, at);
                }
                if uses.is_empty() && (short || has_values) {
                    return Known::of(lexicon.mistyped(word(lexeme)));
                }
                Known::default()
            })
            .collect();
        Some(Self {
            text,
            lexemes,
            lexicon,
            known,
        })
    }

    /// The word at a place.
    pub(crate) fn word(&self, at: usize) -> Option<&'a str> {
        let lexeme = self.lexemes.get(at)?;
        (lexeme.shape == Shape::Word).then(|| &self.text[lexeme.start..lexeme.end])
    }

    /// The longest phrase at a place that has one of the wanted classes, and the lexeme after it.
    pub(crate) fn phrase(
        &self,
        at: usize,
        wanted: Option<Tags>,
    ) -> Option<(&'static Phrase, usize)> {
        let known = self.known.get(at)?;
        if wanted.is_some_and(|wanted| !known.any.has(wanted)) {
            return None;
        }
        known
            .phrases
            .iter()
            .filter(|phrase| wanted.is_none_or(|wanted| phrase.tags.has(wanted)))
            .find_map(|phrase| {
                let mut next = at + 1;
                for word in &phrase.rest {
                    let hyphen = matches!(
                        self.lexemes.get(next),
                        Some(Lexeme {
                            shape: Shape::Mark('-'),
                            glued: true,
                            ..
                        })
                    ) && self
                        .lexemes
                        .get(next + 1)
                        .is_some_and(|lexeme| lexeme.glued);
                    next += usize::from(hyphen);
                    if self.word(next) != Some(word) {
                        return None;
                    }
                    next += 1;
                }
                Some((phrase, next))
            })
    }

    /// Whether the word at a place has one of the classes.
    pub(crate) fn has(&self, at: usize, tags: Tags) -> bool {
        self.known
            .get(at)
            .is_some_and(|known| known.alone.has(tags))
    }

    /// Whether a number can begin at a place. Most words end the search here.
    fn may_begin_number(&self, at: usize) -> bool {
        let classes = Tags::NUMBER
            .union(Tags::SCALE)
            .union(Tags::HALF)
            .union(Tags::ONE_OF);
        self.lexicon.joins_numerals()
            || self
                .known
                .get(at)
                .is_some_and(|known| known.any.has(classes))
    }

    fn piece(&self, at: usize) -> Option<Piece> {
        if let Some((phrase, next)) = self.phrase(at, Some(Tags::NUMBER.union(Tags::SCALE))) {
            let value = phrase.value.as_deref()?;
            return Some(Piece {
                value: value.trim_end_matches('w').parse().ok()?,
                wide: value.ends_with('w'),
                scale: phrase.tags.has(Tags::SCALE),
                next,
            });
        }
        let word = self.word(at)?;
        // "tweeëntwintig"
        let value = if word.contains('ë') {
            glued(&word.replace('ë', "e"), self.lexicon)?
        } else {
            glued(word, self.lexicon)?
        };
        Some(Piece {
            value,
            wide: false,
            scale: false,
            next: at + 1,
        })
    }

    /// An article that is the unit of a number begun before it ("vingt et un").
    fn single(&self, at: usize) -> Option<Piece> {
        let is_end = self.piece(at + 1).is_none();
        (self.has(at, Tags::ONE_OF) && is_end).then_some(Piece {
            value: 1,
            wide: false,
            scale: false,
            next: at + 1,
        })
    }

    /// The piece at a place, over a hyphen that joins it to the one before.
    fn joined_piece(&self, at: usize) -> Option<Piece> {
        let hyphen = matches!(
            self.lexemes.get(at),
            Some(Lexeme {
                shape: Shape::Mark('-'),
                glued: true,
                ..
            })
        ) && self.lexemes.get(at + 1).is_some_and(|lexeme| lexeme.glued);
        self.piece(at + usize::from(hyphen))
    }

    /// The scale word at a place ("thousand", "k").
    pub(crate) fn scale(&self, at: usize) -> Option<(u64, usize)> {
        let piece = self.piece(at).filter(|piece| piece.scale)?;
        Some((piece.value, piece.next))
    }

    /// Reads a number that begins at a place. `None` where none does.
    pub(crate) fn number(&self, at: usize) -> Option<Numeral> {
        if !self.may_begin_number(at) {
            return None;
        }
        if self.has(at, Tags::HALF) {
            let scale_at = if self.has(at + 1, Tags::ONE_OF) {
                at + 2
            } else {
                at + 1
            };
            let (scale, next) = self.scale(scale_at)?;
            return (scale % 2 == 0).then_some(Numeral {
                value: Some(Decimal::whole(u128::from(scale / 2))),
                next,
            });
        }
        let mut sum = Sum::default();
        let mut next = at;
        if self.has(at, Tags::ONE_OF) && self.piece(at).is_none() {
            self.scale(at + 1)?;
            next = at + 1;
        }
        let mut pieces = 0;
        loop {
            let direct = self
                .joined_piece(next)
                .filter(|_| pieces > 0)
                .or_else(|| self.piece(next));
            if let Some(piece) = direct {
                if !sum.take(piece) {
                    return Some(Numeral {
                        value: None,
                        next: self.run_end(next),
                    });
                }
                next = piece.next;
                pieces += 1;
                continue;
            }
            let connected = (pieces > 0 && self.has(next, Tags::NUMBER_AND))
                .then(|| self.piece(next + 1).or_else(|| self.single(next + 1)))
                .flatten()
                .filter(|piece| sum.may_connect(*piece, self.lexicon));
            let Some(piece) = connected else { break };
            if !sum.take(piece) {
                break;
            }
            next = piece.next;
        }
        if pieces == 0 {
            return None;
        }
        if self.has(next, Tags::POINT) && self.piece(next + 1).is_some() {
            return Some(self.decimals(sum.value(), next + 1));
        }
        // "a million and a half", "two and a half thousand".
        let mut half = next;
        while half < next + 2
            && self.has(half, Tags::NUMBER_AND.union(Tags::ONE_OF).union(Tags::AND))
        {
            half += 1;
        }
        if half > next && self.has(half, Tags::HALF) {
            return Some(Numeral {
                value: None,
                next: half + 1,
            });
        }
        Some(Numeral {
            value: sum.value().map(Decimal::whole),
            next,
        })
    }

    fn decimals(&self, whole: Option<u128>, mut next: usize) -> Numeral {
        let mut value = whole.map(Decimal::whole);
        // "veinticinco coma cincuenta": the hundredths as one number.
        if let Some(Numeral {
            value:
                Some(Decimal {
                    mantissa: hundredths @ 10..100,
                    scale: 0,
                }),
            next: after,
        }) = self.number(next)
            && self.piece(after).is_none()
        {
            let mantissa = whole
                .and_then(|whole| whole.checked_mul(100))
                .and_then(|whole| whole.checked_add(hundredths));
            return Numeral {
                value: mantissa.map(|mantissa| Decimal { mantissa, scale: 2 }),
                next: after,
            };
        }
        while let Some(piece) = self.piece(next) {
            if piece.scale {
                value = value.and_then(|value| value.times(u128::from(piece.value)));
                return Numeral {
                    value,
                    next: piece.next,
                };
            }
            value = value.filter(|_| piece.value < 10).and_then(|value| {
                let mantissa = value
                    .mantissa
                    .checked_mul(10)?
                    .checked_add(u128::from(piece.value))?;
                Some(Decimal {
                    mantissa,
                    scale: value.scale + 1,
                })
            });
            next = piece.next;
        }
        Numeral { value, next }
    }

    fn run_end(&self, mut next: usize) -> usize {
        while let Some(piece) = self.joined_piece(next) {
            next = piece.next;
        }
        next
    }
}

/// The language most words belong to: the locale's, unless another has more.
fn language_of(uses: &[&'static [Use]], locale: Option<usize>) -> Option<usize> {
    let mut scores = vec![0u32; lexicon::all().len()];
    for known in uses.iter().copied().flatten() {
        scores[known.language] += 1;
    }
    let best = scores.iter().copied().max().unwrap_or(0);
    match locale {
        Some(locale) if scores[locale] == best => Some(locale),
        _ if best == 0 => locale,
        _ => scores.iter().position(|score| *score == best),
    }
}

/// A number being added up from its words.
#[derive(Default)]
struct Sum {
    total: u128,
    current: u128,
    last_scale: Option<u64>,
    wide: bool,
    started: bool,
}

impl Sum {
    fn value(&self) -> Option<u128> {
        self.total
            .checked_add(self.current)
            .filter(|_| self.started)
    }

    /// Adds a piece where it may stand; `false` where the words would be two numbers.
    fn take(&mut self, piece: Piece) -> bool {
        let value = u128::from(piece.value);
        let fits = if !piece.scale && value >= 1000 {
            // Written in one word ("zweitausend"): it leaves room for the hundreds.
            let fits = !self.started;
            if fits {
                self.total += value;
                self.last_scale = Some(1000);
            }
            fits
        } else if piece.scale && value >= 1000 {
            let fits = self.last_scale.is_none_or(|last| piece.value < last);
            if fits {
                let Some(part) = self.current.max(1).checked_mul(value) else {
                    return false;
                };
                self.total += part;
                self.current = 0;
                self.last_scale = Some(piece.value);
            }
            fits
        } else if piece.scale {
            let fits =
                self.current < 100 && !(self.started && self.current == 0 && self.total == 0);
            if fits {
                self.current = self.current.max(1) * value;
            }
            fits
        } else {
            let unit_place = self.current.is_multiple_of(10) && self.current % 100 >= 20;
            let zero_counts = value > 0 || !self.started;
            let fits = zero_counts
                && !(self.started && self.current == 0 && self.total == 0)
                && match value {
                    0..=9 => self.current.is_multiple_of(100) || unit_place,
                    10..=19 => {
                        self.current.is_multiple_of(100)
                            || (self.wide && self.current.is_multiple_of(10))
                    }
                    20..=99 => self.current.is_multiple_of(100),
                    _ => self.current == 0,
                };
            if fits {
                self.current += value;
                self.wide = piece.wide;
            }
            fits
        };
        self.started |= fits;
        fits
    }

    fn may_connect(&self, piece: Piece, lexicon: &Lexicon) -> bool {
        let behind_hundred = self.current.is_multiple_of(100)
            && (self.current > 0 || self.total > 0)
            && !piece.scale;
        let behind_tens = self.current.is_multiple_of(10)
            && self.current % 100 >= 20
            && !piece.scale
            && (piece.value < 10 || (self.wide && piece.value < 20));
        (lexicon.and_after_hundred && behind_hundred) || (lexicon.and_after_tens && behind_tens)
    }
}

/// A number written in one word ("fünfundzwanzig", "duecento").
fn glued(word: &str, lexicon: &Lexicon) -> Option<u64> {
    if !lexicon.joins_numerals() || word.len() < 6 || word.len() > 60 {
        return None;
    }
    let (value, rest) = below_thousand(word, lexicon)?;
    if rest.is_empty() {
        return Some(value);
    }
    let (thousand, rest) = numeral(rest, lexicon, |value| value == 1000)?;
    if rest.is_empty() {
        return Some(value.max(1) * thousand);
    }
    let (tail, rest) = below_thousand(rest, lexicon)?;
    (rest.is_empty()).then_some(value.max(1) * thousand + tail)
}

fn numeral<'w>(
    word: &'w str,
    lexicon: &Lexicon,
    wanted: impl Fn(u64) -> bool,
) -> Option<(u64, &'w str)> {
    lexicon
        .numerals
        .iter()
        .filter(|(_, value)| wanted(*value))
        .find_map(|(text, value)| Some((*value, word.strip_prefix(&**text)?)))
}

fn below_thousand<'w>(word: &'w str, lexicon: &Lexicon) -> Option<(u64, &'w str)> {
    let mut rest = word;
    let mut value = 0;
    if let Some((explicit, after)) = numeral(rest, lexicon, |value| (200..1000).contains(&value)) {
        (value, rest) = (explicit, after);
    } else {
        let (units, after) =
            numeral(rest, lexicon, |value| (1..100).contains(&value)).unwrap_or((1, rest));
        if let Some((hundred, after)) = numeral(after, lexicon, |value| value == 100) {
            (value, rest) = (units * hundred, after);
        }
    }
    let joint = lexicon
        .glue
        .as_deref()
        .filter(|_| value > 0)
        .and_then(|glue| rest.strip_prefix(glue));
    if let Some((tail, after)) =
        below_hundred(rest, lexicon).or_else(|| below_hundred(joint?, lexicon))
    {
        return Some((value + tail, after));
    }
    (value > 0 || numeral(rest, lexicon, |value| value == 1000).is_some()).then_some((value, rest))
}

fn below_hundred<'w>(word: &'w str, lexicon: &Lexicon) -> Option<(u64, &'w str)> {
    if let Some(glue) = lexicon.glue.as_deref()
        && let Some((unit, after)) = numeral(word, lexicon, |value| (1..10).contains(&value))
        && let Some((tens, rest)) =
            numeral(after.strip_prefix(glue).unwrap_or(" "), lexicon, |value| {
                (20..100).contains(&value) && value % 10 == 0
            })
    {
        return Some((tens + unit, rest));
    }
    let (value, rest) = numeral(word, lexicon, |value| (1..100).contains(&value))?;
    if lexicon.run_together
        && value >= 20
        && value % 10 == 0
        && let Some((unit, after)) = numeral(rest, lexicon, |value| (1..10).contains(&value))
    {
        return Some((value + unit, after));
    }
    Some((value, rest))
}
