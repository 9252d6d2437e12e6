//! Connections to one server. Each is driven by whoever waits for its answer, so that a call changes
//! neither task nor thread on its way to the server and back.

mod answer;
mod chunks;
mod coming;
mod line;

use std::collections::VecDeque;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};

use http::{Response, Uri};
use tower::Service as _;

pub use self::coming::Coming;
use self::line::{Asked, Line};
use super::tls::Connector;
use super::upstream::UpstreamError;

/// How long an unused connection is kept; shorter than our servers keep theirs.
const IDLE_TIME_OUT: Duration = Duration::from_secs(10);
/// Most unused connections kept.
const IDLE_MAX: usize = 64;
/// How long the head of an answer may take, and a connection with its TLS.
const HEAD_TIME_OUT: Duration = Duration::from_secs(60);

/// Why a connection brought no answer, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The connection failed.
    #[error("use a connection")]
    Io(#[from] std::io::Error),
    /// It ended in the middle.
    #[error("the connection ended early")]
    Closed,
    /// What came is no head of an answer.
    #[error("read the head of an answer: {0}")]
    Head(&'static str),
    /// What came is no body in chunks.
    #[error("read a body in chunks: it is none")]
    Chunk,
    /// Nothing came in time.
    #[error("no answer in time")]
    Late,
}

/// Why no connection could be opened.
pub type ConnectError = Box<dyn Error + Send + Sync>;

/// The connections to one server.
pub struct Lines {
    uri: Uri,
    connector: Connector,
    /// By thread: a connection stays with the reactor it was opened on.
    idle: Arc<Shards>,
}

/// In how many parts unused connections are kept.
const SHARDS: usize = 16;

type Shards = [Mutex<Idle>; SHARDS];

/// The part of this thread.
fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    OWN.with(|own| *own)
}

/// Those that nobody uses, the one used last at the back.
#[derive(Default)]
struct Idle {
    lines: VecDeque<(Line, Instant)>,
    /// A task closes those that nobody uses for long.
    is_swept: bool,
}

fn lock(idle: &Mutex<Idle>) -> MutexGuard<'_, Idle> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lines {
    /// Connections to the server at this address. None is opened yet.
    pub fn new(uri: Uri, connector: Connector) -> Self {
        Self {
            uri,
            connector,
            idle: Arc::default(),
        }
    }

    /// Sends a request, its head and what of its body is not in there, and returns once the head of the
    /// answer is there.
    ///
    /// A request that met a connection closed in the meantime is sent on another one: nothing of it was
    /// written, so nothing can run twice.
    ///
    /// # Errors
    /// [`UpstreamError`].
    pub async fn send(&self, head: &[u8], body: &[u8]) -> Result<Response<Coming>, UpstreamError> {
        loop {
            let (mut line, is_kept) = match self.take().await {
                Some(line) => (line, true),
                None => (self.connect().await?, false),
            };
            match line.ask(head, body).await {
                Ok(answered) => {
                    let idle = Arc::downgrade(&self.idle);
                    let (response, framing, stays) =
                        (answered.response, answered.framing, answered.stays);
                    return Ok(response.map(|()| Coming::new(line, framing, stays, idle)));
                }
                Err(Asked::NotSent(_)) if is_kept => {}
                Err(Asked::NotSent(error)) => return Err(UpstreamError::NotSent(error)),
                Err(Asked::Failed(LineError::Late)) => return Err(UpstreamError::TimeOut),
                Err(Asked::Failed(error)) => return Err(UpstreamError::Connection(error)),
            }
        }
    }

    /// A connection that is open and unused.
    async fn take(&self) -> Option<Line> {
        std::future::poll_fn(|context| {
            loop {
                let Some((mut line, since)) = lock(&self.idle[shard()]).lines.pop_back() else {
                    return Poll::Ready(None);
                };
                if since.elapsed() < IDLE_TIME_OUT && line.is_quiet(context) {
                    return Poll::Ready(Some(line));
                }
            }
        })
        .await
    }

    async fn connect(&self) -> Result<Line, UpstreamError> {
        let mut connector = self.connector.clone();
        let connecting = async {
            std::future::poll_fn(|context| connector.poll_ready(context)).await?;
            connector.call(self.uri.clone()).await
        };
        match tokio::time::timeout(HEAD_TIME_OUT, connecting).await {
            Ok(Ok(stream)) => Ok(Line::new(stream)),
            Ok(Err(error)) => Err(UpstreamError::Connect(error)),
            Err(_) => Err(UpstreamError::Connect("it takes too long".into())),
        }
    }
}

/// Keeps a connection that nobody uses.
fn keep(idle: &Weak<Shards>, line: Line) {
    let Some(idle) = idle.upgrade() else { return };
    let shard = shard();
    let mut kept = lock(&idle[shard]);
    if kept.lines.len() >= IDLE_MAX {
        return;
    }
    kept.lines.push_back((line, Instant::now()));
    if !std::mem::replace(&mut kept.is_swept, true) {
        drop(kept);
        tokio::spawn(sweep(Arc::downgrade(&idle), shard));
    }
}

/// Closes connections that nobody uses for long, until there is none.
async fn sweep(idle: Weak<Shards>, shard: usize) {
    loop {
        tokio::time::sleep(IDLE_TIME_OUT).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = lock(&idle[shard]);
        while let Some((_, since)) = idle.lines.front()
            && since.elapsed() >= IDLE_TIME_OUT
        {
            idle.lines.pop_front();
        }
        if idle.lines.is_empty() {
            idle.is_swept = false;
            return;
        }
    }
}

#[cfg(test)]
mod tests;
