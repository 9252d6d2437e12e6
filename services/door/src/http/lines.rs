//! Connections to one server. Each is driven by whoever waits for its answer, so that a call changes
//! neither task nor thread on its way to the server and back.

use std::collections::VecDeque;
use std::error::Error;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service as _;

use super::tls::Connector;
use super::upstream::UpstreamError;

/// How long an unused connection is kept; shorter than our servers keep theirs.
const IDLE_TIME_OUT: Duration = Duration::from_secs(10);
/// Most unused connections kept.
const IDLE_MAX: usize = 64;

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// One connection.
struct Line {
    sender: SendRequest<Full<Bytes>>,
    connection: Connection<Stream, Full<Bytes>>,
}

impl Line {
    /// Does what there is to do on the connection. False when it is closed.
    fn drive(&mut self, context: &mut Context<'_>) -> bool {
        Pin::new(&mut self.connection).poll(context).is_pending()
    }

    /// Whether the server still reads requests here.
    fn is_ready(&mut self, context: &mut Context<'_>) -> bool {
        self.drive(context) && matches!(self.sender.poll_ready(context), Poll::Ready(Ok(())))
    }
}

/// The connections to one server.
pub struct Lines {
    uri: Uri,
    connector: Connector,
    /// By thread: a connection stays with the reactor it was opened on.
    idle: Arc<[Mutex<Idle>; SHARDS]>,
}

/// In how many parts unused connections are kept.
const SHARDS: usize = 16;

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

    /// Sends a request and returns once the head of the answer is there.
    ///
    /// A request that met a connection closed in the meantime is sent on another one: it was never
    /// written, so nothing can run twice.
    ///
    /// # Errors
    /// [`UpstreamError`].
    pub async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Coming>, UpstreamError> {
        loop {
            let (mut line, is_kept) = match self.take().await {
                Some(line) => (line, true),
                None => (self.connect().await?, false),
            };
            let error = match ask(&mut line, request).await {
                Ok(response) => {
                    return Ok(response.map(|body| Coming {
                        body,
                        line: Some(line),
                        idle: Arc::downgrade(&self.idle),
                    }));
                }
                Err(error) => error,
            };
            let mut error = error;
            request = match error.take_message() {
                Some(request) if is_kept => request,
                Some(_) => return Err(UpstreamError::NotSent(error.into_error())),
                None => return Err(UpstreamError::Connection(error.into_error())),
            };
        }
    }

    /// A connection that is open and unused.
    async fn take(&self) -> Option<Line> {
        std::future::poll_fn(|context| {
            loop {
                let Some((mut line, since)) = lock(&self.idle[shard()]).lines.pop_back() else {
                    return Poll::Ready(None);
                };
                if since.elapsed() < IDLE_TIME_OUT && line.is_ready(context) {
                    return Poll::Ready(Some(line));
                }
            }
        })
        .await
    }

    async fn connect(&self) -> Result<Line, UpstreamError> {
        let mut connector = self.connector.clone();
        std::future::poll_fn(|context| connector.poll_ready(context))
            .await
            .map_err(UpstreamError::Connect)?;
        let stream = connector.call(self.uri.clone()).await;
        let stream = stream.map_err(UpstreamError::Connect)?;
        let (sender, connection) = http1::handshake(stream)
            .await
            .map_err(UpstreamError::NotSent)?;
        Ok(Line { sender, connection })
    }
}

/// Sends a request on a connection and drives it until the head of the answer is there.
async fn ask(
    line: &mut Line,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
    let mut answer = pin!(line.sender.try_send_request(request));
    let connection = &mut line.connection;
    let mut is_open = true;
    std::future::poll_fn(|context| {
        if is_open {
            is_open = Pin::new(&mut *connection).poll(context).is_pending();
        }
        // Only the connection brings the answer, and it was just looked at: nobody has to be woken.
        answer
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    })
    .await
}

/// The body of an answer, with the connection that brings it.
pub struct Coming {
    body: Incoming,
    line: Option<Line>,
    idle: Weak<[Mutex<Idle>; SHARDS]>,
}

impl Coming {
    /// Everything was read: the connection is free for the next request.
    fn give_back(&mut self, context: &mut Context<'_>) {
        let Some(mut line) = self.line.take() else {
            return;
        };
        if let Some(idle) = self.idle.upgrade()
            && line.drive(context)
            && !line.sender.is_closed()
        {
            keep(&idle, line);
        }
    }
}

/// Keeps a connection that nobody uses.
fn keep(idle: &Arc<[Mutex<Idle>; SHARDS]>, line: Line) {
    let shard = shard();
    let mut kept = lock(&idle[shard]);
    if kept.lines.len() >= IDLE_MAX {
        return;
    }
    kept.lines.push_back((line, Instant::now()));
    if !std::mem::replace(&mut kept.is_swept, true) {
        drop(kept);
        tokio::spawn(sweep(Arc::downgrade(idle), shard));
    }
}

/// Closes connections that nobody uses for long, until there is none.
async fn sweep(idle: Weak<[Mutex<Idle>; SHARDS]>, shard: usize) {
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

impl Body for Coming {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let coming = self.get_mut();
        // Twice: the connection reads on when it sees that somebody waits for more.
        for _ in 0..2 {
            if let Some(line) = &mut coming.line
                && !line.drive(context)
            {
                coming.line = None;
            }
            match Pin::new(&mut coming.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    if coming.body.is_end_stream() {
                        coming.give_back(context);
                    }
                    return Poll::Ready(Some(Ok(frame)));
                }
                Poll::Ready(None) => {
                    coming.give_back(context);
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Err(error))) => {
                    coming.line = None;
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Pending => {}
            }
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        // An answer without a body is never polled; one that is not at its end ends its connection.
        if self.body.is_end_stream() {
            self.give_back(&mut Context::from_waker(Waker::noop()));
        }
    }
}

/// Why no connection could be opened.
pub type ConnectError = Box<dyn Error + Send + Sync>;
