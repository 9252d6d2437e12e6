//! The chat origin's SQL. Every transaction presents a bearer first; without a live one it sees and writes nothing.

pub mod action_status;
pub mod canary;
pub mod chat_event;
pub mod conversation;
pub mod customer;
pub mod looked_at;
pub mod reply;
pub mod turn_grant;
pub mod utterance;

use std::{str::FromStr as _, time::Duration};

use anyhow::Context as _;
use countersign_domain::Secret;
use countersign_serve::Problem;
use sqlx::{
    PgPool, Postgres, Transaction,
    postgres::{PgConnectOptions, PgPoolOptions},
};

/// Most database connections of this process.
const CONNECTIONS_MAX: u32 = 16;
/// Longest wait for a free one.
const ACQUIRE_TIME_OUT: Duration = Duration::from_secs(3);

/// Why the database did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Neither the connection nor the lock was free in time. Nothing happened.
    #[error("the database is busy")]
    Busy(#[source] sqlx::Error),
    /// Anything else.
    #[error("use the database")]
    Database(#[source] sqlx::Error),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let busy = match &error {
            sqlx::Error::PoolTimedOut | sqlx::Error::Io(_) => true,
            // Lock not available, statement time-out, deadlock, serialisation, too many connections, shutting down.
            sqlx::Error::Database(inner) => matches!(
                inner.code().as_deref(),
                Some("55P03" | "57014" | "40P01" | "40001" | "53300" | "57P01" | "57P03")
            ),
            _ => false,
        };
        if busy {
            Self::Busy(error)
        } else {
            Self::Database(error)
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Busy(cause) => {
                tracing::warn!(%cause, "The database did not answer in time");
                Self::busy()
            }
            StoreError::Database(cause) => {
                tracing::error!(%cause, "The database refused");
                Self::internal()
            }
        }
    }
}

/// The bank's database, as the role `intake`.
#[derive(Clone, Debug)]
pub struct Database(PgPool);

impl Database {
    /// Prepares a pool; the first connection is opened when it is needed.
    ///
    /// # Errors
    /// When the address is none. It is not repeated in the error: it holds a password.
    pub fn open(url: &Secret) -> anyhow::Result<Self> {
        let options = PgConnectOptions::from_str(url.expose())
            .map_err(|_| anyhow::anyhow!("not a PostgreSQL address"))
            .context("read the database address")?
            .application_name("intake");
        Ok(Self(
            PgPoolOptions::new()
                .max_connections(CONNECTIONS_MAX)
                .acquire_timeout(ACQUIRE_TIME_OUT)
                .connect_lazy_with(options),
        ))
    }

    /// Begins a transaction in which the database knows whose bearer this is.
    ///
    /// # Errors
    /// [`StoreError`]. A wrong or ended bearer is no error here: such a transaction sees no rows.
    pub async fn begin(
        &self,
        bearer: &Secret,
    ) -> Result<Transaction<'static, Postgres>, StoreError> {
        let mut transaction = self.0.begin().await?;
        sqlx::query!(
            "SELECT set_config('countersign.session', $1, true)",
            bearer.expose()
        )
        .fetch_one(&mut *transaction)
        .await?;
        Ok(transaction)
    }

    /// The pool, for the one statement that no session stands behind: redeeming a code.
    pub fn pool(&self) -> &PgPool {
        &self.0
    }
}
