//! What every handler shares.

use std::sync::Arc;

use sqlx::PgPool;

use crate::door::DoorPlaces;

/// The dashboard's shared state. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App {
    /// The database as role `dashboard`.
    pub pool: PgPool,
    /// Where the door is, when it was told.
    pub door: Option<Arc<DoorPlaces>>,
}
