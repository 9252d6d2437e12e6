//! A new version of an action's values, written by the panel under the customer's lock.

use countersign_domain::ActionId;
use countersign_store::action::{StoredAction, StoredVersion};
use sqlx::{Postgres, Transaction};

use crate::ActError;

/// What the customer entered that makes the version.
pub(crate) struct NewEntry<'a> {
    pub slot: &'a str,
    pub line: i16,
    pub value: &'a str,
}

/// Stores `values` as the next version, with the entry that made it. The caller holds the customer's lock.
pub(crate) async fn write(
    transaction: &mut Transaction<'static, Postgres>,
    action: &StoredAction,
    values: &StoredVersion,
    entry: NewEntry<'_>,
    rules_version: &str,
) -> Result<i32, ActError> {
    let customer = action.customer.uuid();
    let id: ActionId = action.id;
    let version = action.values.version + 1;
    let moved = sqlx::query!(
        r#"UPDATE bank.pending_action SET current_version = $3
            WHERE customer_id = $1 AND action_id = $2 AND state = 'pending' AND current_version = $4"#,
        customer,
        id.uuid(),
        version,
        action.values.version
    )
    .execute(&mut **transaction)
    .await?;
    if moved.rows_affected() != 1 {
        return Err(ActError::SessionEnded);
    }
    sqlx::query!(
        r#"INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, card_id, order_id, transaction_id,
             frequency, start_date, dispute_reason, profile_field, typed, rules_version, provenance_version)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"#,
        customer,
        id.uuid(),
        version,
        values.currency.map(|currency| currency.code()),
        values.from_account.map(|id| id.uuid()),
        values.card.map(|id| id.uuid()),
        values.order.map(|id| id.uuid()),
        values.transaction.map(|id| id.uuid()),
        values.frequency.map(|frequency| frequency.text()),
        values.start_date,
        values.dispute_reason.map(|reason| reason.text()),
        values.profile_field.map(|field| field.text()),
        serde_json::Value::Object(values.typed.clone()),
        rules_version,
        countersign_provenance::VERSION
    )
    .execute(&mut **transaction)
    .await?;
    for line in &values.lines {
        sqlx::query!(
            r#"INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, own_account_id, amount_minor_units)
               VALUES ($1, $2, $3, $4, $5, $6, $7)"#,
            customer,
            id.uuid(),
            version,
            line.line_number,
            line.payee.map(|id| id.uuid()),
            line.own_account.map(|id| id.uuid()),
            line.amount.map(|amount| amount.count())
        )
        .execute(&mut **transaction)
        .await?;
    }
    sqlx::query!(
        r#"INSERT INTO bank.panel_entry (customer_id, action_id, version, slot, line_number, value) VALUES ($1, $2, $3, $4, $5, $6)"#,
        customer,
        id.uuid(),
        version,
        entry.slot,
        entry.line,
        entry.value
    )
    .execute(&mut **transaction)
    .await?;
    Ok(version)
}
