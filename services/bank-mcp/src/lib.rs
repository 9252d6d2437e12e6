//! The bank's MCP server: what an assistant can read of one customer, and what it can ask that customer to confirm.
//!
//! It may read the customer that the presented secret opens and write requests into that customer's panel, with the
//! rights of the database role `bank_mcp`. It must never execute anything, hold a signing key, or take a customer,
//! prose or a note as an argument. It answers nobody but the door: every message carries the door's token for
//! exactly its bytes, once.
//!
//! Reading order: `app` (what stands in front), `gate` (the token), `router` (every tool), `tools` (one file each).

pub mod answer;
pub mod app;
pub mod argument;
pub mod call;
pub mod canary;
pub mod config;
pub mod gate;
pub mod metrics;
pub mod refusal;
pub mod router;
pub mod server;
pub mod tool;
pub mod tools;
pub mod untrusted;

pub use call::{Bank, Call};
pub use refusal::Refusal;
pub use untrusted::Untrusted;
