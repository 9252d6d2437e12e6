//! The one trait every model has.

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::{Prompt, ToolCall};

/// A piece of a model's reply.
///
/// The last one is [`Event::Done`], [`Event::CutShort`] or [`Event::Declined`]; a stream that ends without one broke
/// off. Calls come only before `Done`: those of a reply that was cut are not handed out.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The next words for the customer.
    Text(String),
    /// A tool the model wants used.
    Call(ToolCall),
    /// A call that cannot be made as it was written. Its answer belongs under the same id.
    BadCall(BadCall),
    /// What the reply used, as the provider counts.
    Usage(Usage),
    /// The reply is complete.
    Done,
    /// The reply reached its length limit in the middle. Nothing it asked for may be done.
    CutShort,
    /// The provider's own filter stopped the reply. Nothing it asked for may be done.
    Declined,
}

/// A tool call whose arguments are no JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadCall {
    /// The model's own name for this call.
    pub id: String,
    /// The tool it names.
    pub tool: String,
}

/// Tokens of one reply, prompt included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// A reply as it comes. Dropping it ends it, at a remote model as well.
pub type EventStream<'a> = BoxStream<'a, Result<Event, ModelError>>;

/// Why a model gave no (complete) reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It cannot be reached or broke off.
    #[error("ask the model: it is not available")]
    Unavailable,
    /// It said, after every retry, that it has too much to do.
    #[error("ask the model: it is overloaded")]
    Overloaded,
    /// It took too long to begin, to go on or to end.
    #[error("ask the model: it took too long")]
    TimedOut,
    /// It does not take the key.
    #[error("ask the model: the key is not accepted; look at the key and what it may be used for")]
    KeyRefused,
    /// It does not take the request: usually a model's name it does not know.
    #[error(
        "ask the model: the request is refused (status {0}); look at the model's name and the endpoint"
    )]
    RequestRefused(u16),
    /// It points to another address. Keys and conversations are not taken elsewhere.
    #[error("ask the model: it points to another address, which is not followed")]
    Redirected,
    /// It answered something that is no reply.
    #[error("ask the model: its answer is malformed")]
    Malformed,
    /// It answered more than any reply needs.
    #[error("ask the model: its answer has no end")]
    TooMuch,
    /// The conversation is larger than it takes.
    #[error("ask the model: the conversation is too long for it")]
    TooLong,
}

/// A language model, or something that talks like one.
#[async_trait]
pub trait Model: Send + Sync {
    /// A short name for logs, such as `offline`.
    fn name(&self) -> &'static str;

    /// Whether what it uses is counted against budgets. Not so for a model that is part of the program.
    fn is_metered(&self) -> bool {
        true
    }

    /// What a use costs, in millionths of the currency's unit. Nothing where no prices are configured.
    fn cost_micros(&self, usage: Usage) -> u64 {
        let _ = usage;
        0
    }

    /// Asks for the next part of the assistant's turn: words, tool calls or both.
    ///
    /// # Errors
    /// [`ModelError`] when it gives none; the stream may still fail later with the same.
    async fn reply<'a>(&'a self, prompt: &'a Prompt) -> Result<EventStream<'a>, ModelError>;
}
