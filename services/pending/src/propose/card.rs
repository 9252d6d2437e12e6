//! A card blocked, or made to work again.

use countersign_domain::{ActionKind, CardId, ToolCode};
use countersign_provenance::{Act, ActAsk};

use super::{Proposal, asks, settle};
use crate::{Refusal, facts::Facts, values::blank};

/// Freeze and unfreeze share the card's place: the later word of the customer replaces the earlier.
pub(super) fn propose(
    kind: ActionKind,
    card: Option<CardId>,
    facts: &Facts,
) -> Result<Proposal, Refusal> {
    let freezes = kind == ActionKind::CardFreeze;
    let named = match card {
        Some(id) => Some(
            facts
                .cards
                .iter()
                .find(|card| card.id == id)
                .ok_or(Refusal::about(ToolCode::NotFound, "card"))?,
        ),
        None => None,
    };
    let act = if freezes {
        Act::CardFreeze
    } else {
        Act::CardUnfreeze
    };
    let of_ask = |ask: &ActAsk| ask.card.as_ref().map(|named| named.value);
    let asks = asks(act, facts)?.naming("card", card, |ask, id| of_ask(ask) == Some(*id))?;
    let ask = settle(
        kind,
        asks,
        |ask| of_ask(ask).map(|id| id.to_string()),
        card.map(|id| id.to_string()),
        facts,
    )?;
    if named.is_some_and(|card| card.frozen == freezes) {
        return Err(Refusal::about(ToolCode::NotPossibleNow, "card"));
    }
    let mut values = blank(&facts.rules_version);
    values.card = card;
    Ok(Proposal {
        kind,
        target_key: card.map_or_else(|| "card:open".to_owned(), |id| format!("card:{id}")),
        values,
        clause: ask.clause,
    })
}
