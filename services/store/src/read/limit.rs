//! How much the customer may send, and what has been used of it.

use countersign_domain::{
    Currency, MinorUnits,
    limits::{Limits, Used},
};
use sqlx::PgConnection;

use super::{ReadError, amount, currency};

/// The limits of one currency and what counts against them now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrencyLimits {
    /// The currency.
    pub currency: Currency,
    /// The limits.
    pub limits: Limits,
    /// What was sent today and what waits.
    pub used: Used,
    /// Above this a payment wants the passkey.
    pub step_up_over: MinorUnits,
}

/// The limits of every currency, by its code. Moves between own accounts do not count.
///
/// # Errors
/// When the database fails or a sum cannot be represented.
pub async fn all(connection: &mut PgConnection) -> Result<Vec<CurrencyLimits>, ReadError> {
    sqlx::query!(
        r#"SELECT c.currency, c.per_transfer_minor_units, c.per_day_minor_units, c.pending_total_minor_units, c.first_payment_minor_units,
                  coalesce(c.step_up_over_minor_units, c.first_payment_minor_units) AS "step_up_over!",
                  coalesce((SELECT s.spent_minor_units FROM bank.spent_day s
                             WHERE s.customer_id = c.customer_id AND s.currency = c.currency AND s.day = (SELECT bank.bank_day())), 0) AS "spent!",
                  coalesce((SELECT sum(l.amount_minor_units) FROM bank.pending_action a
                              JOIN bank.pending_version v ON v.customer_id = a.customer_id AND v.action_id = a.action_id AND v.version = a.current_version
                              JOIN bank.pending_line l ON l.customer_id = v.customer_id AND l.action_id = v.action_id AND l.version = v.version
                             WHERE a.customer_id = c.customer_id AND (a.state = 'held' OR a.state = 'pending' AND a.expires_at > bank.bank_clock())
                               AND a.kind IN ('transfer', 'refund') AND v.currency = c.currency AND l.own_account_id IS NULL), 0)::bigint AS "waiting!"
             FROM bank.customer_limit c WHERE c.customer_id = (SELECT bank.current_customer()) ORDER BY c.currency"#
    )
    .fetch_all(connection)
    .await?
    .into_iter()
    .map(|row| {
        Ok(CurrencyLimits {
            currency: currency(&row.currency)?,
            limits: Limits {
                per_transfer: amount(row.per_transfer_minor_units)?,
                per_day: amount(row.per_day_minor_units)?,
                pending_total: amount(row.pending_total_minor_units)?,
                first_payment: amount(row.first_payment_minor_units)?,
            },
            step_up_over: amount(row.step_up_over)?,
            used: Used {
                sent_today: amount(row.spent)?,
                pending: amount(row.waiting)?,
            },
        })
    })
    .collect()
}
