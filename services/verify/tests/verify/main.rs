//! The command with files it is given, and with what somebody did to them.

mod gate;
mod ledger;
mod log;
mod permission;
mod record;
mod run;
mod vectors;
