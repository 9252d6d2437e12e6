//! The payloads that the panel's acts leave in the customer's chain: RFC 8785 bytes of ids, hashes and codes.

use countersign_domain::{ActionId, ActionKind, CustomerId, TransferId, record::ConfirmRecord};
use countersign_receipts::{PayloadError, canonical};
use countersign_step_up::Proof;
use serde::Serialize;
use sqlx::{Postgres, Transaction};
use time::{OffsetDateTime, macros::format_description};

use crate::ActError;

/// RFC 3339 in UTC with milliseconds, as it stands in records and events.
pub(crate) fn timestamp(at: OffsetDateTime) -> String {
    let form =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    at.to_offset(time::UtcOffset::UTC)
        .format(&form)
        .unwrap_or_else(|_| at.unix_timestamp().to_string())
}

#[derive(Serialize)]
struct PlainEvent<'a> {
    event: &'a str,
    action: ActionId,
    action_version: i32,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<i16>,
}

/// What one event says beyond its kind, action and time.
#[derive(Default)]
pub(crate) struct Detail<'a> {
    pub confirm_hash: Option<[u8; 32]>,
    pub slot: Option<&'a str>,
    /// The payment it is about, from 1.
    pub line: Option<i16>,
}

/// Records an act of the panel in the transaction of what it records.
pub(crate) async fn record(
    transaction: &mut Transaction<'static, Postgres>,
    event: &'static str,
    action: ActionId,
    action_version: i32,
    at: OffsetDateTime,
    detail: Detail<'_>,
) -> Result<(), ActError> {
    let payload = canonical(&PlainEvent {
        event,
        action,
        action_version,
        at: timestamp(at),
        confirm_hash: detail.confirm_hash.map(hex::encode),
        slot: detail.slot,
        line: detail.line,
    })?;
    sqlx::query_scalar!(
        "SELECT bank.append_event($1, $2, $3)",
        event,
        action.uuid(),
        payload
    )
    .fetch_one(&mut **transaction)
    .await?;
    Ok(())
}

#[derive(Serialize)]
struct ConfirmedLine<'a> {
    transfer: TransferId,
    payee_account: &'a str,
    payee_name: &'a str,
    amount: &'a str,
}

#[derive(Serialize)]
struct ConfirmedEvent<'a> {
    event: &'static str,
    /// Why the bank waits; absent where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    customer: CustomerId,
    action: ActionId,
    action_version: u32,
    kind: ActionKind,
    at: String,
    confirm_hash: String,
    executed_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    lines: Vec<ConfirmedLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_up: Option<StepUpMark>,
}

/// Which passkey agreed, by hashes: of its credential id, and of the client data it signed.
#[derive(Serialize)]
struct StepUpMark {
    client_data: String,
    credential: String,
    kind: &'static str,
}

/// The payload of a Confirm after which the bank waits: the same words, and why. No transfer is made yet.
pub(crate) fn held(
    record: &ConfirmRecord,
    customer: CustomerId,
    (action, kind): (ActionId, ActionKind),
    at: OffsetDateTime,
    hashes: ([u8; 32], [u8; 32]),
    (reason, proof): (&str, Option<&Proof>),
) -> Result<Vec<u8>, PayloadError> {
    canonical(&ConfirmedEvent {
        event: "held",
        reason: Some(reason),
        step_up: proof.map(mark),
        ..told(record, customer, (action, kind), at, hashes, Vec::new())
    })
}

/// The payload of a Confirm: what ran, under which hash, as which transfers. It is what a receipt proves.
pub(crate) fn confirmed(
    record: &ConfirmRecord,
    customer: CustomerId,
    action: ActionId,
    kind: ActionKind,
    at: OffsetDateTime,
    (confirm_hash, executed_hash): ([u8; 32], [u8; 32]),
    (transfers, proof): (&[TransferId], Option<&Proof>),
) -> Result<Vec<u8>, PayloadError> {
    let lines = record
        .lines
        .iter()
        .zip(transfers)
        .map(|(line, transfer)| ConfirmedLine {
            transfer: *transfer,
            payee_account: &line.payee_account,
            payee_name: &line.payee_name,
            amount: &line.amount,
        })
        .collect();
    let hashes = (confirm_hash, executed_hash);
    canonical(&ConfirmedEvent {
        step_up: proof.map(mark),
        ..told(record, customer, (action, kind), at, hashes, lines)
    })
}

fn mark(proof: &Proof) -> StepUpMark {
    StepUpMark {
        client_data: hex::encode(proof.client_data_hash),
        credential: hex::encode(proof.credential_hash),
        kind: proof.kind.text(),
    }
}

fn told<'a>(
    record: &'a ConfirmRecord,
    customer: CustomerId,
    (action, kind): (ActionId, ActionKind),
    at: OffsetDateTime,
    (confirm_hash, executed_hash): ([u8; 32], [u8; 32]),
    lines: Vec<ConfirmedLine<'a>>,
) -> ConfirmedEvent<'a> {
    ConfirmedEvent {
        event: "confirmed",
        reason: None,
        customer,
        action,
        action_version: record.action_version,
        kind,
        at: timestamp(at),
        confirm_hash: hex::encode(confirm_hash),
        executed_hash: hex::encode(executed_hash),
        currency: record.currency.as_deref(),
        from: record.from.as_deref(),
        target: record.target.as_deref(),
        lines,
        step_up: None,
    }
}
