//! The customer behind a code or a bearer.

use countersign_domain::{CustomerId, Secret};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::StoreError;

/// The customer whose code was redeemed.
pub struct Redeemed {
    /// Whose it was.
    pub customer: CustomerId,
    /// Their name, as the bank shows it to them.
    pub name: String,
}

/// Uses a chat code once and opens a session under the bearer. `None` for a wrong, used or late code.
pub async fn redeem_code(
    pool: &PgPool,
    code: &Secret,
    bearer: &Secret,
) -> Result<Option<Redeemed>, StoreError> {
    let row = sqlx::query!(
        r#"SELECT customer_id AS "customer_id!", display_name AS "display_name!"
             FROM bank.redeem_chat_code($1, $2)"#,
        code.expose(),
        &bearer.hash(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| Redeemed {
        customer: CustomerId::from_uuid(row.customer_id),
        name: row.display_name,
    }))
}

/// The customer of a transaction's session.
pub struct Found {
    /// Who it is.
    pub customer: CustomerId,
    /// The session's grant.
    pub grant: Uuid,
    /// Language and region in which the customer writes, such as `en-IN`.
    pub locale: String,
    /// The language in which the bank speaks with the customer.
    pub language: String,
}

/// Who the transaction acts for; `None` without a live session. Somebody chats: once the transaction is committed, neither this
/// session nor the panel's around it has rested.
pub async fn of_session(connection: &mut PgConnection) -> Result<Option<Found>, StoreError> {
    let row = sqlx::query!(
        r#"SELECT customer_id, locale, coalesce(panel_language, locale) AS "language!", bank.current_grant() AS grant_id, bank.touch_session() AS _touched
             FROM bank.customer WHERE customer_id = (SELECT bank.current_customer())"#
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.and_then(|row| {
        Some(Found {
            customer: CustomerId::from_uuid(row.customer_id),
            grant: row.grant_id?,
            locale: row.locale,
            language: row.language,
        })
    }))
}
