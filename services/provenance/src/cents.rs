//! Hundredths that are said behind the whole units ("zwölf Euro fünfzig", "veinticinco con cincuenta").

use crate::{
    amounts::Joiner,
    currencies::CurrencyName,
    decimal::Decimal,
    tags::Tags,
    tokens::{Amount, Kind, Token},
};

impl Joiner<'_> {
    /// Two digits behind whole units of a currency with two decimals, glued to it or at the end.
    pub(crate) fn spoken_cents(
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

    pub(crate) fn add_cents(&mut self, steps: usize, value: Decimal, known: Amount, token: &Token) {
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
}

pub(crate) fn sum(whole: Option<Decimal>, cents: Option<Decimal>) -> Option<Decimal> {
    let (whole, cents) = (whole?, cents?);
    let ready = whole.scale == 0 && cents.scale == 2 && cents.mantissa < 100;
    ready.then(|| Decimal {
        mantissa: whole.mantissa * 100 + cents.mantissa,
        scale: 2,
    })
}
