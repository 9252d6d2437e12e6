//! Bad input over real processes: every row of `fixtures/cases/bad-inputs.tsv`, through the door and, with a
//! token as the door would make it, directly to the bank's server.
//!
//! Each group counts what the bank holds before and after. A refusal has a code that programs can read, and
//! shows nothing of how the bank is made.

mod answer;
mod arguments;
mod framing;
mod headers;
mod logs;
mod messages;
mod presses;
mod raw;
mod site;
mod table;
mod tokens;
