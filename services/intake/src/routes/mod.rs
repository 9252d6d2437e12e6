//! One file per endpoint.

pub mod conversations;
pub mod history;
pub mod messages;
pub mod redeem;
