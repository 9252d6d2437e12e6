//! Where a Confirm is made to wait.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::bank::Bank;

/// The number that a commit of a test waits for.
const COMMIT_GATE: i64 = 4_242;

/// A step of a Confirm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Before the customer's lock is taken.
    BeforeLock,
    /// Under the lock, before the first write to a table.
    Table(&'static str),
    /// All is written, and COMMIT was said.
    AtCommit,
    /// It is committed and on the disk, and nobody was told.
    AfterCommit,
}

/// What keeps it there; dropping it lets it go on.
pub struct Gate {
    stop: Stop,
    held: Option<PgConnection>,
}

impl Stop {
    /// What a test's own database needs: a commit that can be kept waiting.
    pub async fn prepare(bank: &Bank) {
        for statement in [
            format!(
                "CREATE FUNCTION public.wait_at_commit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
                 $$ BEGIN PERFORM pg_advisory_xact_lock_shared({COMMIT_GATE}); RETURN NULL; END $$"
            ),
            "CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON bank.execution DEFERRABLE INITIALLY DEFERRED
               FOR EACH ROW EXECUTE FUNCTION public.wait_at_commit()"
                .to_owned(),
        ] {
            bank.plant(&statement).await;
        }
    }

    /// Closes the way.
    pub async fn close(self, bank: &Bank) -> Gate {
        let mut held = bank.admin().await;
        match self {
            Self::BeforeLock => {
                held.execute("BEGIN; SELECT * FROM bank.customer_lock FOR UPDATE")
                    .await
            }
            // Readers pass; whoever writes waits.
            Self::Table(name) => {
                let lock = format!("BEGIN; LOCK TABLE bank.{name} IN SHARE ROW EXCLUSIVE MODE");
                held.execute(AssertSqlSafe(lock)).await
            }
            Self::AtCommit => {
                let gate = format!("SELECT pg_advisory_lock({COMMIT_GATE})");
                held.execute(AssertSqlSafe(gate)).await
            }
            Self::AfterCommit => {
                held.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
                    .await
                    .expect("ask for a standby");
                held.execute("SELECT pg_reload_conf()").await
            }
        }
        .expect("close the way");
        let held = (self != Self::AfterCommit).then_some(held);
        Gate { stop: self, held }
    }
}

impl Gate {
    /// Waits until a session of the panel stands here; false when none came within the time that anybody waits for a lock.
    pub async fn is_reached(&self, bank: &Bank) -> bool {
        let mut admin = bank.admin().await;
        for _ in 0..400 {
            let waiting: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM pg_stat_activity WHERE usename = 'panel' AND datname = current_database() AND CASE WHEN $1
                    THEN wait_event = 'SyncRep' ELSE wait_event_type = 'Lock' END",
            )
            .bind(self.stop == Stop::AfterCommit)
            .fetch_one(&mut admin)
            .await
            .expect("look");
            if waiting > 0 {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        false
    }

    /// Opens the way. Where the server ended meanwhile there is nothing left to open.
    pub async fn opens(self, bank: &Bank) {
        if let Some(held) = self.held {
            let _ = held.close().await;
        }
        if self.stop == Stop::AfterCommit {
            let mut admin = bank.admin().await;
            for statement in [
                "ALTER SYSTEM RESET synchronous_standby_names",
                "SELECT pg_reload_conf()",
            ] {
                admin.execute(statement).await.expect("no standby again");
            }
        }
    }
}
