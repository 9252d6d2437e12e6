//! The bank's tables: the schema and its roles, who is asking, and every read.
//!
//! This crate reads. Requests are written by `pending`, everything a Confirm touches by `execution`; each transaction begins
//! with [`session::begin`], so that row-level security knows whose rows it may see.

pub mod action;
pub mod grounding;
pub mod install;
pub mod read;
pub mod session;
pub mod slots;

pub use action::{StoredAction, StoredLine, StoredVersion};
pub use session::SessionError;
