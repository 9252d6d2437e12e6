//! The bank's loops beside the pages: poster, expiry sweeper, releaser, outbox relay, notary. Each has a login of its own.

use std::{fmt::Display, future::Future, time::Duration};

use countersign_execution::loops::{notary, poster, releaser, sweeper};
use countersign_receipts::LogSigner;
use sqlx::PgPool;

use crate::{name_check::Checker, notices::Relay, session::new_secret};

/// Pause between two turns of the poster and of the sweeper.
const TURN: Duration = Duration::from_millis(500);
/// Pause between two turns of the notary: a head of the log is signed at most a second after an event.
const NOTARY_TURN: Duration = Duration::from_millis(400);
/// Pause after a turn that failed.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Credits payees inside the bank and posts what is due, for ever.
pub async fn post(pool: PgPool) {
    repeat("poster", TURN, async || poster::turn(&pool).await.map(drop)).await;
}

/// Expires what nobody confirmed in time, for ever.
pub async fn sweep(pool: PgPool) {
    repeat("sweeper", TURN, async || {
        sweeper::turn(&pool).await.map(drop)
    })
    .await;
}

/// Lets held payments go whose time has come, for ever.
pub async fn release(pool: PgPool, pages: PgPool) {
    repeat("releaser", TURN, async || {
        releaser::turn(&pool, &pages, &mut new_secret)
            .await
            .map(drop)
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

/// Gathers events into the bank's log and signs its head, for ever.
pub async fn notarise(pool: PgPool, signer: LogSigner) {
    repeat("notary", NOTARY_TURN, async || {
        notary::turn(&pool, &signer).await.map(drop)
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
