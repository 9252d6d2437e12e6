//! The second reading: phrases of the language, and numbers joined with their scale and currency.

use countersign_domain::Currency;

pub(crate) use crate::denials::{contrasts, is_negation};

use crate::{
    Reason, Span, counts,
    currencies::{self, CurrencyName},
    decimal::Decimal,
    digits::{self, Digits},
    fold::Folded,
    lexemes::{Lexeme, Shape},
    lexicon::Separators,
    neighbours,
    numerals::Words,
    tags::Tags,
};

/// An amount as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    /// `None` when there is no single reading; then `problem` says why.
    pub value: Option<Decimal>,
    /// The currency that stands with it.
    pub currency: Option<CurrencyName>,
    pub problem: Option<Reason>,
}

impl Amount {
    pub(crate) const fn open(problem: Reason) -> Self {
        Self {
            value: None,
            currency: None,
            problem: Some(problem),
        }
    }
}

/// What a token is.
#[derive(Clone, Debug, Eq)]
pub(crate) enum Kind {
    Word,
    Mark(char),
    Amount(Amount),
    Name {
        index: usize,
        possessive: bool,
    },
    /// An account number in the form the outcome carries.
    Account(String),
    BadAccount,
    Date(Option<(i32, u8, u8)>),
    Masked,
    Quoted,
}

impl PartialEq for Kind {
    /// Most comparisons ask whether it is a word, and the grammar makes very many of them: that must come down to
    /// comparing one number.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        match other {
            Self::Word => matches!(self, Self::Word),
            Self::BadAccount => matches!(self, Self::BadAccount),
            Self::Masked => matches!(self, Self::Masked),
            Self::Quoted => matches!(self, Self::Quoted),
            Self::Mark(mark) => matches!(self, Self::Mark(own) if own == mark),
            Self::Amount(amount) => matches!(self, Self::Amount(own) if own == amount),
            Self::Account(account) => matches!(self, Self::Account(own) if own == account),
            Self::Date(date) => matches!(self, Self::Date(own) if own == date),
            Self::Name { index, possessive } => {
                matches!(self, Self::Name { index: own, possessive: owns } if own == index && owns == possessive)
            }
        }
    }
}

/// One unit of the grammar.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub tags: Tags,
    /// What the language file says it stands for.
    pub value: Option<&'static str>,
    /// Folded bytes.
    pub start: usize,
    pub end: usize,
    /// Nothing stands between it and the token before.
    pub glued: bool,
    pub capital: bool,
    pub pasted: bool,
}

impl Token {
    pub(crate) fn has(&self, tags: Tags) -> bool {
        self.tags.has(tags)
    }

    pub(crate) fn is_mark(&self, marks: &str) -> bool {
        let Kind::Mark(mark) = self.kind else {
            return false;
        };
        match u8::try_from(mark) {
            Ok(byte) if byte.is_ascii() => marks.as_bytes().contains(&byte),
            _ => marks.contains(mark),
        }
    }

    /// A word that no language file explains.
    pub(crate) fn is_unknown(&self) -> bool {
        self.kind == Kind::Word && self.tags.is_empty()
    }

    /// Makes it something that is no value and no word.
    pub(crate) fn mask(&mut self) {
        self.kind = Kind::Masked;
        self.tags = Tags::NONE;
    }
}

/// Whether money stands at a place: an amount with its currency, or one that counts nothing, neither an unknown word
/// behind it nor one of `counted`.
pub(crate) fn is_sum(tokens: &[Token], at: usize, counted: Tags) -> bool {
    let counts = tokens
        .get(at + 1)
        .is_some_and(|next| next.is_unknown() || next.has(counted));
    matches!(&tokens[at].kind, Kind::Amount(amount) if amount.currency.is_some() || !counts)
}

/// How numbers are read in this conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub separators: Option<Separators>,
    pub account_currency: Currency,
}

/// Endings of ordinals and times of day that are written to their digits.
const DIGIT_SUFFIXES: &[&str] = &[
    "st", "nd", "rd", "th", "er", "re", "e", "ème", "eme", "º", "ª", "o", "a", "te", "ten", "ter",
    "de", "ste", "am", "pm", "h", "hs", "uhr", "min", "mins", "km", "kg", "go", "ego", "tego",
    "szt", "x",
];

