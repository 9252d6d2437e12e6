//! The panel's loops: each one turn of work at a time, with a login of its own. The caller decides how often.

pub mod checker;
pub mod notary;
pub mod poster;
pub mod relay;
pub mod releaser;
pub mod sweeper;

/// Why a turn of a loop did not finish. The next turn tries again; nothing is lost.
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    /// The database failed.
    #[error("a turn of a loop")]
    Database(#[from] sqlx::Error),
    /// A held payment could not be looked at.
    #[error("look after a held payment")]
    Release(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The log's stored nodes do not fit its size, or a head could not be signed.
    #[error("sign the head of the bank's log: {0}")]
    Log(String),
}
