//! Money, names and account numbers as a case writes them.

use anyhow::Context;
use countersign_domain::{ActionKind, Currency, Money};

pub fn cut(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

pub fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// `1240.50 EUR`.
///
/// # Errors
/// When it is no amount of a currency the bank keeps.
pub fn money(text: &str) -> anyhow::Result<Money> {
    let (amount, currency) = text
        .trim()
        .split_once(' ')
        .with_context(|| format!("{text:?} is no money"))?;
    let currency: Currency = currency.trim().parse()?;
    // A case may name an amount that its currency cannot have: it is then nobody's amount.
    Money::parse_wire(amount, currency).with_context(|| format!("{text:?} is no money"))
}

/// The kinds of actions that a case means: `standing_order` means making, changing and ending one.
#[must_use]
pub fn action_kinds(name: &str) -> Vec<&'static str> {
    ActionKind::ALL
        .iter()
        .map(|kind| kind.text())
        .filter(|kind| *kind == name || kind.starts_with(&format!("{name}_")))
        .collect()
}

/// An IBAN with its checksum (ISO 13616, 97 as in ISO 7064).
#[must_use]
pub fn iban(country: &str, account_part: &str) -> String {
    let remainder = format!("{account_part}{country}00")
        .chars()
        .filter_map(|letter| letter.to_digit(36))
        .fold(0_u64, |remainder, digit| {
            let shift = if digit > 9 { 100 } else { 10 };
            (remainder * shift + u64::from(digit)) % 97
        });
    format!("{country}{:02}{account_part}", 98 - remainder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iban_has_the_checksum_of_the_standard() {
        assert_eq!(iban("GB", "NWBK60161331926819"), "GB29NWBK60161331926819");
        assert_eq!(iban("DE", "370400440532013000"), "DE89370400440532013000");
    }

    #[test]
    fn money_is_read_with_its_currency_s_decimals() {
        assert_eq!(money("3000 JPY").unwrap().amount.count(), 3000);
        assert_eq!(money("95.250 KWD").unwrap().amount.count(), 95_250);
        assert!(money("3000.00 JPY").is_err());
        assert!(money("a lot").is_err());
    }
}
