//! Decisions of another system, such as a code forge's review: signed, in time, once.
//!
//! The form is that of the Standard Webhooks specification: `webhook-id` names the message,
//! `webhook-timestamp` says when it was made, `webhook-signature` is `v1,` and the base64 of
//! HMAC-SHA-256 over `id.timestamp.body`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_receipts::{ApprovalWay, Approver, Hash};
use countersign_serve::Problem;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use serde::Deserialize;
use sha2::Sha256;

use super::decision::{Choice, Decision};
use super::page::{Page, hold_id, problem};
use crate::clock::Now;

/// How far a message's time may be from the door's, in seconds, either way.
const TOLERANCE_SECONDS: i64 = 300;
/// Most message names remembered. Beyond it messages are refused rather than forgotten.
const SEEN_MAX: usize = 4_096;
/// Longest name of a message, in bytes.
const ID_BYTES_MAX: usize = 128;
/// Most signatures tried of one message; a sender has several while its secret changes.
const SIGNATURES_MAX: usize = 4;
/// Shortest secret, in bytes.
const SECRET_BYTES_MIN: usize = 24;

/// The other system: its secret, and which of its messages were taken.
pub struct Webhook {
    key: Hmac<Sha256>,
    /// Names of messages, with the time after which they would be too old anyway.
    seen: Mutex<HashMap<Box<str>, i64>>,
}

/// A secret that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "read the webhook's secret: `whsec_` and base64 of at least {SECRET_BYTES_MIN} bytes are wanted"
)]
pub struct SecretError;

/// Why a message is not taken. The sender learns one answer for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// A header is missing, repeated or malformed.
    #[error("take a webhook message: a header is missing or malformed")]
    Headers,
    /// It is too old or from the future.
    #[error("take a webhook message: its time is too far away")]
    Time,
    /// It is not signed with the secret.
    #[error("take a webhook message: not signed with the secret")]
    Signature,
    /// It was taken before.
    #[error("take a webhook message: it was taken before")]
    Replayed,
    /// Too many came to remember.
    #[error("take a webhook message: too many came")]
    TooMany,
}

impl Webhook {
    /// The system with this secret.
    ///
    /// # Errors
    /// [`SecretError`].
    pub fn new(secret: &str) -> Result<Self, SecretError> {
        let encoded = secret.strip_prefix("whsec_").ok_or(SecretError)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| SecretError)?;
        if bytes.len() < SECRET_BYTES_MIN {
            return Err(SecretError);
        }
        Ok(Self {
            key: Hmac::new_from_slice(&bytes).map_err(|_| SecretError)?,
            seen: Mutex::default(),
        })
    }

    /// Checks a message and remembers it.
    ///
    /// # Errors
    /// [`NotTaken`]; nothing of its body is looked at then.
    pub fn take(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        unix_seconds: i64,
    ) -> Result<(), NotTaken> {
        let id = only(headers, "webhook-id")?;
        let stamp = only(headers, "webhook-timestamp")?;
        let signatures = only(headers, "webhook-signature")?;
        let plain = id
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'.');
        if id.is_empty() || id.len() > ID_BYTES_MAX || !plain {
            return Err(NotTaken::Headers);
        }
        let digits = !stamp.is_empty() && stamp.bytes().all(|byte| byte.is_ascii_digit());
        let time: i64 = match stamp.parse() {
            Ok(time) if digits => time,
            _ => return Err(NotTaken::Headers),
        };
        if time.abs_diff(unix_seconds) > TOLERANCE_SECONDS.unsigned_abs() {
            return Err(NotTaken::Time);
        }
        if !self.is_signed(id, stamp, signatures, body) {
            return Err(NotTaken::Signature);
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= SEEN_MAX {
            seen.retain(|_, until| *until >= unix_seconds);
            if seen.len() >= SEEN_MAX {
                return Err(NotTaken::TooMany);
            }
        }
        match seen.insert(id.into(), time.saturating_add(TOLERANCE_SECONDS)) {
            None => Ok(()),
            Some(_) => Err(NotTaken::Replayed),
        }
    }

    /// The signature of a message that goes the other way.
    pub fn sign(&self, id: &str, stamp: &str, body: &[u8]) -> String {
        let tag = self.mac(id, stamp, body).finalize().into_bytes();
        format!("v1,{}", STANDARD.encode(tag))
    }

    fn mac(&self, id: &str, stamp: &str, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.key.clone();
        for part in [id.as_bytes(), b".", stamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        mac
    }

    fn is_signed(&self, id: &str, stamp: &str, signatures: &str, body: &[u8]) -> bool {
        signatures.split(' ').take(SIGNATURES_MAX).any(|signature| {
            let encoded = signature.strip_prefix("v1,");
            let Some(Ok(tag)) = encoded.map(|encoded| STANDARD.decode(encoded)) else {
                return false;
            };
            // Compares in constant time.
            self.mac(id, stamp, body).verify_slice(&tag).is_ok()
        })
    }
}

fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<&'h str, NotTaken> {
    let mut values = headers.get_all(name).iter();
    match (values.next().map(|value| value.to_str()), values.next()) {
        (Some(Ok(value)), None) => Ok(value),
        _ => Err(NotTaken::Headers),
    }
}

