//! Money: integer minor units and an ISO 4217 currency, never a float.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A currency of ISO 4217 that this bank keeps accounts in, with its exponent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Currency {
    /// Euro, two decimals.
    Eur,
    /// Pound sterling, two decimals.
    Gbp,
    /// US dollar, two decimals.
    Usd,
    /// Swiss franc, two decimals.
    Chf,
    /// Polish złoty, two decimals.
    Pln,
    /// Yen, no decimals.
    Jpy,
    /// Kuwaiti dinar, three decimals.
    Kwd,
    /// Canadian dollar, two decimals.
    Cad,
    /// Australian dollar, two decimals.
    Aud,
    /// New Zealand dollar, two decimals.
    Nzd,
    /// Brazilian real, two decimals.
    Brl,
    /// Mexican peso, two decimals.
    Mxn,
    /// Argentine peso, two decimals.
    Ars,
    /// Swedish krona, two decimals.
    Sek,
    /// Norwegian krone, two decimals.
    Nok,
    /// Danish krone, two decimals.
    Dkk,
    /// Czech koruna, two decimals.
    Czk,
    /// Indian rupee, two decimals.
    Inr,
    /// Tunisian dinar, three decimals.
    Tnd,
    /// Bahraini dinar, three decimals.
    Bhd,
}

impl Currency {
    /// Every currency the bank knows.
    pub const ALL: [Self; 20] = [
        Self::Eur,
        Self::Gbp,
        Self::Usd,
        Self::Chf,
        Self::Pln,
        Self::Jpy,
        Self::Kwd,
        Self::Cad,
        Self::Aud,
        Self::Nzd,
        Self::Brl,
        Self::Mxn,
        Self::Ars,
        Self::Sek,
        Self::Nok,
        Self::Dkk,
        Self::Czk,
        Self::Inr,
        Self::Tnd,
        Self::Bhd,
    ];

    /// The ISO 4217 alphabetic code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Eur => "EUR",
            Self::Gbp => "GBP",
            Self::Usd => "USD",
            Self::Chf => "CHF",
            Self::Pln => "PLN",
            Self::Jpy => "JPY",
            Self::Kwd => "KWD",
            Self::Cad => "CAD",
            Self::Aud => "AUD",
            Self::Nzd => "NZD",
            Self::Brl => "BRL",
            Self::Mxn => "MXN",
            Self::Ars => "ARS",
            Self::Sek => "SEK",
            Self::Nok => "NOK",
            Self::Dkk => "DKK",
            Self::Czk => "CZK",
            Self::Inr => "INR",
            Self::Tnd => "TND",
            Self::Bhd => "BHD",
        }
    }

    /// How many decimals the currency has (ISO 4217 minor unit): 0, 2 or 3.
    pub const fn exponent(self) -> u32 {
        match self {
            Self::Jpy => 0,
            Self::Kwd | Self::Tnd | Self::Bhd => 3,
            _ => 2,
        }
    }
}

/// The text is not the code of a currency this bank keeps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a currency of this bank; use one of {}", Currency::ALL.map(Currency::code).join(", "))]
pub struct CurrencyError;

impl FromStr for Currency {
    type Err = CurrencyError;
    fn from_str(text: &str) -> Result<Self, CurrencyError> {
        Self::ALL
            .into_iter()
            .find(|currency| currency.code() == text)
            .ok_or(CurrencyError)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// An amount in a currency's minor units. Never negative; arithmetic is checked.
///
/// The largest value is [`MinorUnits::MAX`], far below where a 64-bit sum over a customer's
/// history could wrap and below 2^53, so that no JSON reader rounds it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct MinorUnits(i64);

impl MinorUnits {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount the bank handles in one value: 10^15 − 1 minor units.
    pub const MAX: Self = Self(999_999_999_999_999);

    /// Takes a count of minor units. `None` when negative or above [`MinorUnits::MAX`].
    pub const fn new(count: i64) -> Option<Self> {
        if count >= 0 && count <= Self::MAX.0 {
            Some(Self(count))
        } else {
            None
        }
    }

    /// The count, for the database's columns.
    pub const fn count(self) -> i64 {
        self.0
    }

    /// Whether this is nothing.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, or `None` above [`MinorUnits::MAX`].
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).and_then(Self::new)
    }

    /// The difference, or `None` below zero.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).and_then(Self::new)
    }
}

/// An amount together with its currency.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Money {
    /// How much, in minor units.
    pub amount: MinorUnits,
    /// Of what.
    pub currency: Currency,
}

/// Why a text is not an amount on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Not the fixed pattern: digits, optionally a dot and digits; no sign, space, exponent or grouping.
    #[error(
        "an amount is a decimal string such as \"20.00\": digits, optionally a dot and decimals"
    )]
    Pattern,
    /// More or fewer decimals than the currency has.
    #[error("the amount has decimals that {0} does not have")]
    Decimals(Currency),
    /// Zero.
    #[error("the amount must be more than zero")]
    Zero,
    /// Above [`MinorUnits::MAX`].
    #[error("the amount is too large")]
    TooLarge,
}

