//! The bank's loops beside the pages: poster, expiry sweeper, releaser, outbox relay, notary. Each has a login of its own.

use std::{fmt::Display, future::Future, sync::Arc, time::Duration};

use countersign_execution::{
    LogMemory,
    loops::{LoopError, notary, poster, releaser, sweeper},
};
use countersign_receipts::LogSigner;
use sqlx::PgPool;

use crate::{name_check::Checker, notices::Relay, remembered::Remembered, session::new_secret};

/// Pause between two turns of the poster and of the sweeper.
const TURN: Duration = Duration::from_millis(500);
/// Pause between two turns of the notary: a head of the log is signed at most a second after an event.
const NOTARY_TURN: Duration = Duration::from_millis(400);
/// Pause after a turn that failed.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Credits payees inside the bank and posts what is due, for ever. Over an older copy nothing is: it may have left already.
pub async fn post(pool: PgPool, pages: PgPool, log: Arc<LogMemory>) {
    repeat_over_the_remembered("poster", &pages, &log, async || poster::turn(&pool).await).await;
}

/// Expires what nobody confirmed in time, for ever. Over an older copy nothing is: a raise of a limit may have been stopped.
pub async fn sweep(pool: PgPool, pages: PgPool, log: Arc<LogMemory>) {
    repeat_over_the_remembered("sweeper", &pages, &log, async || sweeper::turn(&pool).await).await;
}

/// Lets held payments go whose time has come, for ever.
pub async fn release(pool: PgPool, pages: PgPool, log: Arc<LogMemory>) {
    repeat_over_the_remembered("releaser", &pages, &log, async || {
        releaser::turn(&pool, &pages, &mut new_secret, &log).await
    })
    .await;
}

/// Checks the names of payees at other banks, for ever.
pub async fn check_names(pool: PgPool, checker: Checker) {
    repeat("name checker", TURN, async || checker.turn(&pool).await).await;
}

/// Delivers notices, for ever.
pub async fn relay(pool: PgPool, relay: Relay) {
    repeat("relay", TURN, async || relay.turn(&pool).await).await;
}

/// Gathers events into the bank's log and signs its head, for ever; keeps the newest head outside the database.
pub async fn notarise(
    pool: PgPool,
    signer: LogSigner,
    remembered: Remembered,
    log: Arc<LogMemory>,
) {
    repeat("notary", NOTARY_TURN, async || {
        let newest = notary::turn(&pool, &signer, &log).await?;
        if let Some(newest) = newest.filter(|newest| Some(*newest) != log.head()) {
            remembered.keep(newest).map_err(|error| {
                LoopError::Log(format!(
                    "keep the newest head outside the database: {error}"
                ))
            })?;
            log.remember(newest);
        }
        Ok::<_, LoopError>(())
    })
    .await;
}

/// Takes turns for ever, each over a database that has what is remembered of the log; else it is left out.
async fn repeat_over_the_remembered<F, T>(
    name: &'static str,
    pages: &PgPool,
    log: &LogMemory,
    turn: impl Fn() -> F,
) where
    F: Future<Output = Result<T, LoopError>>,
{
    repeat(name, TURN, async || {
        if log.stands(&mut *pages.acquire().await?).await? {
            turn().await?;
        }
        Ok::<_, LoopError>(())
    })
    .await;
}

/// Takes turns for ever. A failure is told once, and then again only after a turn that worked.
async fn repeat<F, E>(name: &'static str, pause: Duration, turn: impl Fn() -> F)
where
    F: Future<Output = Result<(), E>>,
    E: Display,
{
    let mut failing = false;
    loop {
        match turn().await {
            Ok(()) => {
                failing = false;
                tokio::time::sleep(pause).await;
            }
            Err(error) => {
                if !failing {
                    tracing::error!(%error, "The {name} could not take its turn; it goes on trying");
                }
                failing = true;
                tokio::time::sleep(AFTER_FAILURE).await;
            }
        }
    }
}
