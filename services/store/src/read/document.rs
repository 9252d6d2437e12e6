//! The customer's inbox. Outsiders write every word of it.

use countersign_domain::DocumentId;
use sqlx::PgConnection;
use time::Date;

use super::ReadError;

/// The newest documents of a list.
const DOCUMENTS_MAX: i64 = 50;

/// A document, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// Who it says it is from.
    pub sender: String,
    /// Its title.
    pub title: String,
    /// The day it came, by the bank's calendar.
    pub received: Date,
}

/// The newest documents, newest first; fifty at most.
///
/// # Errors
/// When the database fails.
pub async fn newest(connection: &mut PgConnection) -> Result<Vec<Document>, ReadError> {
    let rows = sqlx::query!(
        r#"SELECT document_id, sender, title,
                  (received_at AT TIME ZONE (SELECT time_zone FROM bank.setting))::date AS "received!"
             FROM bank.document WHERE customer_id = (SELECT bank.current_customer())
            ORDER BY received_at DESC, document_id LIMIT $1"#,
        DOCUMENTS_MAX
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Document {
            id: DocumentId::from_uuid(row.document_id),
            sender: row.sender,
            title: row.title,
            received: row.received,
        })
        .collect())
}

/// One document and its text; `None` when it is not among the customer's.
///
/// # Errors
/// When the database fails.
pub async fn one(
    connection: &mut PgConnection,
    id: DocumentId,
) -> Result<Option<(Document, String)>, ReadError> {
    let row = sqlx::query!(
        r#"SELECT document_id, sender, title, body,
                  (received_at AT TIME ZONE (SELECT time_zone FROM bank.setting))::date AS "received!"
             FROM bank.document WHERE customer_id = (SELECT bank.current_customer()) AND document_id = $1"#,
        id.uuid()
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| {
        let document = Document {
            id: DocumentId::from_uuid(row.document_id),
            sender: row.sender,
            title: row.title,
            received: row.received,
        };
        (document, row.body)
    }))
}
