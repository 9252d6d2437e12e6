//! Drops a line: the customer takes one payment out of a request of several.

use countersign_domain::{ActionId, ActionKind, ActionState, Secret};
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

/// Which line of which card.
#[derive(Clone, Copy, Debug)]
pub struct DropInput {
    /// The version of the card that was displayed.
    pub version: i32,
    /// The payment, by the number the card gave it.
    pub line: i16,
}

/// Takes a line out and returns the new card, which waits for a press of its own. The other lines keep their numbers.
///
/// The dropped payment is used up from now on: what the customer asked for up to here does not bring it back.
///
/// # Errors
/// [`ActError::StaleCard`] when the line is not on this version of the card, or when later words are to be answered first;
/// [`ActError::Invalid`] for the only line there is.
pub async fn drop_line(
    pool: &PgPool,
    secret: &Secret,
    which: ActionId,
    input: DropInput,
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
    let words = grounding::load(&mut transaction, action.conversation, Some(action.id)).await?;
    let entries = recheck::load_entries(&mut transaction, &action).await?;
    let standing = recheck::recheck(&action, &entries, &words, &facts);
    let mut values = action.values.clone();
    values.lines.retain(|line| line.line_number != input.line);
    let is_on_this_card = action.kind == ActionKind::Transfer
        && values.version == input.version
        && values.lines.len() < action.values.lines.len();
    if !is_on_this_card || !matches!(standing, Standing::Live { .. }) {
        let card = show(&mut transaction, &action, &facts, nonce).await?;
        transaction.commit().await?;
        return Err(ActError::StaleCard(Box::new(card)));
    }
    if values.lines.is_empty() {
        return Err(ActError::Invalid(
            "This is the only payment left. Cancel the request instead.",
        ));
    }
    let through = words
        .messages
        .last()
        .map_or(action.grounded_through, |message| message.sequence)
        .to_string();
    let entry = NewEntry {
        slot: "drop",
        line: input.line,
        value: &through,
    };
    let version = next_version::write(
        &mut transaction,
        &action,
        &values,
        entry,
        &facts.rules_version,
    )
    .await?;
    let now = session::bank_clock(&mut transaction).await?;
    let detail = Detail {
        line: Some(input.line),
        ..Detail::default()
    };
    event::record(
        &mut transaction,
        "line_dropped",
        which,
        version,
        now,
        detail,
    )
    .await?;
    let action = load_one(&mut transaction, which).await?;
    let facts = Facts::load(&mut transaction).await?;
    let card = show(&mut transaction, &action, &facts, nonce).await?;
    transaction.commit().await?;
    Ok(card)
}
