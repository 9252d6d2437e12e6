//! One file for each thing that `cargo xtask` does.

pub mod db;
pub mod prepare;
pub mod up;
