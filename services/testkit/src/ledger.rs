//! The export of a bank's ledger and of the log over it: what an auditor takes away and `countersign-verify ledger` reads without a network.
//!
//! One JSON object a line. First the signed head of the log, then every event under it in the log's order, the head of each customer's chain,
//! every transfer and every entry. Amounts are decimal strings, ids as they stand in receipts.

use std::io::Write;

use anyhow::Context;
use countersign_domain::{Currency, MinorUnits, Money};
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection, Row};

/// What one export holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Events of the log.
    pub events: u64,
    /// Transfers.
    pub transfers: u64,
    /// Entries.
    pub entries: u64,
}

/// Writes the export of one moment. The login must read everything: an operator's, no service's.
///
/// # Errors
/// When there is no signed head yet, the database fails or nothing can be written.
pub async fn export(database: &mut PgConnection, out: &mut impl Write) -> anyhow::Result<Exported> {
    let mut moment = database.begin().await?;
    // One moment for all of it: what comes in meanwhile is in the next export.
    sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        .execute(&mut *moment)
        .await?;
    let mut exported = Exported::default();
    let head: Option<String> =
        sqlx::query_scalar("SELECT note FROM bank.log_checkpoint ORDER BY tree_size DESC LIMIT 1")
            .fetch_optional(&mut *moment)
            .await?;
    let head = head.context("the log has no signed head yet")?;
    line(out, &json!({"is": "head", "note": head}))?;
    let mut events = sqlx::query(
        "SELECT leaf_index, 'cus_' || replace(customer_id::text, '-', '') AS customer, sequence, convert_from(payload, 'UTF8') AS payload
           FROM bank.bank_event
         UNION ALL SELECT leaf_index, 'bank', sequence, convert_from(payload, 'UTF8') FROM bank.log_event
          ORDER BY 1 NULLS LAST, 2, 3",
    )
    .fetch(&mut *moment);
    while let Some(row) = events.try_next().await? {
        exported.events += 1;
        let leaf: Option<i64> = row.get("leaf_index");
        line(
            out,
            &json!({"is": "event", "leaf": leaf, "customer": text(&row, "customer"), "sequence": row.get::<i64, _>("sequence"),
                "payload": text(&row, "payload")}),
        )?;
    }
    drop(events);
    let mut chains = sqlx::query(
        "SELECT 'cus_' || replace(customer_id::text, '-', '') AS customer, sequence, encode(chain_hash, 'hex') AS hash
           FROM bank.event_head
         UNION ALL SELECT 'bank', e.sequence, encode(e.chain_hash, 'hex') FROM bank.log_event e
           WHERE e.sequence = (SELECT max(sequence) FROM bank.log_event) ORDER BY 1",
    )
    .fetch(&mut *moment);
    while let Some(row) = chains.try_next().await? {
        line(
            out,
            &json!({"is": "chain", "customer": text(&row, "customer"), "sequence": row.get::<i64, _>("sequence"), "hash": text(&row, "hash")}),
        )?;
    }
    drop(chains);
    let mut transfers = sqlx::query(
        "SELECT 'cus_' || replace(t.customer_id::text, '-', '') AS customer, 'trf_' || replace(t.transfer_id::text, '-', '') AS transfer,
                'acc_' || replace(t.account_id::text, '-', '') AS account, t.kind, t.state, t.amount_minor_units, t.currency, t.counterparty_iban,
                'act_' || replace(t.action_id::text, '-', '') AS action, t.line_number,
                'trf_' || replace(t.origin_transfer_id::text, '-', '') AS origin,
                to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS made
           FROM bank.transfer t ORDER BY t.created_at, t.customer_id, t.transfer_id",
    )
    .fetch(&mut *moment);
    while let Some(row) = transfers.try_next().await? {
        exported.transfers += 1;
        line(
            out,
            &json!({"is": "transfer", "customer": text(&row, "customer"), "transfer": text(&row, "transfer"), "account": text(&row, "account"),
                "kind": text(&row, "kind"), "state": text(&row, "state"), "amount": amount(&row)?, "currency": text(&row, "currency"),
                "counterparty": row.get::<Option<String>, _>("counterparty_iban"), "action": row.get::<Option<String>, _>("action"),
                "line": row.get::<Option<i16>, _>("line_number"), "origin": row.get::<Option<String>, _>("origin"), "made": text(&row, "made")}),
        )?;
    }
    drop(transfers);
    let mut entries = sqlx::query(
        "SELECT 'cus_' || replace(customer_id::text, '-', '') AS customer, 'trf_' || replace(transfer_id::text, '-', '') AS transfer, leg, book,
                'acc_' || replace(account_id::text, '-', '') AS account, amount_minor_units, currency,
                to_char(booked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS booked
           FROM bank.entry ORDER BY customer_id, transfer_id, leg",
    )
    .fetch(&mut *moment);
    while let Some(row) = entries.try_next().await? {
        exported.entries += 1;
        line(
            out,
            &json!({"is": "entry", "customer": text(&row, "customer"), "transfer": text(&row, "transfer"), "leg": row.get::<i16, _>("leg"),
                "book": text(&row, "book"), "account": row.get::<Option<String>, _>("account"), "amount": amount(&row)?,
                "currency": text(&row, "currency"),
 "booked": text(&row, "booked")}),
        )?;
    }
    drop(entries);
    moment.commit().await?;
    out.flush()?;
    Ok(exported)
}

fn text(row: &sqlx::postgres::PgRow, column: &str) -> String {
    row.get(column)
}

/// A signed decimal: a leg is negative where money leaves.
fn amount(row: &sqlx::postgres::PgRow) -> anyhow::Result<String> {
    let count: i64 = row.get("amount_minor_units");
    let currency: Currency = text(row, "currency")
        .parse()
        .map_err(|_| anyhow::anyhow!("a currency of the bank"))?;
    let amount = i64::try_from(count.unsigned_abs())
        .ok()
        .and_then(MinorUnits::new)
        .context("an amount of the bank")?;
    let sign = if count < 0 { "-" } else { "" };
    Ok(format!("{sign}{}", Money { amount, currency }.to_wire()))
}

fn line(out: &mut impl Write, value: &Value) -> anyhow::Result<()> {
    writeln!(out, "{value}").context("write the export")
}
