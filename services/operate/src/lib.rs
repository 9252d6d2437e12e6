//! What an operator is handed beside the programs, and what keeps it true: deploy files, API descriptions, bills of materials.
//!
//! It reads files of the checkout (sources with `syn`, manifests with `cargo metadata`, history with `git`) and compares them with each other. It
//! depends on no service, so that its tests build in seconds, and no service depends on it.

pub mod bill;
pub mod cloud;
pub mod compose;
pub mod edges;
pub mod files;
pub mod history;
pub mod kubernetes;
pub mod openapi;
pub mod routes;
pub mod settings;
pub mod source;
pub mod statements;
pub mod trust;
