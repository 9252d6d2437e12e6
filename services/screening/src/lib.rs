//! Texts that outsiders or a model wrote, made safe to look at. Pure: no I/O, no clock, no database.
//!
//! The panel shows outsiders' names through [`display_name`]; `intake` takes invisible characters out of a reply
//! with [`ReplyCleaner`] before the browser sees it, and asks [`claims_done`] whether to show the record beside it. Nothing here decides about money;
//! what keeps money safe never depends on a detector.

pub mod canary;
pub mod claim;
mod decode;
pub mod hidden;
pub mod lookalike;
pub mod name;
pub mod redact;
pub mod reply;

pub use claim::{Claim, claims_done};
pub use name::{DisplayName, display_name};
pub use redact::{Redacted, Redactor, Rules};
pub use reply::ReplyCleaner;
