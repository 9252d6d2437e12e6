//! Screening of what passes the door: secrets are taken out of the bytes, text that gives orders to a model
//! is labelled or does not pass. The record gets rule ids and counts, never what was found.

mod halves;
mod label;
mod line;
mod screens;

pub use label::Counts;
pub use screens::{Answer, Screens};
