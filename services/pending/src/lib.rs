//! Writes requests: what a customer's own words ask for, put before the customer on the panel.
//!
//! A model proposes; [`request`] takes the customer's lock, reads the messages and the bank's tables under it, and either
//! stores a pending action whose every value the customer named, or says no with one code. This crate may write version 1 of
//! a pending action and mark the one it replaces as superseded, with the events of both. It must not move money, confirm,
//! cancel, or change a value that the customer filled in on the panel.

mod asks;
mod dropped;
mod earlier;
mod event;
mod facts;
#[cfg(test)]
mod fixture;
mod limits;
mod names;
mod place;
mod propose;
mod refusal;
mod request;
mod shape;
mod status;
mod submit;
mod summary;
mod values;
mod write;

pub use countersign_provenance::Target;
pub use refusal::{Refusal, RequestError};
pub use request::{OrderAsked, PAYMENTS_MAX, PaymentAsked, Request, TransferAsked};
pub use status::{RequestStatus, StatusError, open_requests, request_status};
pub use submit::{Requested, Waiting, request};
