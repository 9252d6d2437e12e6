//! `GET /api/events`: wake-ups for the page, empty ones. What changed, the page reads for itself.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use countersign_serve::Problem;
use countersign_store::{SessionError, session::begin};
use futures_util::Stream;
use sqlx::PgPool;
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, Interval, MissedTickBehavior, interval_at},
};

use crate::{
    app::App,
    session::{self, Session},
    wake::{Place, Wake},
};

/// How often the stream makes sure that its session still lives.
const AUTHENTICATE_EVERY: Duration = Duration::from_secs(60);
/// Wake-ups within this time become one.
const GATHER: Duration = Duration::from_millis(50);
/// A comment goes out this often, so that a dead connection is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A wake-up on the wire. A browser drops an event without a line of data, so there is an empty one.
const WAKE: &str = "event: wake\ndata:\n\n";
/// A comment on the wire.
const COMMENT: &str = ":\n\n";

/// Opens the stream.
pub async fn stream_wakes(State(app): State<App>, session: Session) -> Response {
    let Some((place, wakes)) = app.wakes.join(session.secret.hash()) else {
        return Problem::too_many_requests().into_response();
    };
    // After joining, so that nothing falls between; the page reads its list when the stream opens.
    let seen = match standing(&app.pool, &session).await {
        Ok(Some(seen)) => seen,
        Ok(None) => return Problem::unauthorized().into_response(),
        Err(error) => return session::problem("open a stream", &error).into_response(),
    };
    let wakeful = Wakeful {
        pool: app.pool,
        session,
        wakes,
        seen,
        _place: place,
    };
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, Body::from_stream(wakeful.stream())).into_response()
}

struct Wakeful {
    pool: PgPool,
    session: Session,
    wakes: Receiver<Wake>,
    /// How this customer's requests stood when the page was last woken.
    seen: String,
    _place: Place,
}

/// What became of one look at the session.
enum Look {
    Changed,
    Same,
    Over,
}

impl Wakeful {
    fn stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        let authenticate = ticks(AUTHENTICATE_EVERY);
        let keep_alive = ticks(KEEP_ALIVE);
        let start = (self, authenticate, keep_alive);
        futures_util::stream::unfold(
            start,
            |(mut this, mut authenticate, mut keep_alive)| async {
                let text = loop {
                    tokio::select! {
                        heard = this.wakes.recv() => match heard {
                            Ok(Wake::Ended(hash)) if hash == this.session.secret.hash() => return None,
                            Ok(Wake::Ended(_)) => continue,
                            Ok(Wake::Changed) | Err(RecvError::Lagged(_)) => this.gather().await?,
                            Err(RecvError::Closed) => return None,
                        },
                        _ = authenticate.tick() => {}
                        _ = keep_alive.tick() => break COMMENT,
                        () = countersign_serve::stopping() => return None,
                    }
                    match this.look().await {
                        Look::Changed => break WAKE,
                        Look::Same => {}
                        Look::Over => return None,
                    }
                };
                Some((
                    Ok(Bytes::from_static(text.as_bytes())),
                    (this, authenticate, keep_alive),
                ))
            },
        )
    }

    /// Takes what else arrives in the next moment; None when the session was signed out in it.
    async fn gather(&mut self) -> Option<()> {
        tokio::time::sleep(GATHER).await;
        while let Ok(wake) = self.wakes.try_recv() {
            if wake == Wake::Ended(self.session.secret.hash()) {
                return None;
            }
        }
        Some(())
    }

    /// Looks with the page's own session: another customer's wake-up is none of this page's.
    async fn look(&mut self) -> Look {
        match standing(&self.pool, &self.session).await {
            Ok(Some(now)) if self.seen == now => Look::Same,
            Ok(Some(now)) => {
                self.seen = now;
                Look::Changed
            }
            Ok(None) => Look::Over,
            Err(error) => {
                // The page reconnects and reads for itself; a stream that cannot look is no use.
                tracing::warn!(%error, "Could not look whether a page must be woken");
                Look::Over
            }
        }
    }
}

/// Ticks from one period on, without hurry after a pause.
fn ticks(period: Duration) -> Interval {
    let mut ticks = interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// How the customer's requests and messages stand, in one comparable text; none for a dead session.
async fn standing(pool: &PgPool, session: &Session) -> Result<Option<String>, SessionError> {
    let mut transaction = begin(pool, &session.secret).await?;
    let alive = sqlx::query_scalar!("SELECT bank.current_customer()")
        .fetch_one(&mut *transaction)
        .await?
        .is_some();
    let standing = sqlx::query_scalar!(
        r#"SELECT concat_ws(' ',
             (SELECT string_agg(concat_ws(':', action_id, state, current_version), ' ' ORDER BY created_at DESC, action_id)
                FROM (SELECT action_id, state, current_version, created_at FROM bank.pending_action
                       ORDER BY created_at DESC, action_id LIMIT 20) AS newest),
             (SELECT max(sequence) FROM bank.utterance),
             (SELECT max(sequence) FROM bank.bank_event)) AS "standing!""#
    )
    .fetch_one(&mut *transaction)
    .await?;
    transaction.rollback().await?;
    Ok(alive.then_some(standing))
}
