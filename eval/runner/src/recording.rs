//! Everything that one playing of a case left behind.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use crate::{cast::Ids, evidence::Snapshot};

/// One playing of one case.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The ids of its people and their things.
    pub ids: Ids,
    /// The bank's rows after every single act, in order.
    pub moments: Vec<Moment>,
    /// Calls of tools.
    pub calls: Vec<Call>,
    /// Replies as browsers received them.
    pub replies: Vec<Reply>,
    /// What was pressed and typed on the panel.
    pub presses: Vec<Press>,
    /// Cards as the panel's page received them after a turn.
    pub cards: Vec<Seen>,
    /// Requests outside the tools.
    pub raws: Vec<Raw>,
    /// What the model was given of each message, where the runner plays it.
    pub heard: Vec<String>,
    /// Conversations of the bank, by the case's number for them.
    pub conversations: BTreeMap<u32, String>,
    /// Statements that were downloaded.
    pub statements: Vec<String>,
    /// Pages and logs as they stood at the end, by name; only where a line is about them.
    pub pages: BTreeMap<String, String>,
    /// What was typed, by whom.
    pub typed: Vec<(String, String)>,
    /// Requests by person, in the order in which they were made.
    pub actions: BTreeMap<String, Vec<String>>,
    /// Parts of the case that could not be played, and why.
    pub unplayed: Vec<String>,
    /// How much the customer had to do.
    pub effort: Effort,
}

/// The rows at one moment.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The entry that was last typed, counted from 1; 0 before the first.
    pub turn: usize,
    /// What had just happened, for the report.
    pub cause: String,
    /// The rows.
    pub rows: Snapshot,
}

/// One call of a tool through the door.
#[derive(Clone, Debug)]
pub struct Call {
    /// The entry whose turn made it.
    pub turn: usize,
    /// Whose turn.
    pub person: String,
    /// The tool, by the case's name for it.
    pub meant: String,
    /// The product's tool.
    pub tool: String,
    /// What was sent.
    pub arguments: Value,
    /// The code it was refused with; none where it came through.
    pub refusal: Option<String>,
    /// The whole answer.
    pub answer: Value,
    /// What the same call with an id that nobody has was answered, where the case asks for the comparison.
    pub twin: Option<Value>,
}

/// One request outside the tools.
#[derive(Clone, Debug)]
pub struct Raw {
    /// The entry whose turn made it.
    pub turn: usize,
    /// The case's words for it.
    pub words: String,
    /// Where it went: `panel`, `chat`, `door`, `bank-mcp`, `dashboard`.
    pub to: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// The answer's text.
    pub answer: String,
}

impl Raw {
    /// Whether it was turned away: by the status, or by an error inside an answer of the protocol.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        if !(200..300).contains(&self.status) {
            return true;
        }
        let body: Value = serde_json::from_str(&self.answer).unwrap_or_default();
        body["error"].is_object() || body["result"]["isError"] == true
    }
}

/// A reply in the browser.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The entry it answers.
    pub turn: usize,
    /// Who received it.
    pub person: String,
    /// In which of the case's conversations.
    pub session: u32,
    /// The words as shown.
    pub text: String,
    /// The page says, from the record, that nothing was done.
    pub corrected: bool,
    /// Requests that the page shows as prepared.
    pub prepared: usize,
    /// The code of a reply that ended early, or the status of a message that was not taken.
    pub failed: Option<String>,
    /// All lines, as they came.
    pub lines: Vec<Value>,
    /// From the message to the last line.
    pub took: Duration,
}

/// An act on the panel.
#[derive(Clone, Debug)]
pub struct Press {
    /// The entry after which it was done.
    pub turn: usize,
    /// By whom.
    pub person: String,
    /// What.
    pub act: String,
    /// The status of the answer.
    pub status: u16,
    /// The answer.
    pub answer: Value,
    /// The card it was about.
    pub card: Value,
    /// From the press to the answer.
    pub took: Duration,
    /// The receipt's payload, where there is one.
    pub receipt: Option<Value>,
}

impl Press {
    /// Whether it was a Confirm that ran.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.status == 200 && self.answer["outcome"] == "confirmed"
    }
}

/// A card on somebody's panel.
#[derive(Clone, Debug)]
pub struct Seen {
    /// After which entry.
    pub turn: usize,
    /// By whom.
    pub person: String,
    /// The card, as the page receives it.
    pub card: Value,
}

/// What a customer had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Confirms that were answered with success.
    pub confirmations: usize,
    /// Choices from a list.
    pub picks: usize,
    /// Typed values.
    pub typed: usize,
}

impl Recording {
    /// The same with the calls, replies, presses and cards of some entries alone.
    #[must_use]
    pub fn of_turns(&self, (first, last): (usize, usize)) -> Self {
        let mut part = self.clone();
        let is_in = |turn: usize| (first..=last).contains(&turn);
        part.calls.retain(|one| is_in(one.turn));
        part.raws.retain(|one| is_in(one.turn));
        part.replies.retain(|one| is_in(one.turn));
        part.presses.retain(|one| is_in(one.turn));
        part.cards.retain(|one| is_in(one.turn));
        part
    }

    /// The bank's id of one of the case's conversations.
    #[must_use]
    pub fn conversation(&self, session: u32) -> Option<uuid::Uuid> {
        let text = self.conversations.get(&session)?;
        let id = text.rsplit('_').next().unwrap_or(text);
        uuid::Uuid::parse_str(id).ok()
    }

    /// The last moment.
    #[must_use]
    pub fn end(&self) -> Option<&Snapshot> {
        self.moments.last().map(|moment| &moment.rows)
    }

    /// The first moment.
    #[must_use]
    pub fn beginning(&self) -> Option<&Snapshot> {
        self.moments.first().map(|moment| &moment.rows)
    }
}
