//! Language models behind one trait, and the built-in model that needs none.
//!
//! A model gets a conversation and the definitions of the tools, and answers with a stream of text
//! pieces and tool calls. It holds no token, no key of the bank and no connection to it; it cannot
//! call a tool, only ask its caller to. Nothing here is a safety measure: whatever a model says or
//! asks for is judged by the door and the bank.
//!
//! The [`offline`] model is deterministic and says that it is one. It reads plain English by fixed
//! patterns, picks ids from what the tools answered, and leaves open what it is not sure of.

mod config;
mod conversation;
mod model;
pub mod offline;

pub use config::ModelConfig;
pub use conversation::{Answer, Message, Prompt, ToolCall, ToolDefinition, ToolResult};
pub use model::{Event, EventStream, Model, ModelError};
pub use offline::OfflineModel;
