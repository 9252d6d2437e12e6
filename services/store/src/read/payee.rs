//! Saved payees.

use countersign_domain::PayeeId;
use sqlx::PgConnection;
use time::Date;

use super::ReadError;

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
            WHERE p.customer_id = bank.current_customer() ORDER BY p.name, p.payee_id"#
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
