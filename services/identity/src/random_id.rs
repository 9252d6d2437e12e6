//! 128-bit random names for a turn and for a token, in text 32 lower-case hexadecimal digits.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text is not 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 32 lower-case hexadecimal digits")]
pub struct RandomIdError;

macro_rules! random_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// Makes a name from 16 bytes of the caller's random source.
            pub const fn from_random(bytes: [u8; 16]) -> Self { Self(bytes) }

            /// The 16 bytes, for the database's column.
            pub const fn bytes(self) -> [u8; 16] { self.0 }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { fmt::Display::fmt(self, f) }
        }

        impl FromStr for $name {
            type Err = RandomIdError;
            fn from_str(text: &str) -> Result<Self, RandomIdError> {
                lower_hex(text).map(Self).ok_or(RandomIdError)
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

random_ids! {
    /// One turn of a conversation: one message of the customer and the reply to it.
    TurnId;
    /// One token. The bank refuses a second request that carries the same one.
    TokenId;
}

/// Reads exactly `N` bytes from their lower-case hexadecimal form.
pub(crate) fn lower_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text
        .bytes()
        .any(|b| !matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    {
        return None;
    }
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_from_its_own_text_and_from_no_other() {
        let id = TokenId::from_random([0xab; 16]);
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in [
            "",
            "ab",
            "ABABABABABABABABABABABABABABABAB",
            "abababababababababababababababababab",
            "abababababababababababababababa",
            " bababababababababababababababab",
        ] {
            assert_eq!(text.parse::<TokenId>(), Err(RandomIdError), "{text:?}");
        }
    }
}
