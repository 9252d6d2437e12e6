//! The call that a decision is about, exactly as it was held.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Hash;

/// Domain separation of the digest.
const DIGEST_CONTEXT: &[u8] = b"countersign/held-call/v1\0";

/// What a decision is bound to. Nothing of it may differ when the call is forwarded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallOpening {
    /// Random or keyed, so that the digest tells nothing about values that are easy to guess.
    pub salt: Hash,
    /// The server, by the name the policy knows it under.
    pub server: String,
    /// The method.
    pub method: String,
    /// The tool, where the method is `tools/call`.
    pub tool: Option<String>,
    /// The pin of the tool's definition when the call was held.
    pub definition: Option<String>,
    /// Whose call.
    pub identity: String,
    /// SHA-256 of the policy file.
    pub policy_sha256: String,
    /// The message, byte for byte as the server receives it.
    pub message: String,
}

impl CallOpening {
    /// SHA-256 over everything, each part with its length before it.
    #[must_use]
    pub fn digest(&self) -> Hash {
        let mut hasher = Sha256::new();
        hasher.update(DIGEST_CONTEXT);
        hasher.update(self.salt.as_bytes());
        let mut part = |text: Option<&str>| {
            // What is absent and what is empty differ.
            hasher.update([u8::from(text.is_some())]);
            let text = text.unwrap_or_default();
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        };
        part(Some(&self.server));
        part(Some(&self.method));
        part(self.tool.as_deref());
        part(self.definition.as_deref());
        part(Some(&self.identity));
        part(Some(&self.policy_sha256));
        part(Some(&self.message));
        <[u8; 32]>::from(hasher.finalize()).into()
    }
}

/// What a hold is about, before it is decided.
#[derive(Clone, Debug)]
pub struct HeldCall {
    /// The hold's own name.
    pub approval: [u8; 16],
    /// The call's own name.
    pub call: [u8; 16],
    /// Leaf of the line that says it is held.
    pub held: Hash,
    /// The exact call.
    pub opening: CallOpening,
    /// The rule that holds it.
    pub rule: String,
    /// The policy's name.
    pub policy: String,
    /// The commit the call is about.
    pub commit: Option<String>,
    /// When it was held, RFC 3339 in UTC with milliseconds.
    pub held_at: String,
    /// Until when it may be decided, in the same form.
    pub expires_at: String,
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A call to decide about.
    pub fn opening() -> CallOpening {
        CallOpening {
            salt: [7; 32].into(),
            server: "files".into(),
            method: "tools/call".into(),
            tool: Some("write_file".into()),
            definition: None,
            identity: "local".into(),
            policy_sha256: "aa".repeat(32),
            message: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#.into(),
        }
    }

    #[test]
    fn a_digest_names_every_part_of_the_call() {
        let of = |change: fn(&mut CallOpening)| {
            let mut opening = opening();
            change(&mut opening);
            opening.digest()
        };
        let digests = [
            of(|_| {}),
            of(|call| call.salt = [8; 32].into()),
            of(|call| call.server = "other".into()),
            of(|call| call.method = "x/y".into()),
            of(|call| call.tool = None),
            of(|call| call.tool = Some(String::new())),
            of(|call| call.definition = Some("aa".into())),
            of(|call| call.identity = "mallory".into()),
            of(|call| call.policy_sha256 = "bb".repeat(32)),
            of(|call| call.message.push(' ')),
            // One part's end is not the next part's beginning.
            of(|call| {
                call.server = "filest".into();
                call.method = "ools/call".into();
            }),
        ];
        let different: std::collections::BTreeSet<_> = digests.iter().collect();
        assert_eq!(different.len(), digests.len());
    }
}
