//! Movements on the customer's accounts.

use countersign_domain::{AccountId, Money, TransferId};
use sqlx::PgConnection;
use time::Date;

use super::{ReadError, amount, currency};

/// A movement on an account. Outsiders write its counterparty and reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its id.
    pub id: TransferId,
    /// The account it touched.
    pub account: AccountId,
    /// The day, by the bank's calendar.
    pub day: Date,
    /// What kind of movement (`card_payment`, `payment_in`, …).
    pub kind: String,
    /// Whether money came in.
    pub incoming: bool,
    /// How much.
    pub amount: Money,
    /// Who is on the other side, as they call themselves.
    pub counterparty: String,
    /// What they wrote with it.
    pub reference: String,
    /// What it was for, by the bank's categories.
    pub category: String,
    /// Whether the money is still on its way.
    pub on_its_way: bool,
}

/// A page of movements, newest first: all accounts or one, after a movement already seen or from the newest.
///
/// `after` must be a movement of the customer (and of `account`, where one is given): `None` is answered otherwise.
///
/// # Errors
/// When the database fails or holds what its schema forbids.
pub async fn page(
    connection: &mut PgConnection,
    account: Option<AccountId>,
    after: Option<TransferId>,
    length: i64,
) -> Result<Option<Vec<Transaction>>, ReadError> {
    let account = account.map(AccountId::uuid);
    let position = match after {
        None => None,
        Some(after) => {
            let seen = sqlx::query!(
                r#"SELECT created_at FROM bank.transfer
                    WHERE customer_id = (SELECT bank.current_customer()) AND transfer_id = $1 AND ($2::uuid IS NULL OR account_id = $2)"#,
                after.uuid(),
                account
            )
            .fetch_optional(&mut *connection)
            .await?;
            match seen {
                None => return Ok(None),
                Some(seen) => Some((seen.created_at, after.uuid())),
            }
        }
    };
    let (position_time, position_id) = position.unzip();
    sqlx::query!(
        r#"SELECT transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name, reference, category,
                  (created_at AT TIME ZONE (SELECT time_zone FROM bank.setting))::date AS "day!"
             FROM bank.transfer
            WHERE customer_id = (SELECT bank.current_customer()) AND state <> 'voided' AND kind <> 'opening'
              AND ($1::uuid IS NULL OR account_id = $1)
              AND ($2::timestamptz IS NULL OR (created_at, transfer_id) < ($2, $3::uuid))
            ORDER BY created_at DESC, transfer_id DESC LIMIT $4"#,
        account,
        position_time,
        position_id,
        length
    )
    .fetch_all(connection)
    .await?
    .into_iter()
    .map(|row| {
        Ok(Transaction {
            id: TransferId::from_uuid(row.transfer_id),
            account: AccountId::from_uuid(row.account_id),
            day: row.day,
            incoming: matches!(row.kind.as_str(), "payment_in" | "own_in" | "interest"),
            kind: row.kind,
            amount: Money {
                amount: amount(row.amount_minor_units)?,
                currency: currency(&row.currency)?,
            },
            counterparty: row.counterparty_name,
            reference: row.reference,
            category: row.category,
            on_its_way: row.state == "reserved",
        })
    })
    .collect::<Result<Vec<_>, ReadError>>()
    .map(Some)
}
