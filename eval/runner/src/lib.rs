//! Plays attacks and ordinary conversations against the real processes and says, from the bank's own rows, what came
//! of them. No model judges.
//!
//! It starts banks of its own, types as customers do, calls tools as a hostile agent would, presses what is on the
//! panel, and reads the database as its owner. It is for development and for those who want to check the product;
//! nothing depends on it.

pub mod agentdojo;
pub mod case;
pub mod cast;
pub mod evidence;
pub mod lines;
pub mod panel;
pub mod play;
pub mod progress;
pub mod raw;
pub mod recording;
pub mod redteam;
pub mod report;
pub mod search;
pub mod spoken;
pub mod sql;
pub mod stage;
pub mod suite;
pub mod tools;
