//! Calls that wait for a person.
//!
//! A held call stands in memory alone, with a deadline, bound to the digest of the exact bytes the
//! server would receive. It ends once, in one of three ways: released, denied, or expired, which is
//! a denial that nobody gave. Every ending is signed and written down before it takes effect, and
//! what cannot be signed and written down leaves the call held. Nothing survives the process: a
//! door that stops denies what it held.
//!
//! This room knows no policy and no server. Whoever holds a call says under which terms; whoever
//! waits is told once.

mod caps;
mod decision;
mod desk;
mod elicit;
mod holds;
mod keeper;
pub mod meta;
mod notify;
mod open;
mod own_tools;
mod page;
mod record;
mod terms;
#[cfg(test)]
mod testing;
mod webhook;

pub use caps::Caps;
pub use meta::Wishes;
pub use open::{ApprovalArgs, Open, open};
pub use own_tools::{DEFINITIONS, OwnTools};
