//! What one request may still take of the customer's limits in one currency.

use countersign_domain::{
    ActionId, Currency,
    limits::{Limits, Used},
};
use sqlx::PgConnection;

use super::{ReadError, amount};

/// The limits of a currency and what counts against a request in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The limits.
    pub limits: Limits,
    /// What was sent today and what waits in other requests.
    pub used: Used,
}

/// The limits of a currency, not counting one request: the one about to be superseded, or the one about to be confirmed.
/// `None` where the customer has no limits in the currency; then nothing may leave in it.
///
/// What waits is every open or held request of the customer in any conversation that is not past its time. Moves between own
/// accounts do not count.
///
/// # Errors
/// When the database fails or a sum cannot be represented.
pub async fn of(
    connection: &mut PgConnection,
    currency: Currency,
    without: Option<ActionId>,
) -> Result<Option<Allowance>, ReadError> {
    sqlx::query!(
        r#"SELECT c.per_transfer_minor_units, c.per_day_minor_units, c.pending_total_minor_units, c.first_payment_minor_units,
                  coalesce((SELECT s.spent_minor_units FROM bank.spent_day s
                             WHERE s.customer_id = c.customer_id AND s.currency = c.currency AND s.day = (SELECT bank.bank_day())), 0) AS "spent!",
                  coalesce((SELECT sum(l.amount_minor_units) FROM bank.pending_action a
                              JOIN bank.pending_version v ON v.customer_id = a.customer_id AND v.action_id = a.action_id AND v.version = a.current_version
                              JOIN bank.pending_line l ON l.customer_id = v.customer_id AND l.action_id = v.action_id AND l.version = v.version
                             WHERE a.customer_id = c.customer_id AND (a.state = 'held' OR a.state = 'pending' AND a.expires_at > bank.bank_clock())
                               AND a.kind IN ('transfer', 'refund') AND v.currency = c.currency AND l.own_account_id IS NULL
                               AND ($2::uuid IS NULL OR a.action_id <> $2)), 0)::bigint AS "waiting!"
             FROM bank.customer_limit c WHERE c.customer_id = (SELECT bank.current_customer()) AND c.currency = $1"#,
        currency.code(),
        without.map(ActionId::uuid)
    )
    .fetch_optional(connection)
    .await?
    .map(|row| {
        Ok(Allowance {
            limits: Limits {
                per_transfer: amount(row.per_transfer_minor_units)?,
                per_day: amount(row.per_day_minor_units)?,
                pending_total: amount(row.pending_total_minor_units)?,
                first_payment: amount(row.first_payment_minor_units)?,
            },
            used: Used {
                sent_today: amount(row.spent)?,
                pending: amount(row.waiting)?,
            },
        })
    })
    .transpose()
}
