//! Keep: the customer took the words back that took the request back.

use countersign_domain::{ActionId, Secret};
use sqlx::PgPool;

use crate::{
    ActError, Card, cards::NonceSource, change::Change, event::Detail, next_version::NewEntry,
    recheck::Standing,
};

/// Keeps an action that asks again. It becomes a new version, with a new H and a new gesture.
///
/// # Errors
/// [`ActError::StaleCard`] when the card does not ask again, or not in this version.
pub async fn keep(
    pool: &PgPool,
    secret: &Secret,
    which: ActionId,
    version: i32,
    nonce: NonceSource<'_>,
) -> Result<Card, ActError> {
    let mut change = Change::begin(pool, secret, which, nonce).await?;
    let (standing, through) = change.weigh().await?;
    let asks = matches!(standing, Standing::AsksAgain { .. });
    if !asks || change.action.values.version != version {
        return change.stale().await;
    }
    // It stands against everything said so far; anything said later can take it back again.
    let value = through.to_string();
    let entry = NewEntry {
        slot: "keep",
        line: 0,
        value: &value,
    };
    let values = change.action.values.clone();
    change.make(&values, entry, "kept", Detail::default()).await
}
