//! Judges what customers saw against what the ledger ended up with.
//!
//! Clients record each call: who, what, when it began and ended, what was answered. The ledger's export is read as a stranger would read it.
//! This crate shares no code with the services: it knows the two files, and what must be true of them together.

mod export;
mod judge;

use serde::{Deserialize, Serialize};

pub use export::Ledger;
pub use judge::judge;

/// One call of one client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Which client, and whose session it has.
    pub client: usize,
    /// The customer, as receipts name them.
    pub customer: String,
    /// When it began and when its answer was there, in milliseconds since 1970.
    pub start: i64,
    /// See `start`.
    pub end: i64,
    /// What was called.
    pub what: What,
    /// What came back; nothing when no answer came.
    pub answer: Option<Answer>,
}

/// What a client does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum What {
    /// Looks at the cards.
    Look,
    /// Presses Confirm of a card that was shown with this H.
    Confirm {
        /// Which action.
        action: String,
        /// H in hexadecimal.
        confirm_hash: String,
    },
    /// Presses Cancel.
    Cancel {
        /// Which action.
        action: String,
    },
    /// Presses Undo.
    Undo {
        /// Which action.
        action: String,
    },
}

/// What a client sees of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Which action.
    pub action: String,
    /// Where it stands.
    pub state: String,
    /// Whether it was undone.
    pub undone: bool,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Of a confirmed or held one: which.
    #[serde(default)]
    pub outcome: Option<String>,
    /// The receipt's short code.
    #[serde(default)]
    pub short_code: Option<String>,
    /// The balance after it, as it was shown, in the smallest unit.
    #[serde(default)]
    pub balance: Option<i64>,
    /// The cards of a look.
    #[serde(default)]
    pub cards: Vec<Seen>,
}
