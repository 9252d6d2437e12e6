//! Reading a clause from left to right: amounts, accounts and dates, and what the words between them are.

use crate::{
    Grounded, MessageSpan, Reason,
    arguments::{Arguments, Item},
    context::Context,
    dates,
    moves::{AmountMention, HowMuch},
    negations::Negation,
    prepositions::Preposition,
    tags::Tags,
    tokens::{self, Kind, Token},
};

/// A clause being read from left to right.
pub(crate) struct Scan<'c, 'a> {
    pub(crate) context: &'c Context<'a>,
    /// Place of the clause's first token in the message.
    pub(crate) base: usize,
    pub(crate) tokens: &'c [Token],
    /// The place of the clause's verb.
    pub(crate) verb: Option<usize>,
    pub(crate) found: Arguments,
    pub(crate) preposition: Preposition,
    pub(crate) negation: Negation,
    pub(crate) tail: bool,
    pub(crate) or: bool,
    /// The sum is for each of several things.
    pub(crate) times: bool,
    /// A word of contrast has ended a negation.
    pub(crate) contrasted: bool,
    pub(crate) dates: Vec<Grounded<Option<(i32, u8, u8)>>>,
}

/// Reads a clause. `verb` is the place of its verb, which is no argument; a negation before it covers what follows.
pub(crate) fn scan(
    context: &Context,
    base: usize,
    tokens: &[Token],
    verb: Option<usize>,
) -> Arguments {
    let mut scan = Scan {
        context,
        base,
        tokens,
        verb,
        found: Arguments::default(),
        preposition: Preposition::None,
        negation: Negation::None,
        tail: false,
        or: false,
        times: false,
        contrasted: false,
        dates: Vec::new(),
    };
    for at in 0..tokens.len() {
        if verb == Some(at) {
            scan.preposition = Preposition::None;
            continue;
        }
        scan.token(at, verb);
    }
    scan.finish()
}

impl Scan<'_, '_> {
    pub(crate) fn at(&self, at: usize) -> MessageSpan {
        self.context.span(&self.tokens[at], &self.tokens[at])
    }

    pub(crate) fn tags(&self, at: usize) -> Tags {
        self.tokens
            .get(at)
            .filter(|token| token.kind == Kind::Word)
            .map_or(Tags::NONE, |token| token.tags)
    }

    pub(crate) fn token(&mut self, at: usize, verb: Option<usize>) {
        let token = &self.tokens[at];
        match &token.kind {
            Kind::Mark(mark) => self.mark(at, *mark, verb.is_some()),
            Kind::Quoted => self.found.unknown_word |= !self.tail,
            Kind::Masked => self.preposition = Preposition::None,
            Kind::Date(date) => {
                let date =
                    date.and_then(|date| dates::resolve(date, self.context.sent_at_unix_seconds));
                self.dates.push(Grounded {
                    value: date,
                    at: self.at(at),
                });
                self.preposition = Preposition::None;
            }
            Kind::Amount(_) => self.amount(at),
            Kind::Name { .. } | Kind::Account(_) | Kind::BadAccount => self.name(at),
            Kind::Word => self.word(at, verb),
        }
    }

    pub(crate) fn mark(&mut self, at: usize, mark: char, has_verb: bool) {
        match mark {
            '(' => self.tail = true,
            ')' => self.tail = false,
            ',' | '-' | '\n' | '\u{2013}' | '\u{2014}' | ':' => {
                self.preposition = Preposition::None;
                // "not Carol, Dave": without a verb to deny, the comma ends what is excluded.
                if !has_verb {
                    self.negation = Negation::None;
                }
                if self.reopens(at + 1) {
                    self.tail = false;
                }
            }
            _ => {}
        }
    }

    pub(crate) fn amount(&mut self, at: usize) {
        if self.tail {
            return;
        }
        let token = &self.tokens[at];
        let Kind::Amount(amount) = token.kind else {
            return;
        };
        let mut much = self.context.sum(amount);
        if self.is_day_of_a_month(at, amount) {
            self.preposition = Preposition::None;
            return;
        }
        // A sum with decimals counts nothing.
        let whole = amount.value.is_none_or(|value| value.scale == 0);
        let counts_a_thing = amount.currency.is_none()
            && whole
            && (self.verb != Some(at + 1)
                && self
                    .tokens
                    .get(at + 1)
                    .is_some_and(|next| next.is_unknown() || next.has(Tags::PERSON))
                || at.checked_sub(1).is_some_and(|before| {
                    self.verb != Some(before) && self.tokens[before].is_unknown()
                }));
        // "un tesoro": an article and no sum.
        let article = counts_a_thing
            && amount.value.is_some_and(|value| value.mantissa == 1)
            && !self.context.folded.text[token.start..token.end]
                .contains(|letter: char| letter.is_numeric());
        if article {
            return;
        }
        // "20 to Bob, table 4": the sum is there already.
        let parted = self.tokens[..at].iter().any(|token| token.is_mark(",("));
        if counts_a_thing && parted && self.found.amounts() > 0 && self.found.payees() > 0 {
            self.preposition = Preposition::None;
            return;
        }
        if token.pasted {
            much = HowMuch::Open(Reason::Pasted);
        } else if counts_a_thing && !matches!(much, HowMuch::Open(_)) {
            much = HowMuch::Open(Reason::AmbiguousAmount);
        }
        let preposition = std::mem::replace(&mut self.preposition, Preposition::None);
        if self.excluded() {
            if let HowMuch::Sum(units, _) = much {
                self.found.not_amounts.push(units);
                self.found.denied_amounts.push(AmountMention {
                    much,
                    at: self.at(at),
                });
            }
            return;
        }
        self.found.items.push(Item::Amount {
            mention: AmountMention {
                much,
                at: self.at(at),
            },
            total: token.has(Tags::TOTAL),
            after_to: matches!(
                preposition,
                Preposition::To | Preposition::Into | Preposition::For
            ),
            after_from: preposition == Preposition::From,
            after_on: preposition == Preposition::On,
        });
    }