/// Joins lexemes to tokens.
pub(crate) fn read(folded: &Folded, words: Words, reading: Reading, pasted: &[Span]) -> Vec<Token> {
    let (lexemes, numbers_sound) = (words.lexemes, words.lexicon.numbers_sound);
    let mut reader = Reader {
        words,
        reading,
        tokens: Vec::with_capacity(lexemes.len()),
    };
    let mut at = 0;
    while at < lexemes.len() {
        let first = reader.tokens.len();
        let next = reader.one(at).max(at + 1);
        if reader.tokens.len() > first {
            let token = reader.tokens.last_mut().expect("one was just pushed");
            if pasted.is_empty() {
                at = next;
                continue;
            }
            let span = folded.typed(token.start, token.end);
            token.pasted = pasted
                .iter()
                .any(|paste| paste.start < span.end && span.start < paste.end);
        }
        at = next;
    }
    let without_cases = reader.words.lexicon.inflections.is_empty();
    let account = reader.reading.account_currency;
    let mut tokens = crate::amounts::join(reader.tokens, &folded.text, account);
    neighbours::settle(&mut tokens, folded, without_cases);
    if numbers_sound {
        counts::sound_out(&mut tokens, &folded.text);
    }
    tokens
}

struct Reader<'a> {
    words: Words<'a>,
    reading: Reading,
    tokens: Vec<Token>,
}