impl Money {
    /// Reads the wire form: `^(0|[1-9][0-9]{0,12})(\.[0-9]{1,3})?$`, ASCII only, and not more decimals than
    /// the currency has. Nothing is rounded. Zero is refused.
    pub fn parse_wire(text: &str, currency: Currency) -> Result<Self, AmountError> {
        let (whole, decimals) = match text.split_once('.') {
            Some((whole, decimals)) => (whole, Some(decimals)),
            None => (text, None),
        };
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !all_digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
            return Err(AmountError::Pattern);
        }
        let decimals = decimals.unwrap_or("0");
        if !all_digits(decimals) || decimals.len() > 18 {
            return Err(AmountError::Pattern);
        }
        let exponent = currency.exponent() as usize;
        let given = if text.contains('.') {
            decimals.len()
        } else {
            0
        };
        if given > exponent {
            return Err(AmountError::Decimals(currency));
        }
        if whole.len() > 15 {
            return Err(AmountError::TooLarge);
        }
        let mut digits = String::with_capacity(whole.len() + exponent);
        digits.push_str(whole);
        for place in 0..exponent {
            let digit = if given > place {
                decimals.as_bytes()[place] as char
            } else {
                '0'
            };
            digits.push(digit);
        }
        let count: i64 = digits.parse().map_err(|_| AmountError::TooLarge)?;
        let amount = MinorUnits::new(count).ok_or(AmountError::TooLarge)?;
        if amount.is_zero() {
            return Err(AmountError::Zero);
        }
        Ok(Self { amount, currency })
    }

    /// The wire form: every decimal of the currency, a dot, no grouping. Not for people.
    pub fn to_wire(self) -> String {
        let exponent = self.currency.exponent() as usize;
        let digits = format!("{:0width$}", self.amount.count(), width = exponent + 1);
        if exponent == 0 {
            return digits;
        }
        let (whole, decimals) = digits.split_at(digits.len() - exponent);
        format!("{whole}.{decimals}")
    }

    /// The form for people in English: grouped by thousands, with the code after it (`1,480.00 EUR`).
    pub fn to_display(self) -> String {
        let wire = self.to_wire();
        let (whole, decimals) = match wire.split_once('.') {
            Some((whole, decimals)) => (whole, Some(decimals)),
            None => (wire.as_str(), None),
        };
        let mut grouped = String::new();
        for (position, digit) in whole.chars().enumerate() {
            if position > 0 && (whole.len() - position).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        match decimals {
            Some(decimals) => format!("{grouped}.{decimals} {}", self.currency),
            None => format!("{grouped} {}", self.currency),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minor(text: &str, currency: Currency) -> Result<i64, AmountError> {
        Money::parse_wire(text, currency).map(|money| money.amount.count())
    }

    #[test]
    fn an_amount_keeps_its_currency_s_decimals() {
        assert_eq!(minor("20", Currency::Eur), Ok(2_000));
        assert_eq!(minor("20.5", Currency::Eur), Ok(2_050));
        assert_eq!(minor("0.01", Currency::Eur), Ok(1));
        assert_eq!(minor("48000", Currency::Jpy), Ok(48_000));
        assert_eq!(minor("95.250", Currency::Kwd), Ok(95_250));
    }

    #[test]
    fn what_is_not_the_pattern_is_refused_and_never_rounded() {
        for text in [
            "", "+5", "-5", "5-", "(5)", "0x10", "007", " 5", "5 ", "1e3", "NaN", "inf", "1,000",
            "1.000,00", ".5", "5.", "١٠", "１０", "1_000", "5\n",
        ] {
            assert_eq!(
                minor(text, Currency::Eur),
                Err(AmountError::Pattern),
                "{text:?}"
            );
        }
        assert_eq!(
            minor("50.000000001", Currency::Eur),
            Err(AmountError::Decimals(Currency::Eur))
        );
        assert_eq!(
            minor("10.50", Currency::Jpy),
            Err(AmountError::Decimals(Currency::Jpy))
        );
        assert_eq!(
            minor("1.2345", Currency::Kwd),
            Err(AmountError::Decimals(Currency::Kwd))
        );
        assert_eq!(minor("0", Currency::Eur), Err(AmountError::Zero));
        assert_eq!(minor("0.00", Currency::Eur), Err(AmountError::Zero));
        assert_eq!(
            minor("9223372036854775808", Currency::Eur),
            Err(AmountError::TooLarge)
        );
        assert_eq!(
            minor("99999999999999", Currency::Eur),
            Err(AmountError::TooLarge)
        );
    }

    #[test]
    fn people_read_groups_and_the_code() {
        let money = |count, currency| Money {
            amount: MinorUnits::new(count).unwrap(),
            currency,
        };
        assert_eq!(money(148_000, Currency::Eur).to_display(), "1,480.00 EUR");
        assert_eq!(money(48_000, Currency::Jpy).to_display(), "48,000 JPY");
        assert_eq!(money(95_250, Currency::Kwd).to_display(), "95.250 KWD");
        assert_eq!(money(5, Currency::Eur).to_display(), "0.05 EUR");
    }

    proptest::proptest! {
        #[test]
        fn the_wire_form_reads_back(count in 1i64..=MinorUnits::MAX.count(), which in 0usize..7) {
            let currency = Currency::ALL[which];
            let money = Money { amount: MinorUnits::new(count).unwrap(), currency };
            proptest::prop_assert_eq!(Money::parse_wire(&money.to_wire(), currency), Ok(money));
        }
    }
}
