//! Saved payees.

use std::collections::HashMap;

use countersign_domain::{Currency, MinorUnits, PayeeId};
use sqlx::PgConnection;
use time::Date;

use super::{ReadError, amount};

/// A payee the customer saved. Outsiders may have chosen its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payee {
    /// Its id.
    pub id: PayeeId,
    /// The name as saved.
    pub name: String,
    /// The customer's other name for it.
    pub alias: Option<String>,
    /// Its account, without spaces.
    pub iban: String,
    /// The day it was saved, by the bank's calendar.
    pub saved: Date,
    /// How often it was paid.
    pub payments: i64,
}

/// Every saved payee, by name.
///
/// # Errors
/// When the database fails.
pub async fn all(connection: &mut PgConnection) -> Result<Vec<Payee>, ReadError> {
    let rows = sqlx::query!(
        r#"SELECT p.payee_id, p.name, p.alias, p.iban,
                  (p.created_at AT TIME ZONE (SELECT time_zone FROM bank.setting))::date AS "saved!",
                  coalesce(d.payments_count, 0) AS "payments!"
             FROM bank.payee p
             LEFT JOIN bank.payee_paid d ON d.customer_id = p.customer_id AND d.payee_id = p.payee_id
            WHERE p.customer_id = (SELECT bank.current_customer()) ORDER BY p.name, p.payee_id"#
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Payee {
            id: PayeeId::from_uuid(row.payee_id),
            name: row.name,
            alias: row.alias,
            iban: row.iban,
            saved: row.saved,
            payments: row.payments,
        })
        .collect())
}

/// The payees who were paid for the first time so recently that they still count as new, with what went to them since in a
/// currency.
///
/// # Errors
/// When the database fails or a sum cannot be represented.
pub async fn still_new(
    connection: &mut PgConnection,
    currency: Currency,
) -> Result<HashMap<PayeeId, MinorUnits>, ReadError> {
    sqlx::query!(
        r#"SELECT d.payee_id, coalesce(sum(t.amount_minor_units), 0)::bigint AS "sent!"
             FROM bank.payee_paid d
             LEFT JOIN bank.transfer t ON t.customer_id = d.customer_id AND t.payee_id = d.payee_id AND t.currency = $1 AND t.state <> 'voided'
            WHERE d.customer_id = (SELECT bank.current_customer())
              AND d.first_paid_at > bank.bank_clock() - (SELECT new_payee_seconds FROM bank.setting) * interval '1 second'
            GROUP BY d.payee_id"#,
        currency.code()
    )
    .fetch_all(connection)
    .await?
    .into_iter()
    .map(|row| Ok((PayeeId::from_uuid(row.payee_id), amount(row.sent)?)))
    .collect()
}
