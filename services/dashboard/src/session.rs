//! Operator sessions: a row that knows the hash of the cookie's secret. Every statement runs under the secret, and the
//! database finds whose it is.

use countersign_domain::Secret;
use sqlx::{PgPool, Postgres, Transaction};

/// How long an operator's session lives, whatever happens in it.
pub const SESSION_SECONDS: u32 = 4 * 60 * 60;

/// A live session.
#[derive(Clone, Debug)]
pub struct Operator {
    /// Goes into every transaction; never into a page or a log.
    pub secret: Secret,
    /// The operator's name.
    pub name: String,
}

/// Begins a transaction that sees what the secret's operator may see.
///
/// # Errors
/// When the database does not answer. A wrong secret is not an error here: it sees no rows.
pub async fn begin(
    pool: &PgPool,
    secret: &Secret,
) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let mut transaction = pool.begin().await?;
    sqlx::query_scalar!(
        "SELECT set_config('countersign.session', $1, true)",
        secret.expose()
    )
    .fetch_one(&mut *transaction)
    .await?;
    Ok(transaction)
}

/// Finds the session behind a secret; none when it is wrong, ended, or rested too long. Finding it is something done in it.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &PgPool, secret: Secret) -> Result<Option<Operator>, sqlx::Error> {
    let mut transaction = begin(pool, &secret).await?;
    let row =
        sqlx::query!("SELECT bank.current_operator() AS name, bank.touch_operator() AS _touched")
            .fetch_one(&mut *transaction)
            .await?;
    transaction.commit().await?;
    Ok(row.name.map(|name| Operator { secret, name }))
}

/// Uses a one-use token and begins the session it is good for; none for a wrong, used or late one.
///
/// # Errors
/// When the database does not answer; then the token is unused.
pub async fn redeem(pool: &PgPool, token: &Secret) -> Result<Option<Secret>, sqlx::Error> {
    let secret = new_secret();
    let name = sqlx::query_scalar!(
        "SELECT bank.open_operator_session($1, $2, $3)",
        token.expose(),
        &secret.hash()[..],
        i32::try_from(SESSION_SECONDS).unwrap_or(i32::MAX),
    )
    .fetch_one(pool)
    .await?;
    Ok(name.map(|name| {
        tracing::info!(operator = %name, "Operator {name} signed in");
        secret
    }))
}

/// Ends a session.
///
/// # Errors
/// When the database does not answer; then the session still lives.
pub async fn end(pool: &PgPool, secret: &Secret) -> Result<(), sqlx::Error> {
    let mut transaction = begin(pool, secret).await?;
    sqlx::query_scalar!("SELECT bank.end_operator_session()")
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await
}

/// A fresh secret from the system's random source.
///
/// # Panics
/// When the system has no randomness to give: then nothing here may go on.
pub fn new_secret() -> Secret {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    Secret::from_random(bytes)
}
