//! Who is asking: the secret that opens one customer's rows, and the lock on that customer.

use countersign_domain::{ConversationId, CustomerId, Secret};
use sqlx::{PgPool, Postgres, Transaction};

/// Why a transaction for a customer did not begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The secret opens nothing: wrong, ended, or another login's.
    #[error("the session has ended")]
    Ended,
    /// Somebody else held the customer's lock for too long.
    #[error("another change of this customer is under way")]
    Busy,
    /// The database failed.
    #[error("begin a transaction for a customer")]
    Database(#[source] sqlx::Error),
}

impl From<sqlx::Error> for SessionError {
    fn from(error: sqlx::Error) -> Self {
        // Nothing was begun where no connection was free in time.
        if matches!(error, sqlx::Error::PoolTimedOut) {
            return Self::Busy;
        }
        match sqlstate(&error).as_deref() {
            Some("CS001") => Self::Ended,
            // lock_not_available, serialization_failure, deadlock_detected
            Some("55P03" | "40001" | "40P01") => Self::Busy,
            _ => Self::Database(error),
        }
    }
}

/// The SQLSTATE of a database error, where there is one.
pub fn sqlstate(error: &sqlx::Error) -> Option<String> {
    match error {
        sqlx::Error::Database(database) => database.code().map(|code| code.into_owned()),
        _ => None,
    }
}

/// Begins a transaction that sees the rows of the secret's customer. The secret travels as a parameter, so that it stands in
/// no statement log, and it is gone at the transaction's end.
///
/// # Errors
/// When no connection is to be had. A wrong secret is not an error here: it sees no rows.
pub async fn begin(
    pool: &PgPool,
    secret: &Secret,
) -> Result<Transaction<'static, Postgres>, SessionError> {
    let mut transaction = pool.begin().await?;
    sqlx::query_scalar!(
        "SELECT set_config('countersign.session', $1, true)",
        secret.expose()
    )
    .fetch_one(&mut *transaction)
    .await?;
    Ok(transaction)
}

/// The customer whose rows the transaction sees.
///
/// # Errors
/// [`SessionError::Ended`] when the secret opens nothing.
pub async fn customer(
    transaction: &mut Transaction<'static, Postgres>,
) -> Result<CustomerId, SessionError> {
    sqlx::query_scalar!(r#"SELECT bank.current_customer() AS "customer""#)
        .fetch_one(&mut **transaction)
        .await?
        .map(CustomerId::from_uuid)
        .ok_or(SessionError::Ended)
}

/// The conversation the secret is good for.
///
/// # Errors
/// [`SessionError::Ended`] when the secret opens none.
pub async fn conversation(
    transaction: &mut Transaction<'static, Postgres>,
) -> Result<ConversationId, SessionError> {
    sqlx::query_scalar!(r#"SELECT bank.current_conversation() AS "conversation""#)
        .fetch_one(&mut **transaction)
        .await?
        .map(ConversationId::from_uuid)
        .ok_or(SessionError::Ended)
}

/// Takes the customer's lock: the first statement of every transaction that creates or changes a request.
///
/// # Errors
/// [`SessionError::Ended`] when the secret opens nothing, [`SessionError::Busy`] when the lock was not to be had in time.
pub async fn lock_customer(
    transaction: &mut Transaction<'static, Postgres>,
) -> Result<CustomerId, SessionError> {
    sqlx::query_scalar!(r#"SELECT bank.lock_customer() AS "customer""#)
        .fetch_one(&mut **transaction)
        .await?
        .map(CustomerId::from_uuid)
        .ok_or(SessionError::Ended)
}

/// The bank's clock, read now. After the lock, never before it.
///
/// # Errors
/// When the database fails.
pub async fn bank_clock(
    transaction: &mut Transaction<'static, Postgres>,
) -> Result<time::OffsetDateTime, SessionError> {
    sqlx::query_scalar!(r#"SELECT bank.bank_clock() AS "now!""#)
        .fetch_one(&mut **transaction)
        .await
        .map_err(SessionError::from)
}
