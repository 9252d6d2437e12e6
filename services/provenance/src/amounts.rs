//! Which numbers are amounts: those that stand in a range, a sum, a date, behind a label or before a unit are not.

use countersign_domain::Currency;

use crate::{
    Reason,
    cents::sum,
    currencies::CurrencyName,
    days::rhythm,
    tags::Tags,
    tokens::{Amount, Kind, Token},
};

/// Stands in a date whose year was not written. A leap year, so that 29 February can be written.
pub(crate) const WITHOUT_YEAR: i32 = 2000;

/// Joins numbers with what stands around them.
pub(crate) fn join(tokens: Vec<Token>, text: &str, account: Currency) -> Vec<Token> {
    let mut joined = Joiner {
        out: Vec::with_capacity(tokens.len()),
        text,
        account,
    };
    let mut rest = tokens.into_iter();
    while let Some(token) = rest.next() {
        let next = rest.as_slice().first();
        match token.kind {
            Kind::Amount(amount) => {
                let consumed_next = joined.amount(token, amount, rest.as_slice());
                if consumed_next {
                    rest.next();
                }
            }
            // "Add a payee" against "add 10".
            Kind::Word
                if token.has(Tags::COMPUTED)
                    // "schick mal 20": only between numbers it multiplies.
                    && (!token.has(Tags::FILLER) || joined.back_amount(1).is_some())
                    && (!token.has(Tags::ADD.union(Tags::STOP))
                        || next.is_some_and(|next| matches!(next.kind, Kind::Amount(_))))
                    && !joined.is_whole_time(&token, next)
                    // "saldo fattura 17": what is paid, not how much.
                    && !next.is_some_and(|next| next.has(Tags::LABEL)) =>
            {
                joined.computed(token);
            }
            Kind::Word if token.has(Tags::MONTH) => joined.month(token),
            // "50-ish"
            Kind::Word
                if token.has(Tags::APPROX)
                    && token.glued
                    && joined.back(1).is_some_and(|mark| mark.is_mark("-"))
                    && joined.back_amount(2).is_some() =>
            {
                joined.merge(2, token, Reason::AmbiguousAmount);
            }
            _ => joined.out.push(token),
        }
    }
    joined.out
}

pub(crate) struct Joiner<'a> {
    pub(crate) out: Vec<Token>,
    pub(crate) text: &'a str,
    account: Currency,
}

