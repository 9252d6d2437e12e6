//! What was asked and is not answered yet. An answer to anything else does not pass.

use std::collections::HashMap;

use countersign_wire::Id;

use super::ending::Ending;
use super::methods::List;

/// Most questions of one client that wait for their answers at once.
pub const ASKED_MAX: usize = 1_024;

/// An id, kept beyond the message it came in: the number or the characters, whatever the spelling.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// An exact integer.
    Integer(i64),
    /// A string.
    Text(Box<str>),
}

impl From<Id<'_>> for Key {
    fn from(id: Id<'_>) -> Self {
        match id {
            Id::Integer(number) => Self::Integer(number),
            Id::Text(text) => Self::Text(text.into()),
        }
    }
}

/// A question on its way, and what its answer has to be.
#[derive(Debug)]
pub struct Asked {
    /// The server it went to, by its place among the door's servers.
    pub server: usize,
    #[expect(dead_code, reason = "the screens read it")]
    /// The method.
    pub method: Box<str>,
    /// The tool, of a call.
    pub tool: Option<Box<str>>,
    /// The list that the answer holds.
    pub list: Option<List>,
    /// The id exactly as the client wrote it.
    pub id: Box<str>,
    /// The client's token for news of how it goes, as it was written; where the server got another.
    pub progress: Option<Box<str>>,
    /// The arguments as they were written, of a call whose server may answer that it needs more.
    pub arguments: Option<Box<str>>,
    /// How it ends.
    pub ending: Ending,
}

/// The open questions of one client to one server.
#[derive(Debug, Default)]
pub struct Open(HashMap<Key, Asked>);

/// Why a question is not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// Another question under this id still waits.
    #[error("take in a question: its id is in use")]
    IdInUse,
    /// Too many questions wait.
    #[error("take in a question: too many wait")]
    TooMany,
}

impl Open {
    /// Whether a question under this id may be asked now.
    ///
    /// # Errors
    /// [`NotOpened`].
    pub fn check(&self, key: &Key) -> Result<(), NotOpened> {
        if self.0.contains_key(key) {
            Err(NotOpened::IdInUse)
        } else if self.0.len() >= ASKED_MAX {
            Err(NotOpened::TooMany)
        } else {
            Ok(())
        }
    }

    /// Remembers a question.
    pub fn insert(&mut self, key: Key, asked: Asked) {
        self.0.insert(key, asked);
    }

    /// The question that is answered under this id, and no more open now.
    pub fn take(&mut self, key: &Key) -> Option<Asked> {
        self.0.remove(key)
    }

    /// The question that is open under this id.
    pub fn get(&self, key: &Key) -> Option<&Asked> {
        self.0.get(key)
    }

    /// Everything that is open, for when nothing will be answered any more.
    pub fn take_all(&mut self) -> Vec<(Key, Asked)> {
        self.0.drain().collect()
    }

    /// How many are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
