//! Ids as newtypes, so that a swapped argument does not compile.
//!
//! In text an id is a short prefix, an underscore and the UUID's 32 hexadecimal digits
//! (`act_0198…`). A parser accepts exactly that form and nothing else.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an id that begins with {prefix}_ and has 32 lower-case hexadecimal digits")]
pub struct IdError {
    /// The prefix the wanted kind of id carries.
    pub prefix: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The prefix of this kind of id in text.
            pub const PREFIX: &'static str = $prefix;

            /// Wraps a UUID that the database or the caller's random source made.
            pub const fn from_uuid(uuid: Uuid) -> Self { Self(uuid) }

            /// The bare UUID, for the database's columns.
            pub const fn uuid(self) -> Uuid { self.0 }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}_{}", $prefix, self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { fmt::Display::fmt(self, f) }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text, $prefix).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

fn parse(text: &str, prefix: &'static str) -> Result<Uuid, IdError> {
    let digits = text
        .strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('_'))
        .filter(|digits| digits.len() == 32)
        .filter(|digits| {
            digits
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })
        .ok_or(IdError { prefix })?;
    Uuid::try_parse(digits).map_err(|_| IdError { prefix })
}

ids! {
    /// A customer of the bank.
    CustomerId = "cus";
    /// One chat conversation of one customer. Grounding never crosses it.
    ConversationId = "con";
    /// One message a customer typed, as the chat origin recorded it.
    UtteranceId = "utt";
    /// An account the customer owns.
    AccountId = "acc";
    /// A payee the customer saved.
    PayeeId = "pye";
    /// A payment card of the customer.
    CardId = "crd";
    /// A standing order of the customer.
    OrderId = "ord";
    /// A movement on an account: a transfer the customer confirmed, a card payment, an incoming payment.
    TransferId = "trf";
    /// A document in the customer's inbox.
    DocumentId = "doc";
    /// A request a customer has not necessarily confirmed.
    ActionId = "act";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_from_its_own_text() {
        let id = ActionId::from_uuid(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0001));
        assert_eq!(id.to_string().parse::<ActionId>(), Ok(id));
    }

    #[test]
    fn only_the_one_text_form_is_accepted() {
        for text in [
            "",
            "act_",
            "01980000000070008000000000000001",
            "pye_01980000000070008000000000000001",
            "act_0198000000007000800000000000000",
            "act_0198000000007000800000000000000A",
            "act_01980000-0000-7000-8000-000000000001",
            " act_01980000000070008000000000000001",
            "act_01980000000070008000000000000001\n",
        ] {
            assert!(text.parse::<ActionId>().is_err(), "{text:?}");
        }
    }
}
