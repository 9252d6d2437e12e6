//! People and machines that act on a bank: a customer with a browser's requests, and an agent in the test's hands.
//!
//! They speak HTTP to the real processes and nothing else, so that what they cannot do, nobody on that side can.

mod captive_agent;
mod customer;
mod door_client;
mod operator;

pub use captive_agent::{CaptiveAgent, Turn};
pub use customer::{Customer, PanelAnswer};
pub use door_client::{DoorClient, ToolAnswer};
pub use operator::{Operator, Page};
