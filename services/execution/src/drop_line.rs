//! Drops a line: the customer takes one payment out of a request of several.

use countersign_domain::{ActionId, ActionKind, Secret};
use sqlx::PgPool;

use crate::{
    ActError, Card, cards::NonceSource, change::Change, event::Detail, next_version::NewEntry,
    recheck::Standing,
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
    let mut change = Change::begin(pool, secret, which, nonce).await?;
    let (standing, through) = change.weigh().await?;
    let action = &change.action;
    let mut values = action.values.clone();
    values.lines.retain(|line| line.line_number != input.line);
    let is_on_this_card = action.kind == ActionKind::Transfer
        && values.version == input.version
        && values.lines.len() < action.values.lines.len();
    if !is_on_this_card || !matches!(standing, Standing::Live { .. }) {
        return change.stale().await;
    }
    if values.lines.is_empty() {
        return Err(ActError::Invalid(
            "This is the only payment left. Cancel the request instead.",
        ));
    }
    let through = through.to_string();
    let entry = NewEntry {
        slot: "drop",
        line: input.line,
        value: &through,
    };
    let detail = Detail {
        line: Some(input.line),
        ..Detail::default()
    };
    change.make(&values, entry, "line_dropped", detail).await
}
