//! Numbers that count or name something else than money: invoices, flats, references.

use crate::{
    amounts::Joiner,
    decimal::Decimal,
    tags::Tags,
    tokens::{Amount, Kind, Token},
};

impl Joiner<'_> {
    /// Whether digits without a currency are too many for an amount ("509882143", "332 118 904").
    pub(crate) fn is_long_code(&self, token: &Token, amount: Amount, next: Option<&Token>) -> bool {
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

    /// Whether digits behind a hyphen end a code of letters ("GS-2207").
    pub(crate) fn ends_code(&self, token: &Token, amount: Amount) -> bool {
        const LETTERS_MAX: usize = 6;
        let hyphen = self
            .back(1)
            .is_some_and(|mark| mark.glued && mark.is_mark("-/"));
        let letters = self
            .back(2)
            .is_some_and(|word| word.is_unknown() && word.end - word.start <= LETTERS_MAX);
        amount.currency.is_none() && token.glued && hyphen && letters
    }

    /// Whether a number counts invoices, flats, cards or years.
    pub(crate) fn is_labelled(&self, token: &Token) -> bool {
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
}
