//! The panel's side of a request: what the card shows, and everything a customer can make of it.
//!
//! Only `panel` depends on this crate. Every transition here takes the customer's lock first and recomputes what the card claims
//! from the customer's words and the bank's tables; what cannot be reproduced is neither shown with a button nor run. Money
//! moves in one place, the database function `bank.confirm_action`, which [`confirm::confirm`] calls.

mod aftermath;
pub mod cancel;
pub mod card;
pub mod cards;
mod care;
mod change;
pub mod confirm;
mod draw;
pub mod drop_line;
pub mod error;
mod event;
mod facts;
pub mod fill;
mod hold;
pub mod keep;
pub mod limit;
pub mod loops;
mod matching;
mod next_version;
pub mod notices;
pub mod older_copy;
pub mod passkeys;
mod picture;
pub mod receipt;
mod recheck;
pub mod release;
mod slots;
pub mod step_up;
pub mod undo;
mod wording;

pub use card::Card;
pub use error::ActError;
pub use older_copy::LogMemory;
pub use step_up::StepUpRefusal;
