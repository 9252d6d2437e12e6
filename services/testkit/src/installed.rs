//! The bank's schema in a database, without a crate whose queries are checked.
//!
//! `cargo xtask prepare` runs when the committed query metadata is out of date, and then `store` does not
//! compile. So this one file of `store`, which checks no query, is compiled here as well.

#[path = "../../store/src/install.rs"]
mod install;

pub use install::*;
