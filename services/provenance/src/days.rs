//! Numbers that are days and years, and the months beside them.

use crate::{
    amounts::{Joiner, WITHOUT_YEAR},
    decimal::Decimal,
    masks::real_day,
    tags::Tags,
    tokens::{Amount, Kind, Token},
};

impl Joiner<'_> {
    /// Whether a number is a day of the month ("el día 15", "le 3", "tous les 5 du mois").
    pub(crate) fn is_day(&self, amount: Amount, after: &[Token]) -> bool {
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

    /// "da semana toda", "tutto il mese": all of a time is no share of money.
    pub(crate) fn is_whole_time(&self, token: &Token, next: Option<&Token>) -> bool {
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
    pub(crate) fn month(&mut self, mut token: Token) {
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
    pub(crate) fn joins_date(&mut self, token: &Token, amount: Amount) -> bool {
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
    pub(crate) fn day_of(&self, token: &Token) -> Option<u8> {
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

pub(crate) fn rhythm(count: Option<Decimal>, unit: Option<&'static str>) -> &'static str {
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
