//! `GET /api/events`: wake-ups for the page, empty ones. What changed, the page reads for itself.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use countersign_serve::Problem;
use countersign_store::{SessionError, session::begin};
use futures_util::Stream;
use sqlx::PgPool;
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, MissedTickBehavior, interval_at},
};

use crate::{
    app::App,
    session::Session,
    wake::{Place, Wake},
};

/// How often the stream makes sure that its session still lives.
const AUTHENTICATE_EVERY: Duration = Duration::from_secs(60);
/// Wake-ups within this time become one.
const GATHER: Duration = Duration::from_millis(50);
/// A comment goes out this often, so that a dead connection is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Opens the stream.
pub async fn stream_wakes(State(app): State<App>, session: Session) -> Response {
    let Some((place, wakes)) = app.wakes.join(session.secret.hash()) else {
        return Problem::too_many_requests().into_response();
    };
    let stream = Wakeful {
        pool: app.pool,
        session,
        wakes,
        seen: None,
        _place: place,
    }
    .stream();
    Sse::new(stream)
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
        .into_response()
}

struct Wakeful {
    pool: PgPool,
    session: Session,
    wakes: Receiver<Wake>,
    /// How this customer's requests stood when the page was last woken.
    seen: Option<String>,
    _place: Place,
}

/// What became of one look at the session.
enum Look {
    Changed,
    Same,
    Over,
}

impl Wakeful {
    fn stream(self) -> impl Stream<Item = Result<Event, Infallible>> {
        let mut again = interval_at(Instant::now() + AUTHENTICATE_EVERY, AUTHENTICATE_EVERY);
        again.set_missed_tick_behavior(MissedTickBehavior::Delay);
        futures_util::stream::unfold((self, again), |(mut this, mut again)| async move {
            loop {
                tokio::select! {
                    heard = this.wakes.recv() => match heard {
                        Ok(Wake::Ended(hash)) if hash == this.session.secret.hash() => return None,
                        Ok(Wake::Ended(_)) => continue,
                        Ok(Wake::Changed) | Err(RecvError::Lagged(_)) => this.gather().await?,
                        Err(RecvError::Closed) => return None,
                    },
                    _ = again.tick() => {}
                    () = countersign_serve::stopping() => return None,
                }
                match this.look().await {
                    Look::Changed => {
                        return Some((Ok(Event::default().event("wake").data("")), (this, again)));
                    }
                    Look::Same => {}
                    Look::Over => return None,
                }
            }
        })
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
            Ok(Some(now)) if self.seen.as_ref() == Some(&now) => Look::Same,
            Ok(Some(now)) => {
                self.seen = Some(now);
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
             (SELECT max(sequence) FROM bank.utterance)) AS "standing!""#
    )
    .fetch_one(&mut *transaction)
    .await?;
    transaction.rollback().await?;
    Ok(alive.then_some(standing))
}
