//! Draws a card from stored values: pure, so that what is shown and what a Confirm compares come from one function.

use countersign_domain::{
    ActionKind, ActionState,
    record::{CanonicalError, ConfirmRecord, confirm_hash},
};
use countersign_provenance::Input;
use countersign_store::action::StoredAction;
use countersign_texts::Texts;

use crate::{
    aftermath::Aftermath,
    card::{Card, YouWrote},
    care,
    event::timestamp,
    facts::Facts,
    hold,
    picture::Picture,
    recheck::Standing,
    slots::open_slots,
    step_up, wording,
};

/// A drawn card and, where it is complete and may be confirmed, the record behind it.
pub(crate) struct Drawn {
    pub card: Card,
    pub record: Option<SealedRecord>,
}

/// A record in canonical bytes, with its H.
pub(crate) struct SealedRecord {
    pub record: ConfirmRecord,
    pub bytes: Vec<u8>,
    pub confirm_hash: [u8; 32],
}

/// What the customer's words make of an action, for [`draw`].
pub(crate) struct Ground<'a> {
    pub standing: &'a Standing,
    pub input: &'a Input,
    /// Salted hash of the message that asks, hexadecimal.
    pub message_hash: String,
}

pub(crate) fn draw(
    action: &StoredAction,
    facts: &Facts,
    ground: Option<&Ground<'_>>,
    aftermath: &Aftermath,
) -> Result<Drawn, CanonicalError> {
    let picture = Picture::new(action, facts);
    let mut card = blank(action, &picture);
    card.undo_seconds = picture.can_be_undone().then_some(facts.undo_seconds);
    if action.state != ActionState::Pending {
        card.hold = aftermath
            .hold
            .as_ref()
            .map(|hold| hold::shown(facts.texts, hold));
        card.undo_until = aftermath.undo_until.map(timestamp);
        card.undone = aftermath.undone_at.map(timestamp);
        card.message = Some(ended(facts.texts, action, &picture, aftermath));
        card.receipt =
            (action.state == ActionState::Confirmed).then(|| format!("/receipts/{}", action.id));
        return Ok(Drawn { card, record: None });
    }
    let Some(ground) = ground else {
        return Ok(Drawn { card, record: None });
    };
    if action.expires_at <= facts.now {
        let ended = "This has ended. Ask again in the chat if you still want it.";
        card.message = Some(facts.texts.say(ended).to_owned());
        return Ok(Drawn { card, record: None });
    }
    match ground.standing {
        Standing::Unreproducible => {
            let other = "This does not match what you wrote. Cancel it and ask again.";
            card.message = Some(facts.texts.say(other).to_owned());
            return Ok(Drawn { card, record: None });
        }
        Standing::AsksAgain { clause, later } => {
            card.you_wrote = wording::excerpt(ground.input, *clause).map(|text| YouWrote { text });
            card.asks_again = wording::excerpt(ground.input, *later).map(|text| YouWrote { text });
            return Ok(Drawn { card, record: None });
        }
        Standing::OnPanel => {}
        Standing::Live { clause } => {
            card.you_wrote = wording::excerpt(ground.input, *clause).map(|text| YouWrote { text });
        }
    }
    if facts.frozen && !may_while_frozen(action.kind) {
        card.message = Some(facts.texts.say(wording::refusal("frozen")).to_owned());
        return Ok(Drawn { card, record: None });
    }
    card.payments = picture.payments_to_drop();
    card.open_slots = open_slots(action, facts);
    card.left_today = picture.left_today();
    card.step_up = step_up::of(action, facts, &picture);
    if let Some(refusal) = picture.refusal() {
        card.message = Some(facts.texts.say(wording::refusal(refusal)).to_owned());
        return Ok(Drawn { card, record: None });
    }
    if !card.open_slots.is_empty() {
        return Ok(Drawn { card, record: None });
    }
    let record = picture.record(&card, ground.message_hash.clone());
    let bytes = record.canonical_bytes()?;
    let confirm_hash = confirm_hash(&bytes);
    card.confirm_hash = Some(hex::encode(confirm_hash));
    Ok(Drawn {
        card,
        record: Some(SealedRecord {
            record,
            bytes,
            confirm_hash,
        }),
    })
}

/// The record of an action as the bank would make it now, for comparison with one that was confirmed.
pub(crate) fn record_now(action: &StoredAction, facts: &Facts, grounding: String) -> ConfirmRecord {
    let picture = Picture::new(action, facts);
    picture.record(&blank(action, &picture), grounding)
}

/// The card of an action before anything is said of where it stands.
fn blank(action: &StoredAction, picture: &Picture<'_>) -> Card {
    Card {
        action: action.id,
        version: action.values.version,
        kind: action.kind.text(),
        state: action.state.text(),
        title: picture.title(),
        button: picture.button(),
        rows: picture.rows(),
        names: picture.names(),
        payments: Vec::new(),
        warnings: picture.warnings(),
        you_wrote: None,
        open_slots: Vec::new(),
        note_allowed: action.kind == ActionKind::Transfer,
        asks_again: None,
        step_up: None,
        left_today: None,
        created: timestamp(action.created_at),
        expires: timestamp(action.expires_at),
        confirm_hash: None,
        nonce: None,
        superseded_by: action.superseded_by,
        message: None,
        receipt: None,
        undo_seconds: None,
        undo_until: None,
        undone: None,
        hold: None,
    }
}

/// Whether a kind of action may take effect while payments are stopped: what makes less leave may. The database says the same.
const fn may_while_frozen(kind: ActionKind) -> bool {
    matches!(
        kind,
        ActionKind::CardFreeze | ActionKind::StandingOrderCancel | ActionKind::Dispute
    )
}

/// One sentence for a card that is over.
fn ended(
    texts: &Texts,
    action: &StoredAction,
    picture: &Picture<'_>,
    aftermath: &Aftermath,
) -> String {
    let reason = action.reason.as_deref().unwrap_or("");
    let plain = match action.state {
        ActionState::Superseded => "Replaced by a newer request.",
        ActionState::Cancelled if action.reason.as_deref() == Some(care::TOLD) => {
            "Stopped. Nothing was sent. Nobody from the bank or the police tells you what to answer here: end the \
             call, and call the number on the back of your card."
        }
        ActionState::Cancelled => wording::cancelled(reason),
        ActionState::Expired if reason == "hold_expired" => {
            "The bank waited as long as it may. Nothing was sent. Ask again if you still want it."
        }
        ActionState::Expired => "Nobody confirmed this in time. Nothing happened.",
        ActionState::Refused => wording::refusal(reason),
        ActionState::Held => {
            return aftermath.hold.as_ref().map_or_else(
                || texts.say("You agreed to this. The bank waits.").to_owned(),
                |hold| hold::shown(texts, hold).text,
            );
        }
        ActionState::Confirmed => {
            return wording::done(
                texts,
                action.kind,
                picture.total(),
                aftermath.undo_until.is_some(),
                aftermath.undone_at.is_some(),
            );
        }
        ActionState::Pending => return String::new(),
    };
    texts.say(plain).to_owned()
}
