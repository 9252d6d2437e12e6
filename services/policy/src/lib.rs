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
mod cap;
mod compile;
mod date;
mod decide;
mod decimal;
mod decision;
mod definition;
mod explain;
mod file;
mod ledger;
mod lint;
mod load;
mod name;
mod pin;
mod pin_edit;
mod places;
mod rate;
mod read;
mod reference;
mod rule;
mod screen;
mod server;
mod shape;
mod template;
mod words;

pub use arguments::{ArgumentError, ArgumentProblem, ArgumentSpec, Arguments};
pub use cap::CapProblem;
pub use decide::{Call, Circumstances, Counted, Live};
pub use decimal::{Decimal, DecimalError};
pub use decision::{Decision, Effect, Hold, PolicyMark, Reason};
pub use definition::{Gap, Proposal, lint_definitions};
pub use explain::{Check, Outcome, Step};
pub use file::{
    ARGUMENTS_MAX, Acknowledgement, ApprovalFile, ArgumentFile, ArgumentType, BuiltInRule, CapFile,
    CustomRuleFile, DefaultEffect, InjectionFile, InjectionMode, MethodFile, Mode, OnChangedTool,
    OnNewTool, PolicyFile, RedactionFile, RuleEffect, RuleFile, ServerFile, SuppressionFile,
    ToolFile, Way, WebhookFile, schema,
};
pub use ledger::{CapKey, CapLedger, CapWindow, Reservation};
pub use lint::{Finding, Severity, lint};
pub use load::Policy;
pub use name::{Glob, check_name, name_tokens};
pub use pin::{Pin, PinError, definition_pin};
pub use pin_edit::{PinEditError, write_pins};
pub use rate::RateLimiter;
pub use read::PolicyError;
pub use reference::{EXAMPLE, reference, schema_json};
pub use screen::{CustomRule, Injection, Redaction, Screening, Suppression};
pub use server::{Approval, Connection, Server, Webhook};
pub use template::{Environment, Filled};
pub use words::{WRITE_WORDS, WriteWords, forms_of};
