//! Keep: the customer took the words back that took the request back.

use countersign_domain::{ActionId, ActionState, Secret};
use countersign_store::{grounding, session};
use sqlx::PgPool;

use crate::{
    ActError, Card,
    cards::{NonceSource, load_one, show},
    event::{self, Detail},
    facts::Facts,
    next_version::{self, NewEntry},
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
    let mut transaction = session::begin(pool, secret).await?;
    session::lock_customer(&mut transaction).await?;
    let action = load_one(&mut transaction, which).await?;
    let facts = Facts::load(&mut transaction).await?;
    if action.state != ActionState::Pending || action.expires_at <= facts.now {
        let card = show(&mut transaction, &action, &facts, nonce).await?;
        return Err(ActError::NotOpen(Box::new(card)));
    }
    let input = grounding::load(&mut transaction, action.conversation, Some(action.id)).await?;
    let entries = recheck::load_entries(&mut transaction, &action).await?;
    let standing = recheck::recheck(&action, &entries, &input, &facts);
    let asks = matches!(standing, Standing::AsksAgain { .. });
    if !asks || action.values.version != version {
        let card = show(&mut transaction, &action, &facts, nonce).await?;
        transaction.commit().await?;
        return Err(ActError::StaleCard(Box::new(card)));
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
    let version = next_version::write(
        &mut transaction,
        &action,
        &action.values,
        entry,
        &facts.rules_version,
    )
    .await?;
    let now = session::bank_clock(&mut transaction).await?;
    event::record(
        &mut transaction,
        "kept",
        which,
        version,
        now,
        Detail::default(),
    )
    .await?;
    let action = load_one(&mut transaction, which).await?;
    let card = show(&mut transaction, &action, &facts, nonce).await?;
    transaction.commit().await?;
    Ok(card)
}
