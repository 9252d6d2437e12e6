//! What every handler shares.

use sqlx::PgPool;

/// The dashboard's shared state. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App {
    /// The database as role `dashboard`.
    pub pool: PgPool,
}
