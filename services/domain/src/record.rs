//! The confirm record R: exactly what a card shows, and the hash H that a Confirm carries.
//!
//! `H = SHA-256("countersign/confirm/v1" ‖ RFC 8785 bytes of R)`; the executed record adds the
//! customer's note, `E = SHA-256("countersign/executed/v1" ‖ H ‖ note)`, and a passkey signs the challenge
//! `SHA-256(H ‖ nonce ‖ SHA-256(note))` (design §5).

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Domain separation of H.
pub const CONFIRM_CONTEXT: &[u8] = b"countersign/confirm/v1";
/// Domain separation of E.
pub const EXECUTED_CONTEXT: &[u8] = b"countersign/executed/v1";
/// Version of the record's form.
pub const RECORD_VERSION: u32 = 1;

/// One line of the card as it is displayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DisplayRow {
    /// What the line is about (`to`, `from`, `amount`), bank-made.
    pub label: String,
    /// The value in the form it is shown, with outsiders' names as stored.
    pub value: String,
}

/// One payment of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordLine {
    /// The payee's or own account's id in text.
    pub payee: String,
    /// The account the money goes to (IBAN without spaces).
    pub payee_account: String,
    /// The payee's name as the card shows it.
    pub payee_name: String,
    /// How much, as a decimal string on the wire, so that no reader rounds it.
    pub amount: String,
    /// The fee, as a decimal string.
    pub fee: String,
    /// Result of the name check: `not_checked`, `match`, `close`, `no_match`, `unavailable`.
    pub name_check: String,
}

/// What the customer countersigns. Built from stored values only; holds no note, no chat text,
/// nothing a model wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfirmRecord {
    /// [`RECORD_VERSION`].
    pub v: u32,
    /// The customer's id in text.
    pub customer: String,
    /// The action's id in text.
    pub action: String,
    /// The version of its values.
    pub action_version: u32,
    /// What it does ([`crate::ActionKind::text`]).
    pub kind: String,
    /// The account the money leaves, its id in text; absent where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The currency of every amount in the record; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The payments, in order; empty where none is made.
    pub lines: Vec<RecordLine>,
    /// The id in text of the card, order or transaction the action is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Other values that take effect, by name (`frequency`, `start_date`, `reason`, values typed on the panel).
    pub terms: Vec<DisplayRow>,
    /// Codes of the warnings shown.
    pub warnings: Vec<String>,
    /// Version of the bank's rules.
    pub rules_version: String,
    /// Version of the grounding code.
    pub provenance_version: String,
    /// Salted SHA-256 of the message that grounds the request, hexadecimal.
    pub grounding: String,
    /// Every label and value displayed, in order.
    pub display: Vec<DisplayRow>,
    /// The language and region the card was drawn in.
    pub locale: String,
    /// When the action was made, RFC 3339 in UTC with milliseconds.
    pub created: String,
    /// When it ends, RFC 3339 in UTC with milliseconds.
    pub expires: String,
}

/// The record could not be put into canonical form. It never is for a record built by the bank.
#[derive(Debug, thiserror::Error)]
#[error("put the confirm record into canonical form")]
pub struct CanonicalError(#[from] serde_json::Error);

impl ConfirmRecord {
    /// The RFC 8785 bytes of the record.
    ///
    /// # Errors
    /// When the serialiser fails, which it does not for strings and small integers.
    pub fn canonical_bytes(&self) -> Result<Vec<u8>, CanonicalError> {
        Ok(serde_json_canonicalizer::to_vec(self)?)
    }

    /// H of the record.
    ///
    /// # Errors
    /// As [`ConfirmRecord::canonical_bytes`].
    pub fn confirm_hash(&self) -> Result<[u8; 32], CanonicalError> {
        Ok(confirm_hash(&self.canonical_bytes()?))
    }
}

/// H over bytes that already are the canonical form.
pub fn confirm_hash(canonical: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(CONFIRM_CONTEXT);
    hash.update(canonical);
    hash.finalize().into()
}

/// E: what was executed, the record's H and the customer's note.
pub fn executed_hash(confirm_hash: &[u8; 32], note: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(EXECUTED_CONTEXT);
    hash.update(confirm_hash);
    hash.update(note.as_bytes());
    hash.finalize().into()
}

/// The challenge a passkey signs: bound to the record, to one showing of it and to the note.
pub fn challenge(confirm_hash: &[u8; 32], nonce: &[u8], note: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(confirm_hash);
    hash.update(nonce);
    hash.update(Sha256::digest(note.as_bytes()));
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ConfirmRecord {
        ConfirmRecord {
            v: RECORD_VERSION,
            customer: "cus_1".into(),
            action: "act_1".into(),
            action_version: 1,
            kind: "transfer".into(),
            from: Some("acc_1".into()),
            currency: Some("EUR".into()),
            lines: vec![RecordLine {
                payee: "pye_1".into(),
                payee_account: "DE89370400440532013000".into(),
                payee_name: "Bob Smith".into(),
                amount: "20.00".into(),
                fee: "0.00".into(),
                name_check: "not_checked".into(),
            }],
            target: None,
            terms: vec![],
            warnings: vec![],
            rules_version: "r1".into(),
            provenance_version: "p1".into(),
            grounding: "00".into(),
            display: vec![DisplayRow {
                label: "to".into(),
                value: "Bob Smith".into(),
            }],
            locale: "en".into(),
            created: "2026-11-30T10:00:00.000Z".into(),
            expires: "2026-11-30T10:10:00.000Z".into(),
        }
    }

    #[test]
    fn any_change_of_the_record_changes_its_hash() {
        let original = serde_json::to_value(record()).unwrap();
        let hash = record().confirm_hash().unwrap();
        let mut changed = 0;
        let fields: Vec<String> = original.as_object().unwrap().keys().cloned().collect();
        for field in fields {
            let mut other = original.clone();
            let value = other.get_mut(&field).unwrap();
            *value = match value.clone() {
                serde_json::Value::String(text) => (text + "x").into(),
                serde_json::Value::Number(number) => (number.as_u64().unwrap() + 1).into(),
                serde_json::Value::Array(mut items) => {
                    let extra = items.first().cloned();
                    match (field.as_str(), extra) {
                        ("warnings", _) => vec![serde_json::json!("new")].into(),
                        (_, Some(extra)) => {
                            items.push(extra);
                            items.into()
                        }
                        _ => vec![serde_json::json!({"label": "a", "value": "b"})].into(),
                    }
                }
                other => panic!("unexpected {other}"),
            };
            let other: ConfirmRecord = serde_json::from_value(other).unwrap();
            assert_ne!(other.confirm_hash().unwrap(), hash, "{field}");
            changed += 1;
        }
        assert!(changed >= 15);
    }

    #[test]
    fn the_note_is_part_of_what_is_executed_and_signed() {
        let hash = record().confirm_hash().unwrap();
        assert_ne!(executed_hash(&hash, "rent"), executed_hash(&hash, "Rent"));
        assert_ne!(
            challenge(&hash, b"n", "rent"),
            challenge(&hash, b"n", "rent ")
        );
        assert_ne!(
            challenge(&hash, b"n", "rent"),
            challenge(&hash, b"m", "rent")
        );
    }
}
