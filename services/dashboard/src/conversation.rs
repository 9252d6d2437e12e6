//! A conversation as its customer typed it, read for a reason.

use countersign_provenance::Span;
use serde::Deserialize;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{page::PageError, session, session::Operator};

/// Fewest characters of a reason that says something.
pub const REASON_CHARACTERS_MIN: usize = 10;
/// Most characters of a reason.
pub const REASON_CHARACTERS_MAX: usize = 300;

/// What a customer typed in one conversation, and what the words are read against.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// The customer's language and region.
    pub locale: String,
    /// The customer's saved payees.
    pub payees: Vec<Named>,
    /// The messages, oldest first.
    pub messages: Vec<Typed>,
}

/// A saved payee's names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The name.
    pub name: String,
    /// What the customer calls them.
    pub alias: Option<String>,
}

/// One message.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Typed {
    /// Its text.
    pub body: String,
    /// What was pasted or dropped into it.
    pub spans: Vec<Foreign>,
}

/// A part of a message that was not typed.
#[derive(Debug, Deserialize)]
pub struct Foreign {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl From<&Foreign> for Span {
    fn from(foreign: &Foreign) -> Self {
        Self {
            start: foreign.start,
            end: foreign.end,
        }
    }
}

/// Records the access, and then, in a transaction of its own, reads the conversation.
///
/// # Errors
/// [`PageError::NoReason`] for a reason of the wrong length, [`PageError::NotFound`] when there is no such conversation,
/// [`PageError::Unavailable`] when the database does not answer.
pub async fn read(
    pool: &PgPool,
    operator: &Operator,
    customer: Uuid,
    conversation: Uuid,
    reason: &str,
) -> Result<Conversation, PageError> {
    let reason = reason.trim();
    if !(REASON_CHARACTERS_MIN..=REASON_CHARACTERS_MAX).contains(&reason.chars().count()) {
        return Err(PageError::NoReason);
    }
    let mut recording = session::begin(pool, &operator.secret).await?;
    let access = sqlx::query_scalar!(
        "SELECT bank.record_text_access($1, $2, $3)",
        customer,
        conversation,
        reason
    )
    .fetch_one(&mut *recording)
    .await?
    .ok_or(PageError::NotFound)?;
    recording.commit().await?;
    tracing::info!(operator = %operator.name, access = %access, "Operator {} reads a conversation", operator.name);
    let mut reading = session::begin(pool, &operator.secret).await?;
    let text = sqlx::query_scalar!(
        r#"SELECT bank.read_text($1) AS "text: sqlx::types::Json<Conversation>""#,
        access
    )
    .fetch_one(&mut *reading)
    .await?
    .ok_or(PageError::NotFound)?;
    reading.rollback().await?;
    Ok(text.0)
}
