//! Texts that outsiders or a model wrote, made safe to look at. Pure: no I/O, no clock, no database.
//!
//! The panel shows outsiders' names through [`display_name`]; `intake` takes invisible characters out of a reply
//! with [`ReplyCleaner`] before the browser sees it, and asks [`claims`] whether to show the record beside it. The door
//! takes secrets out of what passes with a [`Redactor`] and labels what gives orders to a model with [`Injection`];
//! [`screen`] does both in one go. Nothing here decides about money; what keeps money safe never depends on a detector.

pub mod canary;
#[cfg(test)]
mod cases;
pub mod claim;
mod decode;
pub mod guard;
pub mod hidden;
pub mod holder;
pub mod inject;
pub mod lookalike;
mod marks;
pub mod name;
pub mod redact;
pub mod reply;
mod screened;

pub use claim::{Act, Claim, Stage, claims};
pub use inject::{Finding, Injection};
pub use name::{DisplayName, display_name};
pub use redact::{Redacted, Redactor, Replacement, Rules};
pub use reply::ReplyCleaner;
pub use screened::{Screened, screen};
