//! What a panel remembers of the bank's log outside the database, and the comparison before anything is executed.
//!
//! A database restored from an older copy looks whole: its own chains hold. Only somebody who saw a later head notices. Until a
//! person of the bank accepts the gap, nothing is executed over such a copy and no head is signed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use sqlx::PgConnection;

use crate::ActError;

/// A head of the bank's log, as it is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogHead {
    /// How many leaves; fits a number of the database.
    pub size: i64,
    /// The root over them.
    pub root: [u8; 32],
}

/// A stored head is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the root of a head is no hash")]
pub struct NoHead;

impl LogHead {
    /// A head as the database holds it.
    ///
    /// # Errors
    /// When the root is not 32 bytes.
    pub fn stored(size: i64, root: Vec<u8>) -> Result<Self, NoHead> {
        let root = root.try_into().map_err(|_| NoHead)?;
        Ok(Self { size, root })
    }
}

/// The newest head that this panel signed or saw. The caller keeps it outside the database as well, before it is remembered here.
#[derive(Debug, Default)]
pub struct LogMemory {
    head: RwLock<Option<LogHead>>,
    older: AtomicBool,
}

impl LogMemory {
    /// Begins with what was kept; nothing at a first start.
    #[must_use]
    pub fn new(kept: Option<LogHead>) -> Self {
        Self {
            head: RwLock::new(kept),
            older: AtomicBool::new(false),
        }
    }

    /// The newest head.
    pub fn head(&self) -> Option<LogHead> {
        *self.head.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a newer head.
    pub fn remember(&self, head: LogHead) {
        *self.head.write().unwrap_or_else(PoisonError::into_inner) = Some(head);
    }

    /// Whether the last comparison found another database than the remembered one.
    pub fn is_older_copy(&self) -> bool {
        self.older.load(Ordering::Relaxed)
    }

    /// Size and root as the comparison in SQL takes them; a size of nought is nothing remembered.
    pub(crate) fn compared(&self) -> (i64, Vec<u8>) {
        self.head()
            .map_or((0, Vec::new()), |head| (head.size, head.root.to_vec()))
    }

    /// Refuses at once what would be refused later, where that is known.
    pub(crate) fn refuse_if_older(&self) -> Result<(), ActError> {
        if self.is_older_copy() {
            return Err(ActError::OlderCopy);
        }
        Ok(())
    }

    /// The comparison in SQL said no.
    pub(crate) fn found_older(&self) -> ActError {
        self.note(false);
        ActError::OlderCopy
    }

    /// Says once that it changed.
    fn note(&self, stands: bool) {
        let before = self.older.swap(!stands, Ordering::Relaxed);
        if before && stands {
            tracing::info!("The database stands again; executions go on");
        } else if !before && !stands {
            tracing::error!(
                log.size = self.compared().0,
                "The database does not have the head of the log that is remembered here; nothing is executed until an operator accepts it"
            );
        }
    }

    /// Compares as role `panel`: for acts that move money by another way than a Confirm.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stands(&self, connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
        let (size, root) = self.compared();
        let stands = sqlx::query_scalar!(
            r#"SELECT bank.log_standing($1, $2) IN ('stands', 'accepted') AS "stands!""#,
            size,
            root
        )
        .fetch_one(connection)
        .await?;
        self.note(stands);
        Ok(stands)
    }

    /// Compares as role `notary`, which notes down what is missing.
    pub(crate) async fn look(&self, connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
        let (size, root) = self.compared();
        let standing = sqlx::query_scalar!(
            r#"SELECT bank.look_at_log($1, $2) AS "standing!""#,
            size,
            root
        )
        .fetch_one(connection)
        .await?;
        let stands = matches!(standing.as_str(), "stands" | "accepted");
        self.note(stands);
        Ok(stands)
    }
}
