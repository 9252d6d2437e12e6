//! The outbox relay's side of the database: claims notices to deliver and says what became of them.
//!
//! Its login knows two functions and no table. What is claimed is this relay's for a minute; of each customer and channel only the
//! oldest is handed out, so that notices arrive in order. One may arrive twice, none is lost.

use countersign_domain::{CustomerId, Secret};
use sqlx::PgPool;
use time::OffsetDateTime;

use super::LoopError;

/// The most deliveries of one turn.
const BATCH: i32 = 20;

/// A notice to be delivered by one channel.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Whose it is.
    pub customer: CustomerId,
    /// Its number among the customer's, from 1: the order in which they are told.
    pub number: i64,
    /// `email` or `webhook`.
    pub channel: String,
    /// Where the customer is reached; empty where the channel knows by itself.
    pub address: String,
    /// The tag of the language in which the customer is told.
    pub language: String,
    /// What it tells ([`crate::notices::words`]).
    pub kind: String,
    /// The button that was pressed, in the record's words.
    pub about: String,
    /// The short code of the receipt; empty where there is none.
    pub short_code: String,
    /// When it happened.
    pub made_at: OffsetDateTime,
    /// The one-use word of "this was not me".
    pub word: Secret,
}

/// Why a delivery did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A short code for operators, without an address or a text.
    pub code: &'static str,
    /// Whether trying again cannot help.
    pub for_good: bool,
}

/// Claims what is due by one of `channels`.
///
/// # Errors
/// When the database fails.
pub async fn claim(pool: &PgPool, channels: &[String]) -> Result<Vec<Delivery>, LoopError> {
    let rows = sqlx::query!(
        r#"SELECT customer_id AS "customer!", number AS "number!", channel AS "channel!", address AS "address!", language AS "language!", kind AS "kind!",
                  about AS "about!", short_code AS "short_code!", made_at AS "made_at!", not_me_secret AS "word!"
             FROM bank.claim_notices($1, $2)"#,
        channels,
        BATCH
    )
    .fetch_all(pool)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Delivery {
            customer: CustomerId::from_uuid(row.customer),
            number: row.number,
            channel: row.channel,
            address: row.address,
            language: row.language,
            kind: row.kind,
            about: row.about,
            short_code: row.short_code,
            made_at: row.made_at,
            word: Secret::new(row.word),
        })
        .collect())
}

/// Says what became of a delivery. Returns where it stands now: `sent`, `waiting` for the next try, `dead`, or `ended` before.
///
/// # Errors
/// When the database fails; then it is delivered once more.
pub async fn end(
    pool: &PgPool,
    delivery: &Delivery,
    failure: Option<Failure>,
) -> Result<String, LoopError> {
    let becomes = sqlx::query_scalar!(
        r#"SELECT bank.end_delivery($1, $2, $3, $4, $5) AS "becomes!""#,
        delivery.customer.uuid(),
        delivery.number,
        delivery.channel,
        failure.map(|failure| failure.code),
        failure.is_some_and(|failure| failure.for_good)
    )
    .fetch_one(pool)
    .await?;
    Ok(becomes)
}