    /// "il 5 di ogni mese", "the 5th of each month": a day and no sum.
    pub(crate) fn is_day_of_a_month(&self, at: usize, amount: crate::tokens::Amount) -> bool {
        let in_a_month = amount.currency.is_none()
            && amount
                .value
                .is_some_and(|value| value.scale == 0 && (1..=31).contains(&value.mantissa));
        // "el 5 cada mes" against "30 cada mes a Ana": without an article a rhythm leaves it a sum.
        let day = at.checked_sub(1).is_some_and(|before| {
            self.tags(before)
                .has(Tags::DET.union(Tags::ON).union(Tags::DAY_MARK))
        });
        let leads = self.tags(at + 1).has(Tags::OF.union(Tags::FROM))
            || day && self.tags(at + 1).has(Tags::EVERY.union(Tags::RHYTHM));
        let month = (at + 1..at + 4).any(|next| {
            self.tags(next)
                .has(Tags::TIME_UNIT.union(Tags::MONTH).union(Tags::RHYTHM))
        });
        in_a_month && leads && month
    }

    pub(crate) fn word(&mut self, at: usize, verb: Option<usize>) {
        let tags = self.tokens[at].tags;
        if tags.has(Tags::NEG_HARMLESS) {
            self.tail = true;
        } else if tokens::is_negation(self.tokens, at) {
            self.negation(at, verb);
        } else if tags.has(Tags::CONTRAST) {
            self.contrasted |= self.negation == Negation::Rest;
            self.negation = Negation::None;
            self.tail = false;
            self.preposition = Preposition::None;
        } else if (tags.has(Tags::RHYTHM) || tags.has(Tags::EVERY)) && self.rhythm(at) {
        } else if tags.has(Tags::AND) {
            if self.reopens(at) {
                self.tail = false;
            }
        } else if tags.has(
            Tags::FROM
                .union(Tags::TO)
                .union(Tags::INTO)
                .union(Tags::FOR),
        ) {
            self.preposition(at, tags);
        } else if tags.has(Tags::EACH) {
            let several = self.tokens[at + 1..]
                .iter()
                .take(4)
                .any(|token| matches!(token.kind, Kind::Masked | Kind::Amount(_)));
            self.times |= self.tail && several && self.found.amounts() > 0;
            self.found.each = true;
        } else if tags.has(Tags::REVERSE_NOUN) && !self.tail {
            self.found.reverse = true;
        } else if tags.has(Tags::RESPECTIVELY) {
            self.found.respectively = true;
        } else if self.tail || self.only_leads(at, tags, verb) {
        } else if self.gives_a_reason(at, tags, verb) {
            self.tail = true;
        } else if tags.has(Tags::SAME) {
            self.same(at);
        } else if tags.has(Tags::PRONOUN) && !self.is_possessive(at)
            || tags.has(Tags::SUBJECT)
                && matches!(self.preposition, Preposition::To | Preposition::Into)
                && self.preposition_stands_before(at)
        {
            self.pronoun(at);
        } else {
            self.plain_word(at, tags, verb);
        }
    }

    pub(crate) fn plain_word(&mut self, at: usize, tags: Tags, verb: Option<usize>) {
        let found = &mut self.found;
        found.polite |= tags.has(Tags::POLITE);
        found.also |= tags.has(Tags::ALSO);
        found.it |= tags.has(Tags::IT);
        found.pay_noun |= tags.has(Tags::PAY_NOUN);
        if tags.has(Tags::ORDER_NOUN) {
            found.order_noun = true;
            found.terms.recurring = true;
        }
        self.or |= tags.has(Tags::OR);
        if tags.has(Tags::ON.union(Tags::START)) {
            self.preposition = Preposition::On;
        }
        self.found.me |= tags.has(Tags::ME);
        let wants_name = matches!(
            self.preposition,
            Preposition::To | Preposition::Into | Preposition::For
        );
        let stranger = tags.is_empty()
            || tags.has(Tags::PERSON)
            || (wants_name && tags.has(Tags::COMMON.union(Tags::PAYEE_NOUN)));
        if tags.is_empty() {
            self.found.unknown_word = true;
        }
        if stranger {
            self.stranger(at, wants_name, verb);
        }
    }

    /// "A metade dela dos 80": what stands behind a share is what it is taken of. "20 for each of her 3 kids" must be
    /// multiplied.
    fn open_shares(&mut self) {
        let mut shared = false;
        for item in &mut self.found.items {
            let Item::Amount {
                mention,
                after_from,
                ..
            } = item
            else {
                continue;
            };
            if self.times || shared && *after_from {
                mention.much = HowMuch::Open(Reason::Computed);
            }
            shared |= mention.much == HowMuch::Open(Reason::Computed);
        }
    }

    pub(crate) fn finish(mut self) -> Arguments {
        // Two dates: which one is the first day is not said.
        if let [date] = self.dates.as_slice() {
            self.found.terms.start = date.value.map(|value| Grounded { value, at: date.at });
        }
        self.complete_contrast();
        self.open_shares();
        let left = self.found.items.is_empty();
        self.found.negated |=
            left && !(self.found.not_payees.is_empty() && self.found.not_amounts.is_empty());
        self.found.negated |= left && self.negation == Negation::Rest;
        self.found
    }
}
