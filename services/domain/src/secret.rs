//! Secrets that do not print themselves, and the hashes under which the database knows them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// A bearer secret of 256 random bits as 64 hexadecimal digits, or a password.
///
/// Debug and Display show nothing of it. The database only ever stores [`Secret::hash`].
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a text that must not be printed.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Makes a secret from 32 bytes of the caller's random source.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self::new(hex::encode(bytes))
    }

    /// The text itself, for the one place that must send it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the text, the form in which the database knows it.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// Compares in constant time.
    pub fn matches(&self, other: &str) -> bool {
        use subtle::ConstantTimeEq;
        self.0.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print_itself() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }
}
