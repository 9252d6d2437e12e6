//! Pins: the hash of the whole definition of a tool.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// The hash of a definition: SHA-256 of its canonical JSON (RFC 8785).
///
/// It covers every member the server sent, also those no reader here knows, since a client may show
/// them to a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pin([u8; 32]);

/// Why a definition or a pin cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// The text is not 64 lower-case hexadecimal digits.
    #[error("read a pin: 64 lower-case hexadecimal digits are wanted")]
    Text,
    /// The definition is no JSON object.
    #[error("hash a definition: not a JSON object")]
    Malformed,
    /// A number of the definition is kept differently by different readers.
    #[error("hash a definition: a number beyond the exact integers")]
    InexactNumber,
}

impl Pin {
    /// Reads 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`PinError::Text`] for any other text.
    pub fn from_text(text: &str) -> Result<Self, PinError> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| PinError::Text)?;
        let pin = Self(bytes);
        if pin.to_string() == text {
            Ok(pin)
        } else {
            Err(PinError::Text)
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 64];
        hex::encode_to_slice(self.0, &mut digits).map_err(|_| fmt::Error)?;
        formatter.write_str(std::str::from_utf8(&digits).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The pin of a definition, from its raw JSON as the server sent it.
///
/// The caller has read the text with the strict reader: no member is there twice.
///
/// # Errors
/// [`PinError`] when the definition cannot be hashed so that every reader agrees.
pub fn definition_pin(raw: &str) -> Result<Pin, PinError> {
    let value: serde_json::Value = serde_json::from_str(raw).map_err(|_| PinError::Malformed)?;
    if !value.is_object() {
        return Err(PinError::Malformed);
    }
    if !numbers_are_exact(&value) {
        return Err(PinError::InexactNumber);
    }
    let canonical =
        serde_json_canonicalizer::to_vec(&value).map_err(|_| PinError::InexactNumber)?;
    Ok(Pin(Sha256::digest(canonical).into()))
}

/// Canonical JSON writes integers as floats are written: beyond 2^53 two would become one.
fn numbers_are_exact(value: &serde_json::Value) -> bool {
    const LARGEST: u64 = (1 << 53) - 1;
    match value {
        serde_json::Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number <= LARGEST,
            (None, Some(number)) => number.unsigned_abs() <= LARGEST,
            (None, None) => true,
        },
        serde_json::Value::Array(elements) => elements.iter().all(numbers_are_exact),
        serde_json::Value::Object(members) => members.values().all(numbers_are_exact),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINITION: &str =
        r#"{"name":"a","inputSchema":{"type":"object","maximum":5},"description":"x"}"#;

    #[test]
    fn the_pin_covers_every_member_and_no_spelling() {
        let pin = definition_pin(DEFINITION).unwrap();
        let respelled = r#"{ "description":"\u0078","inputSchema":{"maximum":5.0,"type":"object"}, "name":"a" }"#;
        assert_eq!(definition_pin(respelled), Ok(pin));
        for (from, to) in [
            (r#""x""#, r#""y""#),
            (r#""a""#, r#""b""#),
            ("5", "6"),
            (r#"{"type""#, r#"{"title":"t","type""#),
            (
                r#"{"name""#,
                r#"{"annotations":{"readOnlyHint":true},"name""#,
            ),
        ] {
            let changed = DEFINITION.replacen(from, to, 1);
            assert_ne!(definition_pin(&changed), Ok(pin), "{changed}");
        }
    }

    #[test]
    fn a_pin_has_one_text() {
        let pin = definition_pin(DEFINITION).unwrap();
        assert_eq!(Pin::from_text(&pin.to_string()), Ok(pin));
        assert!(Pin::from_text(&pin.to_string().to_uppercase()).is_err());
        assert!(Pin::from_text("").is_err());
    }

    #[test]
    fn what_readers_keep_differently_has_no_pin() {
        let raw = r#"{"name":"a","maximum":9007199254740993}"#;
        assert_eq!(definition_pin(raw), Err(PinError::InexactNumber));
        assert_eq!(definition_pin("[]"), Err(PinError::Malformed));
    }
}
