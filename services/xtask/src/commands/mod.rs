//! One file for each thing that `cargo xtask` does.

pub mod bank;
pub mod db;
pub mod deploy;
pub mod eval;
pub mod ledger;
pub mod nightly;
pub mod prepare;
pub mod release;
pub mod test;
pub mod up;