impl Joiner<'_> {
    pub(crate) fn back(&self, steps: usize) -> Option<&Token> {
        self.out
            .len()
            .checked_sub(steps)
            .and_then(|at| self.out.get(at))
    }

    pub(crate) fn back_has(&self, steps: usize, tags: Tags) -> bool {
        self.back(steps).is_some_and(|token| token.has(tags))
    }

    pub(crate) fn back_amount(&self, steps: usize) -> Option<Amount> {
        match self.back(steps)?.kind {
            Kind::Amount(amount) => Some(amount),
            _ => None,
        }
    }

    /// Replaces the last tokens by one open amount that reaches to the end of `token`.
    pub(crate) fn merge(&mut self, steps: usize, mut token: Token, reason: Reason) {
        let from = self.out.len() - steps;
        token.start = self.out[from].start;
        token.glued = self.out[from].glued;
        token.pasted |= self.out[from..].iter().any(|part| part.pasted);
        token.tags = self.out[from..].iter().fold(token.tags, |tags, part| {
            tags.union(part.tags.without(Tags::NEG))
        });
        token.tags = if token.has(Tags::TOTAL) {
            Tags::TOTAL
        } else {
            Tags::NONE
        };
        token.kind = Kind::Amount(Amount::open(reason));
        self.out.truncate(from);
        self.out.push(token);
    }

    /// Handles a number; `true` when the token after it has been used up too.
    pub(crate) fn amount(&mut self, mut token: Token, mut amount: Amount, after: &[Token]) -> bool {
        let next = after.first();
        let is_pronoun = token.has(Tags::ONE)
            && amount.currency.is_none()
            && self.back(1).is_some_and(|before| {
                before.has(
                    Tags::ORDINAL
                        .union(Tags::DET)
                        .union(Tags::IT)
                        .union(Tags::COMMON)
                        .union(Tags::ASK)
                        .union(Tags::ENDING),
                ) || before.is_unknown()
                    || matches!(before.kind, Kind::Amount(_) | Kind::Name { .. })
            });
        if is_pronoun {
            token.kind = Kind::Word;
            token.tags = Tags::COMMON.union(Tags::ONE);
            self.out.push(token);
            return false;
        }
        if self.joins_date(&token, amount) {
            return false;
        }
        if self.is_day(amount, after) {
            // "tous les 5 du mois"
            if let Some(every) = self.out.last_mut().filter(|every| every.has(Tags::EVERY)) {
                every.tags = Tags::RHYTHM;
                every.value = Some("monthly");
            }
            token.kind = Kind::Masked;
            token.tags = Tags::ORDINAL;
            self.out.push(token);
            return false;
        }
        if self.is_labelled(&token)
            || self.is_long_code(&token, amount, next)
            || self.ends_code(&token, amount)
        {
            token.kind = Kind::Masked;
            self.out.push(token);
            return false;
        }
        if let Some(before) = self.back(1).cloned()
            && self.joins_backwards(
                &mut token,
                &mut amount,
                &before,
                next.is_none_or(|next| next.is_mark(".!?;\n")),
            )
        {
            return false;
        }
        let plain_next = next.map_or(Tags::NONE, |next| next.tags);
        if next.is_some_and(|next| {
            next.is_mark("%\u{2030}") || next.has(Tags::COMPUTED) && next.kind == Kind::Word
        }) {
            token.kind = Kind::Amount(Amount::open(Reason::Computed));
            token.end = next.map_or(token.end, |next| next.end);
            self.out.push(token);
            return true;
        }
        if plain_next.has(Tags::TIME_UNIT) && self.back_has(1, Tags::EVERY) {
            let rhythm = rhythm(amount.value, next.and_then(|next| next.value));
            let every = self.out.last_mut().expect("checked above");
            every.tags = Tags::RHYTHM;
            every.value = Some(rhythm);
            every.end = next.map_or(token.end, |next| next.end);
            return true;
        }
        if amount.currency.is_none() && plain_next.has(Tags::UNIT.union(Tags::TIME_UNIT)) {
            token.kind = Kind::Masked;
            self.out.push(token);
            return false;
        }
        if plain_next.has(Tags::TOTAL) {
            token.tags = token.tags.union(Tags::TOTAL);
            token.kind = Kind::Amount(amount);
            self.out.push(token);
            return true;
        }
        if plain_next.has(Tags::APPROX) && !plain_next.has(Tags::TAIL) {
            amount = Amount::open(Reason::AmbiguousAmount);
        }
        token.kind = Kind::Amount(amount);
        self.out.push(token);
        false
    }

    /// What the tokens before make of a number; `true` when it has been dealt with.
    pub(crate) fn joins_backwards(
        &mut self,
        token: &mut Token,
        amount: &mut Amount,
        before: &Token,
        is_last: bool,
    ) -> bool {
        if let Kind::Mark(mark) = before.kind {
            let dash = matches!(mark, '-' | '\u{2212}' | '\u{2013}' | '+');
            let operator = matches!(
                mark,
                '+' | '*' | '\u{d7}' | '/' | '=' | '^' | '_' | ':' | '|' | '\\' | '\''
            ) || (mark == '-');
            let behind_amount = self.back_amount(2).is_some();
            // "we won 3-1"
            let digit = |token: &Token| token.end - token.start == 1;
            if mark == '-'
                && token.glued
                && before.glued
                && amount.currency.is_none()
                && digit(token)
                && self
                    .back_amount(2)
                    .is_some_and(|one| one.currency.is_none())
                && self.back(2).is_some_and(digit)
            {
                self.merge(2, token.clone(), Reason::AmbiguousAmount);
                if let Some(score) = self.out.last_mut() {
                    score.kind = Kind::Masked;
                }
                return true;
            }
            if behind_amount && (operator || (dash && token.glued)) && (mark != ':' || token.glued)
            {
                self.merge(2, token.clone(), Reason::AmbiguousAmount);
                return true;
            }
            if matches!(
                mark,
                '~' | '\u{2248}' | '<' | '>' | '\u{b1}' | '\u{2264}' | '\u{2265}'
            ) || (dash && token.glued)
            {
                self.merge(
                    1,
                    token.clone(),
                    if dash {
                        Reason::UnreadableAmount
                    } else {
                        Reason::AmbiguousAmount
                    },
                );
                return true;
            }
            // ".50"
            if matches!(mark, '.' | ',') && token.glued && !before.glued {
                self.merge(1, token.clone(), Reason::AmbiguousAmount);
                return true;
            }
            if mark == '(' {
                let same = self
                    .back_amount(2)
                    .is_some_and(|known| known.value == amount.value && known.value.is_some());
                if same {
                    self.out.pop();
                    return true;
                }
                if behind_amount {
                    self.merge(2, token.clone(), Reason::AmbiguousAmount);
                    return true;
                }
                *amount = Amount::open(Reason::AmbiguousAmount);
            }
            return false;
        }
        if let Some(known) = self.back_amount(1) {
            let cents =
                token.has(Tags::CENT) && known.currency.is_some() && !before.has(Tags::CENT);
            // "12 Euro 50", "12€50"
            let spoken = self.spoken_cents(token, *amount, known, before, is_last);
            let added = spoken.or(amount.value);
            match (cents || spoken.is_some(), sum(known.value, added)) {
                (true, Some(value)) => self.add_cents(1, value, known, token),
                _ => {
                    let reason = if known.problem == Some(Reason::Computed) {
                        Reason::Computed
                    } else {
                        Reason::AmbiguousAmount
                    };
                    self.merge(1, token.clone(), reason);
                }
            }
            return true;
        }
        // "veintidós euros con cincuenta", "veinticinco con cincuenta": never the number before it alone.
        if &self.text[before.start..before.end] == "con"
            && let Some(known) = self.back_amount(2)
            && let Some(whole) = self.back(2).cloned()
        {
            let in_account = Amount {
                currency: known.currency.or(Some(CurrencyName::Known(self.account))),
                ..known
            };
            let cents = self.spoken_cents(token, *amount, in_account, &whole, true);
            match sum(known.value, cents) {
                Some(value) => self.add_cents(2, value, known, token),
                None => self.merge(2, token.clone(), Reason::AmbiguousAmount),
            }
            return true;
        }
        if before.has(Tags::AND.union(Tags::NUMBER_AND))
            && token.has(Tags::CENT)
            && let Some(known) = self.back_amount(2)
            && known.currency.is_some()
            && let Some(value) = sum(known.value, amount.value)
        {
            self.add_cents(2, value, known, token);
            return true;
        }
        if before.has(Tags::OR) && self.back_amount(2).is_some() {
            self.merge(2, token.clone(), Reason::AmbiguousAmount);
            return true;
        }
        // "half of the 80"
        let linked =
            |token: &Token| token.has(Tags::OF.union(Tags::DET)) && token.kind == Kind::Word;
        let steps = (1..=3)
            .find(|steps| !self.back(*steps).is_some_and(linked))
            .unwrap_or(4);
        if steps > 1
            && self
                .back_amount(steps)
                .is_some_and(|known| known.problem == Some(Reason::Computed))
        {
            self.merge(steps, token.clone(), Reason::Computed);
            return true;
        }
        let by_article = if before.has(Tags::DET) && !before.has(Tags::APPROX) {
            2
        } else {
            1
        };
        if self.back_has(by_article, Tags::APPROX) {
            *amount = Amount::open(Reason::AmbiguousAmount);
        }
        if self.back_has(1, Tags::TOTAL)
            || (self.back_has(1, Tags::OF) && self.back_has(2, Tags::TOTAL))
        {
            token.tags = token.tags.union(Tags::TOTAL);
        }
        false
    }

    pub(crate) fn computed(&mut self, mut token: Token) {
        token.kind = Kind::Amount(Amount::open(Reason::Computed));
        let joins = self.back_amount(1).is_some();
        if joins {
            self.merge(1, token, Reason::Computed);
        } else {
            self.out.push(token);
        }
    }
}
