//! Language models behind one trait, and the built-in model that needs none.
//!
//! A model gets a conversation and the definitions of the tools, and answers with a stream of text
//! pieces and tool calls. It holds no token and no connection to the bank; it cannot
//! call a tool, only ask its caller to. Nothing here is a safety measure: whatever a model says or
//! asks for is judged by the door and the bank.
//!
//! The [`offline`] model is deterministic and says that it is one. It reads plain English by fixed
//! patterns, picks ids from what the tools answered, and leaves open what it is not sure of.
//! The [`remote`] ones speak to one configured endpoint with one key and nowhere else.

mod config;
mod conversation;
mod model;
pub mod offline;
pub mod remote;

pub use config::{ConfigError, ModelConfig};
pub use conversation::{Answer, Message, Prompt, ToolCall, ToolDefinition, ToolResult};
pub use model::{BadCall, Event, EventStream, Model, ModelError, Usage};
pub use offline::OfflineModel;
