//! A card as the panel's page receives it.

use countersign_domain::{ActionId, record::DisplayRow};
use serde::Serialize;

/// A warning in the bank's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The code that stands in the record and the receipt.
    pub code: &'static str,
    /// The sentence the customer reads.
    pub text: String,
}

/// The customer's own words beside the card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct YouWrote {
    /// At most 140 characters, without links, long runs of digits hidden.
    pub text: String,
}

/// How a slot is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotInput {
    /// One of the choices.
    Choice,
    /// A decimal string in the card's currency.
    Amount,
    /// One line of text.
    Text,
    /// A day, `YYYY-MM-DD`.
    Date,
}

/// One choice of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// What is sent back.
    pub value: String,
    /// What is shown; an outsider's name stands as stored.
    pub label: String,
}

/// A value that the customer has to fill in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenSlot {
    /// Its name in panel entries.
    pub slot: &'static str,
    /// The payment it belongs to, 0 for the whole card.
    pub line: i16,
    /// The field's label.
    pub label: String,
    /// One sentence that helps, bank-made.
    pub help: String,
    /// How it is filled.
    pub kind: SlotInput,
    /// The choices, for [`SlotInput::Choice`].
    pub choices: Option<Vec<Choice>>,
}

/// One payment of a card that has several: which of the card's rows are about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardPayment {
    /// Its number, by which it is dropped. The others keep theirs when one goes.
    pub line: i16,
    /// The place of its first row among the card's.
    pub first_row: usize,
    /// How many rows it has.
    pub rows: usize,
    /// What a button that drops it is about: `30.00 EUR to Alice`.
    pub about: String,
}

/// What a card that wants a passkey says about the customer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepUp {
    /// There is one: the button asks for it.
    Ready,
    /// There is none yet: one has to be set up first.
    NotEnrolled,
    /// All are lost and the bank is letting the customer back in: nothing that wants one is done meanwhile.
    Frozen,
}

/// A card. Without `confirm_hash` it has no button, and `message` says why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Card {
    /// The action's id.
    pub action: ActionId,
    /// The version of its values.
    pub version: i32,
    /// What it does.
    pub kind: &'static str,
    /// Where it stands.
    pub state: &'static str,
    /// What it is about, in the bank's words.
    pub title: String,
    /// The button's text: the act, the amount, the name.
    pub button: String,
    /// What is displayed, in order; exactly the record's.
    pub rows: Vec<DisplayRow>,
    /// The names on it that outsiders chose, for the page to isolate.
    pub names: Vec<String>,
    /// The payments, where there are several and each can be dropped; else empty.
    pub payments: Vec<CardPayment>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// The clause that grounds the request.
    pub you_wrote: Option<YouWrote>,
    /// What the customer has to fill in before there is a button.
    pub open_slots: Vec<OpenSlot>,
    /// Whether a note for the payee can be typed.
    pub note_allowed: bool,
    /// Later words that take the request back: Keep or Cancel.
    pub asks_again: Option<YouWrote>,
    /// Whether the press wants a passkey; the warnings say why.
    pub step_up: Option<StepUp>,
    /// What is left to send today after this, an estimate.
    pub left_today: Option<String>,
    /// When it was made, RFC 3339.
    pub created: String,
    /// When it ends, RFC 3339.
    pub expires: String,
    /// H in hexadecimal, what a Confirm carries.
    pub confirm_hash: Option<String>,
    /// The one-time nonce of this showing.
    pub nonce: Option<String>,
    /// What took its place.
    pub superseded_by: Option<ActionId>,
    /// One sentence, where there is no button or the card has ended.
    pub message: Option<String>,
    /// Where the receipt stands.
    pub receipt: Option<String>,
    /// How long it can be undone after Confirm, in seconds; 0 for not at all. Only where money goes to somebody else.
    pub undo_seconds: Option<i32>,
    /// Until when it can be undone, RFC 3339; absent once it cannot.
    pub undo_until: Option<String>,
    /// When it was undone, RFC 3339.
    pub undone: Option<String>,
    /// Why the bank waits, while it does.
    pub hold: Option<CardHold>,
}

/// Why the bank waits after a Confirm, and how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardHold {
    /// The reason's code.
    pub reason: String,
    /// What the customer reads.
    pub text: String,
    /// When it goes by itself, RFC 3339; absent where something has to happen first.
    pub goes: Option<String>,
    /// When it ends unsent, RFC 3339.
    pub ends: String,
}
