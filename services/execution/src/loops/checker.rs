//! The name checker's side of the database: which payees are to be checked, and where the answers are kept.
//!
//! Its login knows two functions and no table. What it asks it asks before anybody holds a lock.

use countersign_domain::{CustomerId, NameCheck, PayeeId};
use sqlx::PgPool;

use super::LoopError;

/// The most checks of one turn.
const BATCH: i32 = 20;

/// One payee to be checked.
#[derive(Clone, Debug)]
pub struct Question {
    /// Whose payee.
    pub customer: CustomerId,
    /// Which.
    pub payee: PayeeId,
    /// The name the customer pays.
    pub name: String,
    /// The account.
    pub iban: String,
}

/// What a check answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The result; never [`NameCheck::NotChecked`].
    pub result: NameCheck,
    /// The holder's name, for [`NameCheck::Close`] and nothing else.
    pub holder: Option<String>,
}

impl Answer {
    /// What every failure is: nobody knows, and nothing passes for a match.
    pub const UNAVAILABLE: Self = Self {
        result: NameCheck::Unavailable,
        holder: None,
    };
}

/// What is to be checked now.
///
/// # Errors
/// When the database fails.
pub async fn due(pool: &PgPool) -> Result<Vec<Question>, LoopError> {
    let rows = sqlx::query!(
        r#"SELECT customer_id AS "customer!", payee_id AS "payee!", name AS "name!", iban AS "iban!" FROM bank.due_name_checks($1)"#,
        BATCH
    )
    .fetch_all(pool)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Question {
            customer: CustomerId::from_uuid(row.customer),
            payee: PayeeId::from_uuid(row.payee),
            name: row.name,
            iban: row.iban,
        })
        .collect())
}

/// Keeps an answer with the time it came.
///
/// # Errors
/// When the database fails.
pub async fn keep(pool: &PgPool, question: &Question, answer: &Answer) -> Result<(), LoopError> {
    sqlx::query_scalar!(
        "SELECT bank.keep_name_check($1, $2, $3, $4)",
        question.customer.uuid(),
        question.payee.uuid(),
        answer.result.text(),
        answer.holder
    )
    .fetch_one(pool)
    .await?;
    Ok(())
}
