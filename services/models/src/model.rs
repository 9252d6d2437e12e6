//! The one trait every model has.

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::{Prompt, ToolCall};

/// A piece of a model's reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The next words for the customer.
    Text(String),
    /// A tool the model wants used.
    Call(ToolCall),
    /// The reply is complete.
    Done,
}

/// A reply as it comes. Dropping it ends it, at a remote model as well.
pub type EventStream<'a> = BoxStream<'a, Result<Event, ModelError>>;

/// Why a model gave no (complete) reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It cannot be reached, is overloaded, or took too long.
    #[error("ask the model: it is not available")]
    Unavailable,
    /// It answered something that is no reply.
    #[error("ask the model: its answer is malformed")]
    Malformed,
    /// The conversation is larger than it takes.
    #[error("ask the model: the conversation is too long for it")]
    TooLong,
}

/// A language model, or something that talks like one.
#[async_trait]
pub trait Model: Send + Sync {
    /// A short name for logs, such as `offline`.
    fn name(&self) -> &'static str;

    /// Asks for the next part of the assistant's turn: words, tool calls or both.
    ///
    /// # Errors
    /// [`ModelError`] when it gives none; the stream may still fail later with the same.
    async fn reply<'a>(&'a self, prompt: &'a Prompt) -> Result<EventStream<'a>, ModelError>;
}
