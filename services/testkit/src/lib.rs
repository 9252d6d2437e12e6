//! Starts real processes for tests and for `cargo xtask`: PostgreSQL, databases, the bank's services.
//!
//! For development alone; no service depends on it. It confirms over HTTP as a browser does, and never
//! reaches the crate that executes.

pub mod bank;
pub mod cage;
pub mod checkout;
pub mod database;
pub mod files;
pub mod installed;
pub mod ledger;
pub mod people;
pub mod postgres;
pub mod secrets;
pub mod server;
pub mod sockets;
pub mod spawn;
pub mod stack;

pub use bank::Bank;
pub use database::Database;
pub use server::TestServer;
pub use stack::{Service, Stack};
