//! Wake-ups: one listening connection to the database, and everybody's live-update stream behind it.
//!
//! A wake-up carries nothing. It says that somebody's requests changed; each stream then looks with
//! its own session whether its own customer's did.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use sqlx::postgres::PgListener;
use tokio::sync::broadcast;

/// The database's channel for wake-ups.
const CHANNEL: &str = "countersign_wake";
/// Wake-ups a slow stream may lag behind; more count as one.
const BACKLOG: usize = 64;
/// Live-update streams of one session. A browser's tabs share one; the rest is for reloads.
const STREAMS_PER_SESSION_MAX: usize = 4;
/// Pause before the listening connection is opened again.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);

/// What a stream hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Something of somebody's changed.
    Changed,
    /// The session with this hash was signed out here.
    Ended([u8; 32]),
}

/// The panel's streams and the way to wake them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Wakes {
    sender: broadcast::Sender<Wake>,
    streams: Arc<Mutex<HashMap<[u8; 32], usize>>>,
}

impl Default for Wakes {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG),
            streams: Arc::default(),
        }
    }
}

/// A stream's place among its session's streams. Given back when it is dropped.
#[derive(Debug)]
pub struct Place {
    session: [u8; 32],
    streams: Arc<Mutex<HashMap<[u8; 32], usize>>>,
}

impl Wakes {
    /// Wakes every stream.
    pub fn wake(&self) {
        // Nobody listening is no failure.
        let _ = self.sender.send(Wake::Changed);
    }

    /// Ends the streams of a session that was signed out.
    pub fn end(&self, session: [u8; 32]) {
        let _ = self.sender.send(Wake::Ended(session));
    }

    /// Takes a place for one more stream of a session; none when it has all it may have.
    pub fn join(&self, session: [u8; 32]) -> Option<(Place, broadcast::Receiver<Wake>)> {
        let mut streams = lock(&self.streams);
        let count = streams.entry(session).or_default();
        if *count >= STREAMS_PER_SESSION_MAX {
            return None;
        }
        *count += 1;
        let place = Place {
            session,
            streams: Arc::clone(&self.streams),
        };
        Some((place, self.sender.subscribe()))
    }

    /// Listens to the database for ever, and wakes everybody after each pause in listening: what
    /// happened meanwhile was not heard.
    pub async fn listen(self, database_url: countersign_domain::Secret) {
        loop {
            if let Err(error) = self.listen_once(&database_url).await {
                tracing::warn!(%error, "Lost the connection that hears wake-ups");
            }
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
    }

    async fn listen_once(
        &self,
        database_url: &countersign_domain::Secret,
    ) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect(database_url.expose()).await?;
        listener.ignore_pool_close_event(true);
        listener.listen(CHANNEL).await?;
        self.wake();
        loop {
            // None: the connection was lost and is back.
            listener.try_recv().await?;
            self.wake();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut streams = lock(&self.streams);
        if let Some(count) = streams.get_mut(&self.session) {
            *count -= 1;
            if *count == 0 {
                streams.remove(&self.session);
            }
        }
    }
}

fn lock(
    streams: &Mutex<HashMap<[u8; 32], usize>>,
) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], usize>> {
    streams
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_a_bounded_number_of_streams() {
        let wakes = Wakes::default();
        let mut places: Vec<_> = (0..STREAMS_PER_SESSION_MAX)
            .map(|_| wakes.join([1; 32]).expect("a place"))
            .collect();
        assert!(wakes.join([1; 32]).is_none());
        assert!(
            wakes.join([2; 32]).is_some(),
            "another session has places of its own"
        );
        places.pop();
        assert!(wakes.join([1; 32]).is_some());
        drop(places);
        assert!(lock(&wakes.streams).is_empty());
    }
}
