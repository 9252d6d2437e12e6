//! Reads of the session's customer, one file per noun. Each query leaves the customer to row-level security and says so again in
//! its WHERE, so that the index is used.

pub mod account;
pub mod allowance;
pub mod card;
pub mod document;
pub mod history;
pub mod limit;
pub mod order;
pub mod payee;
pub mod spending;
pub mod transaction;

use countersign_domain::{Currency, MinorUnits};

/// Why a read gave nothing that can be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A stored value outside its enumeration or range. Nothing is shown from it.
    #[error("read a stored {0}")]
    Corrupt(&'static str),
    /// The database failed.
    #[error("read from the bank")]
    Database(#[from] sqlx::Error),
}

fn currency(code: &str) -> Result<Currency, ReadError> {
    code.parse().map_err(|_| ReadError::Corrupt("currency"))
}

fn amount(count: i64) -> Result<MinorUnits, ReadError> {
    MinorUnits::new(count).ok_or(ReadError::Corrupt("amount"))
}
