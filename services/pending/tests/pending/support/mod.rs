//! Typed actors over a fresh database.

mod bank;
mod customer;
mod panel;
mod planted;

pub use bank::Bank;
pub use customer::{Customer, OrderRequest};
pub use panel::{Card, code_of};
pub use planted::Planted;

use countersign_domain::ToolCode;
use countersign_pending::{RequestError, Requested, Waiting};

/// The action that now waits, and was not there before.
#[track_caller]
pub fn waiting(result: Result<Requested, RequestError>) -> Waiting {
    match result {
        Ok(Requested::Waiting(waiting)) => waiting,
        other => panic!("expected a request that waits, got {other:?}"),
    }
}

/// The action that waited already.
#[track_caller]
pub fn already_waiting(result: Result<Requested, RequestError>) -> Waiting {
    match result {
        Ok(Requested::AlreadyWaiting(waiting)) => waiting,
        other => panic!("expected a request that waited already, got {other:?}"),
    }
}

/// The code and the value at fault.
#[track_caller]
pub fn refused(result: Result<Requested, RequestError>) -> (ToolCode, Option<&'static str>) {
    match result {
        Err(error) => (error.code(), error.what()),
        Ok(requested) => panic!("expected a refusal, got {requested:?}"),
    }
}
