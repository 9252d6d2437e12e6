//! The bank's nouns, without I/O: ids, money, kinds and states of actions, the confirm record.
//!
//! This crate knows nobody. It reads no clock, no random source and no database; every other room
//! may depend on it. Money is integer minor units with checked arithmetic, and nothing here turns
//! an amount into a float.

pub mod action;
pub mod codes;
pub mod ids;
pub mod lifecycle;
pub mod limits;
pub mod money;
pub mod name_check;
pub mod record;
pub mod secret;
pub mod text;

pub use action::{ActionKind, ActionState, DisputeReason, Frequency, OrderOperation, ProfileField};
pub use codes::ToolCode;
pub use ids::{
    AccountId, ActionId, CardId, ConversationId, CustomerId, DocumentId, OrderId, PayeeId,
    TransferId, UtteranceId,
};
pub use money::{Currency, MinorUnits, Money};
pub use name_check::NameCheck;
pub use secret::Secret;
