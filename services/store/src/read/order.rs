//! Standing orders.

use countersign_domain::{AccountId, Frequency, Money, OrderId, PayeeId};
use sqlx::PgConnection;
use time::Date;

use super::{ReadError, amount, currency};

/// A standing order that still pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its id.
    pub id: OrderId,
    /// What the customer calls it.
    pub name: Option<String>,
    /// Whom it pays.
    pub payee: PayeeId,
    /// The payee's name as saved. Outsiders may have chosen it.
    pub payee_name: String,
    /// What it pays each time.
    pub amount: Money,
    /// How often.
    pub frequency: Frequency,
    /// The first day it paid or will pay.
    pub start: Date,
    /// From which account.
    pub from: AccountId,
}

/// The active orders.
///
/// # Errors
/// When the database fails or holds what its schema forbids.
pub async fn active(connection: &mut PgConnection) -> Result<Vec<Order>, ReadError> {
    sqlx::query!(
        r#"SELECT o.order_id, o.name, o.payee_id, p.name AS payee_name, o.amount_minor_units, o.currency, o.frequency, o.start_date, o.account_id
             FROM bank.standing_order o
             JOIN bank.payee p ON p.customer_id = o.customer_id AND p.payee_id = o.payee_id
            WHERE o.customer_id = (SELECT bank.current_customer()) AND o.state = 'active' ORDER BY o.start_date, o.order_id"#
    )
    .fetch_all(connection)
    .await?
    .into_iter()
    .map(|row| {
        Ok(Order {
            id: OrderId::from_uuid(row.order_id),
            name: row.name,
            payee: PayeeId::from_uuid(row.payee_id),
            payee_name: row.payee_name,
            amount: Money {
                amount: amount(row.amount_minor_units)?,
                currency: currency(&row.currency)?,
            },
            frequency: row
                .frequency
                .parse()
                .map_err(|_| ReadError::Corrupt("frequency"))?,
            start: row.start_date,
            from: AccountId::from_uuid(row.account_id),
        })
    })
    .collect()
}
