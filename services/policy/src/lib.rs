//! What may pass the door: a policy file, and the decision about one call.
//!
//! `default: deny` is the only default there is. A tool passes by its exact name, with declared
//! arguments only, with the definition it was pinned with. Rules can take away (deny, hold) and
//! never give; deny wins over approve wins over allow, whatever the order they are written in. What
//! cannot be evaluated denies.
//!
//! The crate is pure: it reads no file and no clock. It judges a strict parse of the bytes that are
//! forwarded, and changes nothing in them.

mod arguments;
mod decide;
mod decision;
mod file;
mod load;
mod name;
mod pin;
mod pin_edit;
mod rate;
mod read;
mod shape;
mod words;

pub use arguments::{ArgumentError, ArgumentProblem, ArgumentSpec, Arguments};
pub use decide::{Call, Counted, Live};
pub use decision::{Decision, Effect, Reason};
pub use file::{
    ARGUMENTS_MAX, Acknowledgement, ArgumentFile, ArgumentType, DefaultEffect, MethodFile, Mode,
    OnChange, PolicyFile, RuleEffect, RuleFile, ServerFile, ToolFile, schema,
};
pub use load::Policy;
pub use name::{Glob, check_name, name_tokens};
pub use pin::{Pin, PinError, definition_pin};
pub use pin_edit::{PinEditError, write_pins};
pub use rate::RateLimiter;
pub use read::PolicyError;
pub use words::{WRITE_WORDS, WriteWords};
