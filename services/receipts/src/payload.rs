//! Payloads: one object, one spelling (RFC 8785).

use serde::Serialize;

use crate::{CanonicalError, CanonicalWriter};

/// Why a payload has no canonical form, or is not in it.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// The value cannot be written as JSON that every reader reads alike.
    #[error("write a payload: {0}")]
    Write(CanonicalError),
    /// The bytes are no JSON object.
    #[error("read a payload: not a JSON object")]
    Malformed,
    /// The bytes are JSON in another spelling, or with a member twice.
    #[error("read a payload: not in canonical form")]
    NotCanonical,
}

/// The canonical bytes of a value.
///
/// Amounts and hashes are strings in payloads; a number is a small count.
///
/// # Errors
/// [`PayloadError::Write`] when the value has no such form.
pub fn canonical(value: &impl Serialize) -> Result<Vec<u8>, PayloadError> {
    let mut writer = CanonicalWriter::new();
    writer.write(value)?;
    Ok(writer.into_bytes())
}

/// Reads a payload and refuses every spelling but the canonical one.
///
/// # Errors
/// [`PayloadError`] when the bytes are no object or are spelled differently.
pub fn check_canonical(bytes: &[u8]) -> Result<serde_json::Value, PayloadError> {
    let value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|_| PayloadError::Malformed)?;
    if !value.is_object() {
        return Err(PayloadError::Malformed);
    }
    // A member given twice survives once, and the bytes differ.
    match canonical(&value) {
        Ok(written) if written == bytes => Ok(value),
        _ => Err(PayloadError::NotCanonical),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_has_one_spelling() {
        let value = serde_json::json!({"b": "é\n", "a": [1, true, null], "A": "x"});
        let bytes = canonical(&value).unwrap();
        assert_eq!(
            std::str::from_utf8(&bytes).unwrap(),
            r#"{"A":"x","a":[1,true,null],"b":"é\n"}"#
        );
        assert_eq!(check_canonical(&bytes).unwrap(), value);
        for other in [
            r#"{"a":[1,true,null],"A":"x","b":"é\n"}"#,
            r#"{"A":"x", "a":[1,true,null],"b":"é\n"}"#,
            r#"{"A":"x","a":[1,true,null],"b":"\u00e9\n"}"#,
            r#"{"A":"y","A":"x","a":[1,true,null],"b":"é\n"}"#,
            r#"{"A":"x","a":[1.0,true,null],"b":"é\n"}"#,
            r#"{"a":9007199254740993}"#,
        ] {
            assert!(
                matches!(
                    check_canonical(other.as_bytes()),
                    Err(PayloadError::NotCanonical)
                ),
                "{other}"
            );
        }
        assert!(matches!(
            check_canonical(b"[]"),
            Err(PayloadError::Malformed)
        ));
        assert!(matches!(
            check_canonical(b"{"),
            Err(PayloadError::Malformed)
        ));
    }
}