impl Reader<'_> {
    fn push(
        &mut self,
        kind: Kind,
        tags: Tags,
        value: Option<&'static str>,
        from: usize,
        to: usize,
    ) {
        let lexemes = self.words.lexemes;
        self.tokens.push(Token {
            kind,
            tags,
            value,
            start: lexemes[from].start,
            end: lexemes[to.max(from + 1) - 1].end,
            glued: lexemes[from].glued,
            capital: lexemes[from].capital,
            pasted: false,
        });
    }

    /// Reads one token and returns the lexeme after it.
    fn one(&mut self, at: usize) -> usize {
        let lexeme = &self.words.lexemes[at];
        match &lexeme.shape {
            Shape::Word => self.word(at),
            Shape::Digits => self.digits(at, None, at),
            Shape::Garbage => {
                self.push(
                    Kind::Amount(Amount::open(Reason::UnreadableAmount)),
                    Tags::NONE,
                    None,
                    at,
                    at + 1,
                );
                at + 1
            }
            Shape::Mark(mark) => {
                if let Some(currency) =
                    currencies::read(mark.encode_utf8(&mut [0; 4]), self.reading.account_currency)
                {
                    return self.currency(at, currency, at + 1);
                }
                self.push(Kind::Mark(*mark), Tags::NONE, None, at, at + 1);
                at + 1
            }
            other => {
                let kind = match other {
                    Shape::Name { index, possessive } => Kind::Name {
                        index: *index,
                        possessive: *possessive,
                    },
                    Shape::Iban(iban) => Kind::Account(iban.clone()),
                    Shape::SortCode(code) => Kind::Account(code.clone()),
                    Shape::BadIban => Kind::BadAccount,
                    Shape::Date(date) => Kind::Date(*date),
                    Shape::Quoted => Kind::Quoted,
                    _ => Kind::Masked,
                };
                self.push(kind, Tags::NONE, None, at, at + 1);
                at + 1
            }
        }
    }

    fn word(&mut self, at: usize) -> usize {
        let phrase = self.words.phrase(at, None);
        let is_long = phrase.is_some_and(|(phrase, _)| {
            !phrase.rest.is_empty() && !phrase.tags.has(Tags::NUMBER.union(Tags::SCALE))
        });
        if !is_long && let Some(number) = self.words.number(at) {
            return self.amount(at, number.value, None, number.next, number.value.is_none());
        }
        let text = self.words.word(at).unwrap_or_default();
        if let Some((currency, next)) = self.dollar_with_letters(at) {
            return self.currency(at, currency, next);
        }
        let account = self.reading.account_currency;
        let builtin = currencies::read(text, account);
        let worded = phrase
            .filter(|(phrase, _)| phrase.tags.has(Tags::CURRENCY))
            .and_then(|(phrase, next)| {
                Some((
                    currencies::of_word(phrase.value.as_deref()?, account)?,
                    next,
                ))
            });
        if let Some((currency, next)) = worded.or_else(|| Some((builtin?, at + 1))) {
            return self.currency(at, currency, next);
        }
        match phrase {
            Some((phrase, next)) => {
                self.push(Kind::Word, phrase.tags, phrase.value.as_deref(), at, next);
                next
            }
            None => {
                let numbers = self.words.lexicon.label_endings.iter();
                let labels = numbers
                    .clone()
                    .any(|end| text.len() > end.len() + 2 && text.ends_with(end));
                let tags = if labels { Tags::LABEL } else { Tags::NONE };
                self.push(Kind::Word, tags, None, at, at + 1);
                at + 1
            }
        }
    }

    /// A currency's sign or word: joins the number behind it, or stands alone.
    fn currency(&mut self, at: usize, currency: CurrencyName, next: usize) -> usize {
        if self
            .words
            .lexemes
            .get(next)
            .is_some_and(|lexeme| lexeme.shape == Shape::Digits)
        {
            return self.digits(next, Some(currency), at);
        }
        if let Some(number) = self.words.number(next) {
            return self.amount(
                at,
                number.value,
                Some(currency),
                number.next,
                number.value.is_none(),
            );
        }
        self.push(Kind::Word, Tags::CURRENCY, None, at, next);
        next
    }

    fn digits(&mut self, at: usize, currency: Option<CurrencyName>, from: usize) -> usize {
        let lexeme = &self.words.lexemes[at];
        let run = &self.words.text[lexeme.start..lexeme.end];
        let mut next = at + 1;
        // "50,-"
        let dash = |at: usize, marks: &str| matches!(self.words.lexemes.get(at), Some(Lexeme { shape: Shape::Mark(mark), glued: true, .. }) if marks.contains(*mark));
        if dash(next, ",.") && dash(next + 1, "-\u{2013}\u{2014}") {
            next += 2;
        }
        let exponent = match self
            .currency_at(next)
            .map(|(currency, _)| currency)
            .or(currency)
        {
            Some(CurrencyName::Known(currency)) => currency.exponent(),
            _ => self.reading.account_currency.exponent(),
        };
        let plain_space = run.contains(' ');
        let spaces_allowed = self
            .reading
            .separators
            .is_some_and(|separators| separators.space_groups);
        let (mut value, mut problem) = match digits::read(run, self.reading.separators, exponent) {
            Digits::Value(_) if plain_space && !spaces_allowed => {
                (None, Some(Reason::AmbiguousAmount))
            }
            Digits::Value(value) => (Some(value), None),
            Digits::Ambiguous => (None, Some(Reason::AmbiguousAmount)),
            Digits::Unreadable => (None, Some(Reason::UnreadableAmount)),
        };
        if let Some((scale, after)) = self.words.scale(next) {
            value = value.and_then(|value| value.times(u128::from(scale)));
            // "50 cents" in French: hundreds or hundredths.
            if self.words.has(next, Tags::CENT) {
                (value, problem) = (None, Some(Reason::AmbiguousAmount));
            }
            next = after;
            if let Some((again, after)) = self.words.scale(next) {
                value = value.and_then(|value| value.times(u128::from(again)));
                next = after;
            }
        } else if let Some(lexeme) = self.words.lexemes.get(next)
            && lexeme.glued
            && self.currency_at(next).is_none()
        {
            let text = &self.words.text[lexeme.start..lexeme.end];
            // "10-go"
            let behind_hyphen = lexeme.shape == Shape::Mark('-')
                && self.words.lexemes.get(next + 1).is_some_and(|suffix| {
                    suffix.glued
                        && DIGIT_SUFFIXES.contains(&&self.words.text[suffix.start..suffix.end])
                });
            match lexeme.shape {
                _ if behind_hyphen => {
                    self.push(Kind::Masked, Tags::ORDINAL, None, from, next + 2);
                    return next + 2;
                }
                Shape::Word if DIGIT_SUFFIXES.contains(&text) => {
                    self.push(Kind::Masked, Tags::ORDINAL, None, from, next + 1);
                    return next + 1;
                }
                Shape::Word
                | Shape::Garbage
                | Shape::Name { .. }
                | Shape::Iban(_)
                | Shape::BadIban => {
                    value = None;
                    problem = Some(Reason::UnreadableAmount);
                    next += 1;
                    while self.words.lexemes.get(next).is_some_and(|lexeme| {
                        lexeme.glued && !matches!(lexeme.shape, Shape::Mark(_) | Shape::Quoted)
                    }) {
                        next += 1;
                    }
                }
                _ => {}
            }
        }
        if value.is_none() && problem.is_none() {
            problem = Some(Reason::UnreadableAmount);
        }
        self.finish(
            from,
            Amount {
                value,
                currency,
                problem,
            },
            next,
        )
    }

    fn amount(
        &mut self,
        from: usize,
        value: Option<Decimal>,
        currency: Option<CurrencyName>,
        next: usize,
        bad: bool,
    ) -> usize {
        // Letters that run on behind the words ("forty-2yo") spoil them.
        let glued = self
            .words
            .lexemes
            .get(next)
            .is_some_and(|lexeme| lexeme.glued && !matches!(lexeme.shape, Shape::Mark(_)));
        let spoilt = bad || value.is_none() || glued;
        let problem = spoilt.then_some(Reason::AmbiguousAmount);
        self.finish(
            from,
            Amount {
                value: value.filter(|_| !spoilt),
                currency,
                problem,
            },
            next,
        )
    }

    fn currency_at(&self, at: usize) -> Option<(CurrencyName, usize)> {
        let lexeme = self.words.lexemes.get(at)?;
        let text = &self.words.text[lexeme.start..lexeme.end];
        let account = self.reading.account_currency;
        match lexeme.shape {
            Shape::Word => {
                if let Some(found) = self.dollar_with_letters(at) {
                    return Some(found);
                }
                if let Some((phrase, next)) = self.words.phrase(at, Some(Tags::CURRENCY)) {
                    return Some((
                        currencies::of_word(phrase.value.as_deref()?, account)?,
                        next,
                    ));
                }
                Some((currencies::read(text, account)?, at + 1))
            }
            Shape::Mark(_) => Some((currencies::read(text, account)?, at + 1)),
            _ => None,
        }
    }

    /// "R$", "CA$": letters and a dollar sign without a space between them.
    fn dollar_with_letters(&self, at: usize) -> Option<(CurrencyName, usize)> {
        let (letters, sign) = (self.words.lexemes.get(at)?, self.words.lexemes.get(at + 1)?);
        let is_sign = sign.glued && matches!(sign.shape, Shape::Mark('$'));
        (is_sign && matches!(letters.shape, Shape::Word)).then_some(())?;
        let text = &self.words.text[letters.start..letters.end];
        Some((currencies::before_dollar_sign(text)?, at + 2))
    }

    fn finish(&mut self, from: usize, mut amount: Amount, mut next: usize) -> usize {
        if let Some((currency, after)) = self.currency_at(next) {
            let doubled = amount.currency.is_some_and(|known| known != currency);
            amount.currency = Some(currency);
            if doubled {
                amount = Amount::open(Reason::AmbiguousAmount);
            }
            next = after;
        }
        if amount.currency == Some(CurrencyName::Foreign) {
            amount = Amount::open(Reason::UnreadableAmount);
        }
        let cents = self.words.phrase(next, Some(Tags::CENT));
        if let Some((_, after)) = cents {
            amount.value = amount.value.map(|value| Decimal {
                mantissa: value.mantissa,
                scale: value.scale + 2,
            });
            self.push(Kind::Amount(amount), Tags::CENT, None, from, after);
            return after;
        }
        let single = next == from + 1;
        let tags = if single && self.words.has(from, Tags::ONE) {
            Tags::ONE
        } else {
            Tags::NONE
        };
        self.push(Kind::Amount(amount), tags, None, from, next);
        next
    }
}
