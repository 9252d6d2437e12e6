//! The forms an argument can have: an id the bank handed out, a word of a fixed list, an amount, a day.
//!
//! An argument is taken as text and read by its form, so that the refusal can name the argument at fault.
//! The same form writes the schema that the tool list shows, so the two cannot drift apart.

use std::{borrow::Cow, marker::PhantomData};

use countersign_domain::{
    AccountId, ActionId, CardId, Currency, DisputeReason, DocumentId, Frequency, OrderId,
    OrderOperation, PayeeId, ProfileField, TransferId,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use crate::Refusal;

/// Longest argument of any form, in bytes.
pub const ARGUMENT_LENGTH_MAX: usize = 128;

/// A form of an argument.
pub trait Form: Sized {
    /// What the tool list says about it.
    fn schema() -> Schema;
    /// Reads the one accepted text form.
    fn read(text: &str) -> Option<Self>;
}

/// An argument that may be left out. `null` is not leaving out; it is refused.
#[derive(Clone, Debug)]
pub struct Argument<T>(Option<String>, PhantomData<T>);

impl<T> Default for Argument<T> {
    fn default() -> Self {
        Self(None, PhantomData)
    }
}

impl<T: Form> Argument<T> {
    /// The value, or `None` where the argument was left out.
    ///
    /// # Errors
    /// [`countersign_domain::ToolCode::InvalidArgument`] naming `what` when the text is not of the form.
    pub fn optional(&self, what: &'static str) -> Result<Option<T>, Refusal> {
        match &self.0 {
            None => Ok(None),
            Some(text) if text.len() <= ARGUMENT_LENGTH_MAX => T::read(text)
                .map(Some)
                .ok_or_else(|| Refusal::invalid(what)),
            Some(_) => Err(Refusal::invalid(what)),
        }
    }

    /// The value of an argument that the tool cannot do without.
    ///
    /// # Errors
    /// As [`Argument::optional`], and when it was left out.
    pub fn required(&self, what: &'static str) -> Result<T, Refusal> {
        self.optional(what)?.ok_or_else(|| Refusal::invalid(what))
    }
}

impl<'de, T> Deserialize<'de> for Argument<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Some(text), PhantomData))
    }
}

impl<T: Form> JsonSchema for Argument<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Argument".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        T::schema()
    }
}

/// An object that is read as an object only: serde would also take an array for a struct, by position.
#[derive(Clone, Debug)]
pub struct Object<T>(pub T);

impl<'de, T: serde::de::DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = serde_json::Map::deserialize(deserializer)?;
        T::deserialize(serde_json::Value::Object(members))
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

impl<T: JsonSchema> JsonSchema for Object<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

macro_rules! id_forms {
    ($($id:ident),*) => {$(
        impl Form for $id {
            fn schema() -> Schema {
                json_schema!({ "type": "string", "pattern": format!("^{}_[0-9a-f]{{32}}$", $id::PREFIX) })
            }
            fn read(text: &str) -> Option<Self> { text.parse().ok() }
        }
    )*};
}
id_forms!(
    AccountId, ActionId, CardId, DocumentId, OrderId, PayeeId, TransferId
);

macro_rules! word_forms {
    ($($word:ident),*) => {$(
        impl Form for $word {
            fn schema() -> Schema {
                let words: Vec<&str> = $word::ALL.iter().map(|word| word.text()).collect();
                json_schema!({ "type": "string", "enum": words })
            }
            fn read(text: &str) -> Option<Self> { text.parse().ok() }
        }
    )*};
}
word_forms!(DisputeReason, Frequency, OrderOperation, ProfileField);

impl Form for Currency {
    fn schema() -> Schema {
        let codes: Vec<&str> = Self::ALL.iter().map(|currency| currency.code()).collect();
        json_schema!({ "type": "string", "enum": codes })
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// Where a payment may go: a saved payee or an account of the customer's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayTo {
    /// A saved payee.
    Payee(PayeeId),
    /// An own account.
    Own(AccountId),
}

impl PayTo {
    /// The same as the rules about requests know it.
    pub const fn target(self) -> countersign_pending::Target {
        match self {
            Self::Payee(id) => countersign_pending::Target::Payee(id),
            Self::Own(id) => countersign_pending::Target::Own(id),
        }
    }
}

impl Form for PayTo {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^(pye|acc)_[0-9a-f]{32}$" })
    }

    fn read(text: &str) -> Option<Self> {
        text.parse()
            .map(Self::Payee)
            .or_else(|_| text.parse().map(Self::Own))
            .ok()
    }
}

/// An amount's decimal text. What it is worth depends on the currency, so it is read once that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmountText(pub String);

