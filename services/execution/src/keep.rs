//! Keep: the customer took the words back that took the request back.

use countersign_domain::{ActionId, Secret};
use countersign_store::grounding;
use sqlx::PgPool;

use crate::{
    ActError, Card,
    cards::NonceSource,
    change::Change,
    event::Detail,
    next_version::NewEntry,
    recheck::{self, Standing},
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
    let Change {
        transaction,
        action,
        facts,
        ..
    } = &mut change;
    let input = grounding::load(transaction, action.conversation, Some(action.id)).await?;
    let entries = recheck::load_entries(transaction, action).await?;
    let standing = recheck::recheck(action, &entries, &input, facts);
    let asks = matches!(standing, Standing::AsksAgain { .. });
    if !asks || action.values.version != version {
        return change.stale().await;
    }
    // It stands against everything said so far; anything said later can take it back again.
    let through = input
        .messages
        .last()
        .map_or(action.grounded_through, |message| message.sequence);
    let value = through.to_string();
    let entry = NewEntry {
        slot: "keep",
        line: 0,
        value: &value,
    };
    let values = action.values.clone();
    change.make(&values, entry, "kept", Detail::default()).await
}
