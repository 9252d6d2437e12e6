//! Texts that outsiders or a model wrote, made safe to look at. Pure: no I/O, no clock, no database.
//!
//! Three readers use it: the panel shows outsiders' names through [`display_name`], `intake` takes invisible
//! characters out of a reply with [`ReplyCleaner`] before the browser sees it. Nothing here decides about money;
//! what keeps money safe never depends on a detector.

pub mod hidden;
pub mod lookalike;
pub mod name;
pub mod reply;

pub use name::{DisplayName, display_name};
pub use reply::ReplyCleaner;
