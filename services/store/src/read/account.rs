//! Accounts and what stands on them.

use countersign_domain::{AccountId, MinorUnits, Money};
use sqlx::PgConnection;

use super::{ReadError, amount, currency};

/// An account of the customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// What it is called.
    pub label: String,
    /// `current`, `savings`, `travel` or `reserve`.
    pub kind: String,
    /// Its number, without spaces.
    pub iban: String,
    /// What stands on it.
    pub balance: Money,
    /// Whether money leaves it when the customer names none.
    pub is_default: bool,
}

/// Every account, the default one first.
///
/// # Errors
/// When the database fails or holds what its schema forbids.
pub async fn all(connection: &mut PgConnection) -> Result<Vec<Account>, ReadError> {
    sqlx::query!(
        r#"SELECT a.account_id, a.label, a.kind, a.iban, a.currency, a.is_default, b.balance_minor_units
             FROM bank.account a
             JOIN bank.account_balance b ON b.customer_id = a.customer_id AND b.account_id = a.account_id
            WHERE a.customer_id = (SELECT bank.current_customer())
            ORDER BY a.is_default DESC, a.kind, a.account_id"#
    )
    .fetch_all(connection)
    .await?
    .into_iter()
    .map(|row| {
        Ok(Account {
            id: AccountId::from_uuid(row.account_id),
            label: row.label,
            kind: row.kind,
            iban: row.iban,
            balance: Money {
                amount: amount(row.balance_minor_units)?,
                currency: currency(&row.currency)?,
            },
            is_default: row.is_default,
        })
    })
    .collect()
}

/// What open requests would take from an account, without those still missing a value.
///
/// # Errors
/// When the database fails or the sum cannot be represented.
pub async fn waiting_from(
    connection: &mut PgConnection,
    account: AccountId,
) -> Result<MinorUnits, ReadError> {
    let sum = sqlx::query_scalar!(
        r#"SELECT coalesce(sum(l.amount_minor_units), 0)::bigint AS "sum!"
             FROM bank.pending_action a
             JOIN bank.pending_version v ON v.customer_id = a.customer_id AND v.action_id = a.action_id AND v.version = a.current_version
             JOIN bank.pending_line l ON l.customer_id = v.customer_id AND l.action_id = v.action_id AND l.version = v.version
            WHERE a.customer_id = (SELECT bank.current_customer()) AND a.state IN ('pending', 'held')
              AND a.kind IN ('transfer', 'refund') AND v.from_account_id = $1"#,
        account.uuid()
    )
    .fetch_one(connection)
    .await?;
    amount(sum)
}
