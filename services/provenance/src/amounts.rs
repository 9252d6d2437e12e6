//! Which numbers are amounts: those that stand in a range, a sum, a date, behind a label or before a unit are not.

use countersign_domain::Currency;

use crate::{
    Reason,
    currencies::CurrencyName,
    decimal::Decimal,
    masks::real_day,
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

struct Joiner<'a> {
    out: Vec<Token>,
    text: &'a str,
    account: Currency,
}

impl Joiner<'_> {
    fn back(&self, steps: usize) -> Option<&Token> {
        self.out
            .len()
            .checked_sub(steps)
            .and_then(|at| self.out.get(at))
    }

    fn back_has(&self, steps: usize, tags: Tags) -> bool {
        self.back(steps).is_some_and(|token| token.has(tags))
    }

    fn back_amount(&self, steps: usize) -> Option<Amount> {
        match self.back(steps)?.kind {
            Kind::Amount(amount) => Some(amount),
            _ => None,
        }
    }

    /// Replaces the last tokens by one open amount that reaches to the end of `token`.
    fn merge(&mut self, steps: usize, mut token: Token, reason: Reason) {
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
    fn amount(&mut self, mut token: Token, mut amount: Amount, after: &[Token]) -> bool {
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
        if self.is_labelled(&token) || self.is_long_code(&token, amount, next) {
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
    fn joins_backwards(
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

    /// Two digits behind whole units of a currency with two decimals, glued to it or at the end.
    fn spoken_cents(
        &self,
        token: &Token,
        amount: Amount,
        known: Amount,
        before: &Token,
        is_last: bool,
    ) -> Option<Decimal> {
        let digits = &self.text[token.start..token.end];
        let in_words = !digits.contains(|c: char| c.is_numeric())
            && amount.currency.is_none()
            && amount
                .value
                .is_some_and(|value| value.scale == 0 && (10..100).contains(&value.mantissa));
        let two = in_words || digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let whole = known.value.is_some_and(|value| value.scale == 0);
        let has_cents = matches!(
            known.currency,
            Some(CurrencyName::Known(currency)) if currency.exponent() == 2
        );
        let fits = two && whole && has_cents && known.problem.is_none() && amount.problem.is_none();
        // A sign or code before its number ("€12 50") leaves the next number alone.
        let names_it_last = in_words
            || self.text[before.start..before.end]
                .starts_with(|first: char| first.is_ascii_digit());
        (fits && names_it_last && (token.glued || is_last || in_words)).then(|| {
            amount.value.map(|value| Decimal {
                mantissa: value.mantissa,
                scale: value.scale + 2,
            })
        })?
    }

    fn add_cents(&mut self, steps: usize, value: Decimal, known: Amount, token: &Token) {
        self.out.truncate(self.out.len() + 1 - steps);
        let last = self.out.last_mut().expect("an amount stands there");
        last.kind = Kind::Amount(Amount {
            value: Some(value),
            ..known
        });
        last.end = token.end;
        last.tags = last.tags.union(Tags::CENT);
        last.pasted |= token.pasted;
    }

    /// Whether a number is a day of the month ("el día 15", "le 3", "tous les 5 du mois").
    fn is_day(&self, amount: Amount, after: &[Token]) -> bool {
        let in_a_month = matches!(
            amount,
            Amount {
                value: Some(Decimal {
                    mantissa: 1..=31,
                    scale: 0
                }),
                currency: None,
                problem: None,
            }
        );
        let next = after.first();
        let of_a_month = next
            .is_some_and(|next| next.has(Tags::OF.union(Tags::FROM).union(Tags::INTO)))
            && after[1..]
                .iter()
                .find(|token| !token.has(Tags::DET) || token.has(Tags::EVERY))
                .is_some_and(|month| {
                    month.kind == Kind::Word
                        && (month.has(Tags::EVERY.union(Tags::RHYTHM).union(Tags::MONTH))
                            || month.has(Tags::TIME_UNIT) && month.value == Some("month"))
                });
        // "le 20 euros", "the 3 tickets"
        let counts = next.is_some_and(|next| {
            next.has(
                Tags::UNIT
                    .union(Tags::CENT)
                    .union(Tags::COMPUTED)
                    .union(Tags::OF),
            ) || next.is_mark("%\u{2030}+*/")
        });
        let marked = self.back_has(1, Tags::DAY_MARK);
        in_a_month
            && (marked && (of_a_month || !counts) || self.back_has(1, Tags::EVERY) && of_a_month)
    }

    /// Whether digits without a currency are too many for an amount ("509882143", "332 118 904").
    fn is_long_code(&self, token: &Token, amount: Amount, next: Option<&Token>) -> bool {
        const DIGITS_MIN: usize = 9;
        let written = &self.text[token.start..token.end];
        let digits = written.bytes().filter(u8::is_ascii_digit).count();
        amount.currency.is_none()
            && digits >= DIGITS_MIN
            && written
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b' ')
            && !next.is_some_and(|next| next.is_mark("%"))
    }

    /// Whether a number counts invoices, flats, cards or years.
    fn is_labelled(&self, token: &Token) -> bool {
        let labels = Tags::LABEL.union(Tags::ENDING);
        let Some(before) = self.back(1) else {
            return false;
        };
        // "la bolletta 53,17", "factura 40 euros": written as money.
        let decimals = self.text[token.start..token.end].contains(',');
        let is_money = match token.kind {
            Kind::Amount(amount) => {
                amount.currency.is_some()
                    || decimals && amount.value.is_some_and(|value| value.scale > 0)
            }
            _ => false,
        };
        if is_money {
            return false;
        }
        if before.has(labels) || before.is_mark("#\u{2116}\u{b0}") {
            return true;
        }
        // "invoice number is 20981"
        if before.kind == Kind::Word
            && before.has(Tags::AMOUNTS_TO)
            && self.back_has(2, Tags::LABEL)
        {
            return true;
        }
        if before.is_mark(".:-/\u{2013}") {
            let chained = token.glued
                && before.glued
                && self.back(2).is_some_and(|token| token.kind == Kind::Masked);
            return chained || self.back_has(2, labels);
        }
        let year = matches!(
            token.kind,
            Kind::Amount(Amount {
                value: Some(Decimal {
                    mantissa: 1990..=2099,
                    scale: 0
                }),
                currency: None,
                ..
            })
        );
        year && before.has(Tags::INTO)
    }

    fn computed(&mut self, mut token: Token) {
        token.kind = Kind::Amount(Amount::open(Reason::Computed));
        let joins = self.back_amount(1).is_some();
        if joins {
            self.merge(1, token, Reason::Computed);
        } else {
            self.out.push(token);
        }
    }

    /// "da semana toda", "tutto il mese": all of a time is no share of money.
    fn is_whole_time(&self, token: &Token, next: Option<&Token>) -> bool {
        let times = Tags::TIME_UNIT
            .union(Tags::DAY_WORD)
            .union(Tags::WEEKDAY)
            .union(Tags::MONTH);
        let alone = self.back_amount(1).is_none()
            && !next.is_some_and(|next| matches!(next.kind, Kind::Amount(_)));
        let is_time = |token: &Token| token.kind == Kind::Word && token.has(times);
        token.kind == Kind::Word
            && alone
            && (self.back(1).is_some_and(is_time) || next.is_some_and(is_time))
    }

    /// A month takes the day before it; the day or year behind it is taken when it comes.
    fn month(&mut self, mut token: Token) {
        let skip = (1..=2)
            .find(|steps| {
                !self
                    .back(*steps)
                    .is_some_and(|token| token.has(Tags::OF) || token.is_mark("."))
            })
            .unwrap_or(3);
        let day = self.back(skip).and_then(|token| self.day_of(token));
        if let Some(day) = day {
            let from = self.out.len() - skip;
            token.start = self.out[from].start;
            token.pasted |= self.out[from].pasted;
            self.out.truncate(from);
            let month = token
                .value
                .and_then(|value| value.parse().ok())
                .unwrap_or(0);
            token.kind = Kind::Date(real_day(WITHOUT_YEAR, month, day));
        }
        self.out.push(token);
    }

    /// A day or a year behind a month's name.
    fn joins_date(&mut self, token: &Token, amount: Amount) -> bool {
        let Some(Decimal { mantissa, scale: 0 }) =
            amount.value.filter(|_| amount.currency.is_none())
        else {
            return false;
        };
        let comma = usize::from(self.back(1).is_some_and(|token| token.is_mark(",")));
        let link = usize::from(self.back_has(1, Tags::OF));
        let steps = 1 + comma + link;
        let Some(month) = self.back(steps).filter(|token| token.has(Tags::MONTH)) else {
            return false;
        };
        let kind = match month.kind {
            Kind::Date(Some((_, number, day))) if (2000..2200).contains(&mantissa) => {
                Kind::Date(real_day(i32::try_from(mantissa).unwrap_or(0), number, day))
            }
            Kind::Word if steps == 1 && (1..=31).contains(&mantissa) => {
                let number = month
                    .value
                    .and_then(|value| value.parse().ok())
                    .unwrap_or(0);
                Kind::Date(real_day(
                    WITHOUT_YEAR,
                    number,
                    u8::try_from(mantissa).unwrap_or(0),
                ))
            }
            Kind::Word if steps == 1 && (2000..2200).contains(&mantissa) => Kind::Date(None),
            _ => return false,
        };
        self.out.truncate(self.out.len() + 1 - steps);
        let month = self.out.last_mut().expect("a month stands there");
        month.kind = kind;
        month.end = token.end;
        month.pasted |= token.pasted;
        true
    }

    /// The day of a month a number or an ordinal can be.
    fn day_of(&self, token: &Token) -> Option<u8> {
        match token.kind {
            Kind::Amount(Amount {
                value: Some(value),
                currency: None,
                ..
            }) if value.scale == 0 => u8::try_from(value.mantissa)
                .ok()
                .filter(|day| (1..=31).contains(day)),
            Kind::Masked if token.has(Tags::ORDINAL) => {
                let digits: String = self.text[token.start..token.end]
                    .chars()
                    .take_while(char::is_ascii_digit)
                    .collect();
                digits.parse().ok().filter(|day| (1..=31).contains(day))
            }
            _ => None,
        }
    }
}

fn sum(whole: Option<Decimal>, cents: Option<Decimal>) -> Option<Decimal> {
    let (whole, cents) = (whole?, cents?);
    let ready = whole.scale == 0 && cents.scale == 2 && cents.mantissa < 100;
    ready.then(|| Decimal {
        mantissa: whole.mantissa * 100 + cents.mantissa,
        scale: 2,
    })
}

fn rhythm(count: Option<Decimal>, unit: Option<&'static str>) -> &'static str {
    match (count, unit) {
        (
            Some(Decimal {
                mantissa: 1,
                scale: 0,
            }),
            Some("week"),
        ) => "weekly",
        (
            Some(Decimal {
                mantissa: 1,
                scale: 0,
            }),
            Some("month"),
        ) => "monthly",
        (
            Some(Decimal {
                mantissa: 3,
                scale: 0,
            }),
            Some("month"),
        ) => "quarterly",
        (
            Some(Decimal {
                mantissa: 12,
                scale: 0,
            }),
            Some("month"),
        ) => "yearly",
        _ => "other",
    }
}
