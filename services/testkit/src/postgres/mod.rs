//! A private PostgreSQL: found, made, started as a child, stopped. The same code for `up` and for tests.

mod cluster;
mod find;
mod owner;

pub use cluster::{ADMIN, Cluster, ClusterOptions, Durability, Location};
pub use find::{Binaries, find};
pub use owner::Owner;
