//! Payment cards.

use countersign_domain::CardId;
use sqlx::PgConnection;

use super::ReadError;

/// A card of the customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Its id.
    pub id: CardId,
    /// What it is called.
    pub label: String,
    /// `debit` or `credit`.
    pub kind: String,
    /// The last four digits of its number.
    pub last_four: String,
    /// Whether it is blocked.
    pub frozen: bool,
}

/// Every card.
///
/// # Errors
/// When the database fails.
pub async fn all(connection: &mut PgConnection) -> Result<Vec<Card>, ReadError> {
    let rows = sqlx::query!(
        r#"SELECT card_id, label, kind, last_four, state FROM bank.card
            WHERE customer_id = (SELECT bank.current_customer()) ORDER BY kind DESC, card_id"#
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Card {
            id: CardId::from_uuid(row.card_id),
            label: row.label,
            kind: row.kind,
            last_four: row.last_four,
            frozen: row.state == "frozen",
        })
        .collect())
}
