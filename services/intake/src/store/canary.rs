//! Whose canary is it? The database knows codes by the keyed hashes of their runs, and answers yes or no.

use countersign_screening::canary::Run;
use sha2::{Digest as _, Sha256};
use sqlx::{PgConnection, PgPool};

use super::StoreError;

/// The key under which runs are hashed.
#[derive(Clone)]
pub struct CanaryKey([u8; 32]);

impl std::fmt::Debug for CanaryKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CanaryKey(…)")
    }
}

impl CanaryKey {
    /// Reads the key, which the database gives this login alone.
    ///
    /// # Errors
    /// [`StoreError`]; also when there is none to be had.
    pub async fn read(pool: &PgPool) -> Result<Self, StoreError> {
        let row = sqlx::query!(r#"SELECT bank.canary_key() AS "key""#)
            .fetch_one(pool)
            .await?;
        let key = row.key.and_then(|key| key.try_into().ok());
        key.map(Self)
            .ok_or(StoreError::Database(sqlx::Error::RowNotFound))
    }

    fn hash(&self, run: &Run) -> Vec<u8> {
        Sha256::new()
            .chain_update(self.0)
            .chain_update(run)
            .finalize()
            .to_vec()
    }
}

/// Whether one of these runs is of another customer's code. When the database does not know whom it is asked for, the
/// answer is yes: nobody may be shown what was asked about.
///
/// # Errors
/// [`StoreError`].
pub async fn belongs_to_another(
    connection: &mut PgConnection,
    key: &CanaryKey,
    runs: impl IntoIterator<Item = Run>,
) -> Result<bool, StoreError> {
    let hashes: Vec<Vec<u8>> = runs.into_iter().map(|run| key.hash(&run)).collect();
    let row = sqlx::query!(
        r#"SELECT bank.canary_belongs_to_another($1) AS "anothers""#,
        &hashes
    )
    .fetch_one(connection)
    .await?;
    Ok(row.anothers.unwrap_or(true))
}