impl Form for AmountText {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": r"^(0|[1-9][0-9]{0,12})(\.[0-9]{1,3})?$" })
    }

    fn read(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str, most: usize| {
            (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
        };
        let plain = whole.len() == 1 || !whole.starts_with('0');
        (digits(whole, 13) && digits(decimals, 3) && plain).then(|| Self(text.to_owned()))
    }
}

impl AmountText {
    /// The amount in a currency's minor units. Nothing is rounded.
    ///
    /// # Errors
    /// [`countersign_domain::ToolCode::InvalidArgument`] when the currency has fewer decimals, or for zero.
    pub fn money(&self, currency: Currency) -> Result<countersign_domain::Money, Refusal> {
        countersign_domain::Money::parse_wire(&self.0, currency)
            .map_err(|_| Refusal::invalid("amount"))
    }
}

/// A calendar month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month {
    /// The year, 1970 to 9999.
    pub year: i32,
    /// The month, 1 to 12.
    pub month: u8,
}

impl Month {
    /// The first day, and the first day of the month after it.
    pub fn days(self) -> Option<(time::Date, time::Date)> {
        let month = time::Month::try_from(self.month).ok()?;
        let first = time::Date::from_calendar_date(self.year, month, 1).ok()?;
        let next_year = self.year + i32::from(self.month == 12);
        let end = time::Date::from_calendar_date(next_year, month.next(), 1).ok()?;
        Some((first, end))
    }
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl Form for Month {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$" })
    }

    fn read(text: &str) -> Option<Self> {
        if text.len() != 7 {
            return None;
        }
        let day = read_day(&format!("{text}-01"))?;
        Some(Self {
            year: day.year(),
            month: day.month().into(),
        })
    }
}

impl Form for time::Date {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$" })
    }

    fn read(text: &str) -> Option<Self> {
        read_day(text)
    }
}

fn read_day(text: &str) -> Option<time::Date> {
    let shape = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shape {
        return None;
    }
    let year: i32 = text[0..4].parse().ok()?;
    let month: u8 = text[5..7].parse().ok()?;
    let day: u8 = text[8..10].parse().ok()?;
    if year < 1970 {
        return None;
    }
    time::Date::from_calendar_date(year, month.try_into().ok()?, day).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_one_form() {
        for good in ["0", "5", "20.00", "1.250", "9999999999999"] {
            assert!(AmountText::read(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "-5",
            "+5",
            "5-",
            "(5)",
            "0x10",
            "007",
            " 5",
            "5 ",
            "1e3",
            "NaN",
            "inf",
            "1,000",
            "1.000,00",
            ".5",
            "5.",
            "١٠",
            "１０",
            "50.000000001",
            "99999999999999",
            "5\0",
        ] {
            assert!(AmountText::read(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn decimals_follow_the_currency() {
        let yen = AmountText::read("10.50").unwrap();
        assert_eq!(yen.money(Currency::Jpy), Err(Refusal::invalid("amount")));
        let dinar = AmountText::read("1.250").unwrap();
        assert_eq!(dinar.money(Currency::Kwd).unwrap().amount.count(), 1_250);
    }

    #[test]
    fn a_day_exists_in_the_calendar() {
        assert!(<time::Date as Form>::read("2028-02-29").is_some());
        for bad in [
            "2027-02-29",
            "2027-13-01",
            "27-01-01",
            "2027-1-1",
            "+027-01-01",
            "2027-01-01 ",
        ] {
            assert!(<time::Date as Form>::read(bad).is_none(), "{bad}");
        }
        assert!(Month::read("2026-11").is_some());
        assert!(Month::read("2026-00").is_none());
    }

    #[test]
    fn a_payment_goes_to_a_payee_or_an_own_account_and_nowhere_else() {
        let digits = "0".repeat(31) + "1";
        assert!(matches!(
            PayTo::read(&format!("pye_{digits}")),
            Some(PayTo::Payee(_))
        ));
        assert!(matches!(
            PayTo::read(&format!("acc_{digits}")),
            Some(PayTo::Own(_))
        ));
        assert_eq!(PayTo::read(&format!("trf_{digits}")), None);
        assert_eq!(PayTo::read("DE89370400440532013000"), None);
    }

    #[test]
    fn an_object_is_not_read_from_an_array() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Pair {
            #[expect(dead_code, reason = "only its reading is tested")]
            payee: String,
        }
        assert!(serde_json::from_str::<Object<Pair>>(r#"{"payee":"a"}"#).is_ok());
        assert!(serde_json::from_str::<Object<Pair>>(r#"["a"]"#).is_err());
    }

    #[test]
    fn null_is_not_a_way_to_leave_an_argument_out() {
        assert!(serde_json::from_str::<Argument<Month>>("null").is_err());
    }
}
