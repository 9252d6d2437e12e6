//! What was spent on what.

use countersign_domain::Money;
use sqlx::PgConnection;
use time::Date;

use super::{ReadError, amount, currency};

/// One category in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The category.
    pub category: String,
    /// The sum.
    pub sum: Money,
    /// How many payments.
    pub payments: i64,
}

/// Today, by the bank's calendar.
///
/// # Errors
/// When the database fails.
pub async fn bank_day(connection: &mut PgConnection) -> Result<Date, ReadError> {
    Ok(sqlx::query_scalar!(r#"SELECT bank.bank_day() AS "day!""#)
        .fetch_one(connection)
        .await?)
}

/// What left the customer's accounts from `first` to before `end`, by category, the largest first.
/// Moves between own accounts and what was voided do not count.
///
/// # Errors
/// When the database fails or a sum cannot be represented.
pub async fn by_category(
    connection: &mut PgConnection,
    first: Date,
    end: Date,
) -> Result<Vec<Spent>, ReadError> {
    sqlx::query!(
        r#"SELECT t.category, t.currency, sum(t.amount_minor_units)::bigint AS "sum!", count(*) AS "payments!"
             FROM bank.transfer t
            WHERE t.customer_id = (SELECT bank.current_customer()) AND t.kind IN ('card_payment', 'payment_out', 'fee') AND t.state <> 'voided'
              AND t.created_at >= $1::date::timestamp AT TIME ZONE (SELECT time_zone FROM bank.setting)
              AND t.created_at < $2::date::timestamp AT TIME ZONE (SELECT time_zone FROM bank.setting)
            GROUP BY t.category, t.currency ORDER BY 3 DESC, t.category, t.currency"#,
        first,
        end
    )
    .fetch_all(connection)
    .await?
    .into_iter()
    .map(|row| {
        Ok(Spent {
            category: row.category,
            sum: Money {
                amount: amount(row.sum)?,
                currency: currency(&row.currency)?,
            },
            payments: row.payments,
        })
    })
    .collect()
}
