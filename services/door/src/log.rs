//! The record: one line a decision, written before the decision takes effect.
//!
//! How lines get to the disk, how heads are signed and what happens when neither can be done is
//! `countersign-journal`'s affair; what the lines say stands in `record.rs`.

pub use countersign_journal::{Journal as DecisionLog, WriteError};
