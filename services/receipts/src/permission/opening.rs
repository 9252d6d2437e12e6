//! Opening a commitment (§6.7 step 3): the private request behind a receipt, shown to somebody.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::projection::{build_projection, tag_of};
use super::refusal::{Refusal, RefusalCode};

/// The members that a minted request holds besides what was asked.
pub(super) const BINDING: &str = "receiptBinding";
pub(super) const SUMMARY: &str = "receiptSummary";
const BINDING_MEMBERS: [&str; 3] = ["companyId", "idemKey", "inputHash"];

/// Something that whoever shows the request may also claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stated<T> {
    /// Nothing was claimed; nothing is compared.
    #[default]
    Nothing,
    /// This was claimed.
    This(T),
}

/// The private request, its salt, and what is claimed about it.
#[derive(Clone, Debug, Default)]
pub struct Opening<'a> {
    /// The request's text, byte for byte.
    pub request_json: &'a str,
    /// The 32 bytes that were hashed before it.
    pub salt: &'a [u8],
    /// The summary, or that there is none.
    pub summary: Stated<Option<&'a str>>,
    /// Any of `companyId`, `idemKey` and `inputHash`.
    pub binding: Stated<Value>,
}

/// What an opened request commits to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The summary.
    pub summary: Option<String>,
    /// `companyId`, `idemKey` and `inputHash`, each a text or null.
    pub binding: Map<String, Value>,
}

/// The commitment to a request.
pub(super) fn commitment(salt: &[u8], request_json: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(salt);
    hasher.update(request_json);
    format!("sha256:{}", hex::encode(hasher.finalize()))
}

impl Opening<'_> {
    pub(super) fn check(&self, payload: &Map<String, Value>) -> Result<Opened, Refusal> {
        let refuse = |code, what: &str| Err(Refusal::new(code, what));
        let signed = payload.get("requestCommitment").and_then(Value::as_str);
        if self.salt.len() != 32 || signed != Some(&commitment(self.salt, self.request_json)) {
            return refuse(
                RefusalCode::RequestCommitmentMismatch,
                "request and salt do not open the signed commitment",
            );
        }
        let request: Value = serde_json::from_str(self.request_json).unwrap_or_default();
        let request = request.as_object().cloned().unwrap_or_default();
        let summary = self.check_summary(&request)?;
        let binding = self.check_binding(&request)?;
        let shown = payload.get("publicProjectionJson").and_then(Value::as_str);
        let built = shown
            .and_then(tag_of)
            .and_then(|tag| build_projection(&tag, self.request_json));
        if built.as_deref() != shown {
            return refuse(
                RefusalCode::PublicProjectionMismatch,
                "the projection does not come out of the committed request",
            );
        }
        Ok(Opened { summary, binding })
    }

    fn check_summary(&self, request: &Map<String, Value>) -> Result<Option<String>, Refusal> {
        let mismatch = |what: &str| Refusal::new(RefusalCode::CommittedSummaryMismatch, what);
        let committed = match request.get(SUMMARY) {
            None => None,
            Some(Value::String(summary)) => Some(summary.clone()),
            Some(_) => return Err(mismatch("the committed summary is no text")),
        };
        match self.summary {
            Stated::This(stated) if stated != committed.as_deref() => {
                Err(mismatch("the stated summary is not the committed one"))
            }
            _ => Ok(committed),
        }
    }

    fn check_binding(&self, request: &Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
        let mismatch = |what: &str| Refusal::new(RefusalCode::ReceiptBindingMismatch, what);
        let binding = request
            .get(BINDING)
            .and_then(Value::as_object)
            .filter(|binding| {
                binding.len() == BINDING_MEMBERS.len()
                    && BINDING_MEMBERS.iter().all(|name| {
                        matches!(binding.get(*name), Some(Value::String(_) | Value::Null))
                    })
            })
            .ok_or_else(|| mismatch("the committed request is not bound to a workspace"))?;
        if let Stated::This(stated) = &self.binding {
            let holds = stated.as_object().is_some_and(|stated| {
                stated
                    .iter()
                    .all(|(name, value)| binding.get(name) == Some(value))
            });
            if !holds {
                return Err(mismatch("a stated value is not the committed one"));
            }
        }
        Ok(binding.clone())
    }
}