/// `POST /webhook`.
pub async fn post_webhook(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let webhook = page.webhook.as_ref().ok_or(Problem::not_found())?;
    let now = Now::read();
    webhook
        .take(&headers, &body, now.utc.unix_timestamp())
        .map_err(|reason| {
            tracing::warn!(%reason, "Refused a webhook message");
            Problem::unauthorized()
        })?;
    let message: Message = serde_json::from_slice(&body).map_err(|_| {
        Problem::unprocessable("invalid_body", "The JSON has not the expected members")
    })?;
    let decision = Decision {
        hold: hold_id(&message.approval)?,
        digest: message.digest,
        choice: match message.decision {
            Choices::Approve => Choice::Approve,
            Choices::Deny => Choice::Deny,
        },
        approver: Approver {
            way: ApprovalWay::Webhook,
            name: message.approver,
        },
        note: message.note,
        commit: message.commit,
    };
    let decided = tokio::task::spawn_blocking(move || page.holds.decide(decision, Now::read()));
    match decided.await {
        Ok(Ok(past)) => Ok(axum::Json(
            serde_json::json!({"why": past.why.code(), "receipt": past.leaf}),
        )
        .into_response()),
        Ok(Err(error)) => Err(problem(&error)),
        Err(_) => Err(Problem::internal()),
    }
}

/// A decision as another system sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    /// The hold.
    approval: String,
    /// Of the call that was looked at.
    digest: Hash,
    decision: Choices,
    /// The person who decided there.
    approver: String,
    #[serde(default)]
    note: Option<String>,
    #[serde(default)]
    commit: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choices {
    Approve,
    Deny,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::testing::{webhook_secret as secret, webhook_signature as signature};
    use http::{HeaderName, HeaderValue};

    const NOW: i64 = 1_800_000_000;
    const BODY: &[u8] = b"{}";

    fn headers(values: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in values {
            map.append(
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        map
    }

    fn signed(key: u8, id: &str, seconds: i64) -> HeaderMap {
        let stamp = seconds.to_string();
        headers(&[
            ("webhook-id", id),
            ("webhook-timestamp", &stamp),
            ("webhook-signature", &signature(key, id, &stamp, BODY)),
        ])
    }

    #[test]
    fn a_message_is_taken_once() {
        let webhook = Webhook::new(&secret(1)).unwrap();
        assert_eq!(webhook.take(&signed(1, "a", NOW), BODY, NOW), Ok(()));
        assert_eq!(
            webhook.take(&signed(1, "a", NOW), BODY, NOW),
            Err(NotTaken::Replayed)
        );
        // A fresh time does not make it another message.
        assert_eq!(
            webhook.take(&signed(1, "a", NOW + 100), BODY, NOW + 100),
            Err(NotTaken::Replayed)
        );
        assert_eq!(webhook.take(&signed(1, "b", NOW), BODY, NOW), Ok(()));
    }

    #[test]
    fn what_is_not_signed_in_time_is_refused_and_uses_nothing_up() {
        let webhook = Webhook::new(&secret(1)).unwrap();
        let good = signed(1, "a", NOW);
        assert_eq!(webhook.take(&good, b"{ }", NOW), Err(NotTaken::Signature));
        assert_eq!(
            webhook.take(&signed(2, "a", NOW), BODY, NOW),
            Err(NotTaken::Signature)
        );
        for now in [NOW - 301, NOW + 301] {
            assert_eq!(webhook.take(&good, BODY, now), Err(NotTaken::Time));
        }
        let other = |name: &'static str, value: &str| {
            let mut changed = good.clone();
            changed.insert(name, HeaderValue::from_str(value).unwrap());
            webhook.take(&changed, BODY, NOW)
        };
        assert_eq!(other("webhook-id", "b"), Err(NotTaken::Signature));
        let later = (NOW + 1).to_string();
        assert_eq!(other("webhook-timestamp", &later), Err(NotTaken::Signature));
        for stamp in ["", "+1800000000", "-5", "1e9", "soon"] {
            assert_eq!(other("webhook-timestamp", stamp), Err(NotTaken::Headers));
        }
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            let mut missing = good.clone();
            missing.remove(name);
            assert_eq!(webhook.take(&missing, BODY, NOW), Err(NotTaken::Headers));
            let mut twice = good.clone();
            twice.append(name, good[name].clone());
            assert_eq!(webhook.take(&twice, BODY, NOW), Err(NotTaken::Headers));
        }
        let tag = good["webhook-signature"].to_str().unwrap();
        for wrong in ["", "v1,", "v1,AAAA", &tag[3..], &tag.replace("v1", "v2")] {
            assert_eq!(other("webhook-signature", wrong), Err(NotTaken::Signature));
        }
        // Nothing before used the name up, and one good signature among several is enough.
        let both = format!("v1,AAAA {tag}");
        assert_eq!(other("webhook-signature", &both), Ok(()));
    }

    #[test]
    fn a_flood_of_names_is_refused_and_not_forgotten() {
        let webhook = Webhook::new(&secret(1)).unwrap();
        for number in 0..SEEN_MAX {
            let name = number.to_string();
            assert_eq!(webhook.take(&signed(1, &name, NOW), BODY, NOW), Ok(()));
        }
        assert_eq!(
            webhook.take(&signed(1, "more", NOW), BODY, NOW),
            Err(NotTaken::TooMany)
        );
        assert_eq!(
            webhook.take(&signed(1, "0", NOW), BODY, NOW),
            Err(NotTaken::TooMany)
        );
        let later = NOW + 301;
        assert_eq!(webhook.take(&signed(1, "more", later), BODY, later), Ok(()));
    }

    #[test]
    fn a_weak_secret_is_refused() {
        for wrong in ["", "secret", "whsec_", "whsec_AAAA", "whsec_!"] {
            assert!(Webhook::new(wrong).is_err(), "{wrong}");
        }
    }
}
