//! The agent: takes one turn of a conversation, asks the model, calls tools through the door, streams the reply.
//!
//! It is assumed to be hostile, so it holds nothing that could hurt: no database, no signing key, no memory. A
//! turn's token comes with the turn, is good for the door alone, and is forgotten with it. Limits here are for
//! costs and good manners; what keeps money safe stands behind the door and on the panel.

pub mod clock;
pub mod config;
pub mod door;
pub mod guard;
pub mod limits;
pub mod line;
pub mod router;
pub mod routes;
pub mod turn;
pub mod words;
