//! One file for each thing that `cargo xtask` does.

pub mod bank;
pub mod db;
pub mod eval;
pub mod ledger;
pub mod nightly;
pub mod prepare;
pub mod test;
pub mod up;
