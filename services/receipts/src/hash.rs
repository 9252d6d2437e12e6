//! RFC 6962 hashes: a leaf and an inner node never share their input.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A SHA-256 hash of a leaf or of a node. In JSON and in print it is 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Hash([u8; 32]);

/// A text that is no hash in the form asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read a hash: 32 bytes in lower-case hexadecimal or base64 are wanted")]
pub struct HashError;

impl Hash {
    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    /// [`HashError`] for any other text.
    pub fn from_hexadecimal(text: &str) -> Result<Self, HashError> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| HashError)?;
        let hash = Self(bytes);
        // One hash has one spelling, else two records could differ and mean the same.
        if hash.to_string() == text {
            Ok(hash)
        } else {
            Err(HashError)
        }
    }

    /// Reads standard base64 with padding.
    ///
    /// # Errors
    /// [`HashError`] for any other text.
    pub fn from_base64(text: &str) -> Result<Self, HashError> {
        let bytes = STANDARD.decode(text).map_err(|_| HashError)?;
        Ok(Self(bytes.try_into().map_err(|_| HashError)?))
    }

    /// Standard base64 with padding, the form in checkpoints and proofs.
    #[must_use]
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.0)
    }
}

impl From<[u8; 32]> for Hash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl TryFrom<&[u8]> for Hash {
    type Error = HashError;

    fn try_from(bytes: &[u8]) -> Result<Self, HashError> {
        Ok(Self(bytes.try_into().map_err(|_| HashError)?))
    }
}

impl TryFrom<String> for Hash {
    type Error = HashError;

    fn try_from(text: String) -> Result<Self, HashError> {
        Self::from_hexadecimal(&text)
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}

/// The 64 digits of 32 bytes, without a text of their own on the heap.
fn with_digits<T>(bytes: &[u8; 32], use_them: impl FnOnce(&str) -> T) -> T {
    let mut digits = [0; 64];
    // Twice the length is there, and hexadecimal digits are ASCII.
    let _ = hex::encode_to_slice(bytes, &mut digits);
    use_them(std::str::from_utf8(&digits).unwrap_or_default())
}

impl Serialize for Hash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        with_digits(&self.0, |digits| serializer.serialize_str(digits))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_digits(&self.0, |digits| formatter.write_str(digits))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The hash of a leaf: SHA-256 of `0x00` and the payload's exact bytes.
#[must_use]
pub fn leaf_hash(payload: &[u8]) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([0]);
    hasher.update(payload);
    Hash(hasher.finalize().into())
}

/// The hash of an inner node: SHA-256 of `0x01` and both children.
#[must_use]
pub fn node_hash(left: Hash, right: Hash) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([1]);
    hasher.update(left.0);
    hasher.update(right.0);
    Hash(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nodes_bytes_used_as_a_leaf_are_another_hash() {
        let (left, right) = (leaf_hash(b"left"), leaf_hash(b"right"));
        let node = node_hash(left, right);
        let children = [left.0, right.0].concat();
        assert_ne!(leaf_hash(&children), node);
        let mut prefixed = vec![1];
        prefixed.extend(&children);
        assert_ne!(leaf_hash(&prefixed), node);
    }

    #[test]
    fn a_hash_has_one_spelling() {
        let hash = leaf_hash(b"");
        let text = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
        assert_eq!(hash.to_string(), text);
        assert_eq!(Hash::from_hexadecimal(text), Ok(hash));
        assert!(Hash::from_hexadecimal(&text.to_uppercase()).is_err());
        assert!(Hash::from_hexadecimal(&text[2..]).is_err());
        assert_eq!(Hash::from_base64(&hash.to_base64()), Ok(hash));
        assert!(Hash::from_base64(hash.to_base64().trim_end_matches('=')).is_err());
    }
}
