//! Which policy made a decision: the hash a line names against the files that are given.

use std::path::PathBuf;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::verdict::Verdict;

/// The hashes of the policies that may have decided.
pub struct Policies {
    hashes: Vec<String>,
}

impl Policies {
    /// Reads policy files; the hash is SHA-256 of a file's bytes.
    pub fn read(paths: &[PathBuf]) -> Result<Self, Verdict> {
        let hashes = paths
            .iter()
            .map(|path| {
                let bytes = std::fs::read(path)
                    .map_err(|error| Verdict::Malformed(format!("{}: {error}", path.display())))?;
                Ok(hex::encode(Sha256::digest(bytes)))
            })
            .collect::<Result<_, Verdict>>()?;
        Ok(Self { hashes })
    }

    /// Whether a line says that one of these decided; a line without a policy says nothing.
    pub fn made(&self, payload: &Value) -> bool {
        let named = payload
            .get("policy")
            .and_then(|policy| policy.get("sha256"));
        self.hashes.is_empty()
            || named.is_none_or(|named| {
                named
                    .as_str()
                    .is_some_and(|named| self.hashes.iter().any(|hash| hash == named))
            })
    }

    /// Whether a policy version, `NAME@HASH`, is one of these.
    pub fn named(&self, version: Option<&str>) -> bool {
        let named = version.and_then(|version| version.rsplit_once('@'));
        self.hashes.is_empty()
            || named.is_some_and(|(_, named)| self.hashes.iter().any(|hash| hash == named))
    }
}
