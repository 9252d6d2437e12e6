//! The accept loops, and HTTP/1.1 on each connection: here, on a worker, or in few words where all are at work.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower::ServiceExt;

use super::{Fast, until_true};
use crate::Problem;
use crate::connections::{Connection, Connections};
use crate::direct::Direct;
use crate::finish;
use crate::limits::{self, Limits};
use crate::listen::Listener;
use crate::plain::{self, Ended};
use crate::tls::Certificates;
use crate::workers::Workers;

/// Pause after a failed accept, so that a full descriptor table does not spin the loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Who answers one request.
enum Answerer {
    Known(Response),
    Direct(Direct),
    Router(Router),
}

/// What every connection of a service shares.
#[derive(Clone)]
pub(super) struct Service {
    limits: Limits,
    router: Router,
    direct: Option<Direct>,
    /// None while it serves one connection: whatever runs on a worker must not keep it.
    workers: Option<Arc<Workers>>,
    connections: Arc<Connections>,
    shed: Shed,
    stopped: watch::Receiver<bool>,
}

/// What answers while every connection is at work: that this is so, and whether the process is well.
#[derive(Clone)]
struct Shed {
    connections: Arc<Connections>,
    router: Router,
}

impl Shed {
    fn new() -> Self {
        Self {
            connections: Connections::new(limits::SHED_CONNECTIONS_MAX),
            router: Router::new()
                .route("/health", get(crate::health))
                .fallback(async || Problem::busy())
                .layer(map_response(async |response| finish::closing(response))),
        }
    }
}

impl Service {
    /// A service without a connection yet, until `stopped` is true.
    pub(super) fn new(
        limits: Limits,
        router: Router,
        fast: Option<&Fast>,
        stopped: watch::Receiver<bool>,
    ) -> Self {
        Self {
            limits,
            router,
            direct: fast.map(|fast| fast.direct.clone()),
            workers: fast.map(|fast| Arc::clone(&fast.workers)),
            connections: Connections::new(limits.connections_max),
            shed: Shed::new(),
            stopped,
        }
    }

    /// Takes connections in until the service is stopped.
    pub(super) async fn accept(mut self, listener: Listener) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.socket.accept() => accepted,
                () = until_true(&mut self.stopped) => return,
            };
            match accepted {
                Ok((stream, _)) => {
                    let Some(connection) = self.connections.admit() else {
                        tracing::warn!("Shed a connection: all are at work");
                        self.shed(stream, listener.certificates.clone());
                        continue;
                    };
                    let _ = stream.set_nodelay(true);
                    self.clone()
                        .hand_over(stream, connection, listener.certificates.clone());
                }
                Err(error) => {
                    tracing::warn!(%error, "Could not accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Tells one client too many when to come again, and whoever asks that the process is well. It has few
    /// connections and little time; the idlest makes room, and where none is idle the client is cut off.
    fn shed(&self, stream: TcpStream, certificates: Option<Arc<Certificates>>) {
        let Some(connection) = self.shed.connections.admit() else {
            return;
        };
        let service = Self {
            limits: Limits {
                head_read_time_out: limits::SHED_READ_TIME_OUT.min(self.limits.head_read_time_out),
                ..self.limits
            },
            router: self.shed.router.clone(),
            direct: None,
            workers: None,
            ..self.clone()
        };
        tokio::spawn(service.begin(stream, connection, certificates));
    }

    /// Serves a connection here or on a worker.
    fn hand_over(
        mut self,
        stream: TcpStream,
        connection: Connection,
        certificates: Option<Arc<Certificates>>,
    ) {
        let Some(workers) = self.workers.take() else {
            tokio::spawn(self.begin(stream, connection, certificates));
            return;
        };
        // It leaves this reactor and enters the worker's.
        let Ok(stream) = stream.into_std() else {
            return;
        };
        workers.spawn(async move {
            if let Ok(stream) = TcpStream::from_std(stream) {
                self.begin(stream, connection, certificates).await;
            }
        });
    }

    async fn begin(
        self,
        stream: TcpStream,
        connection: Connection,
        certificates: Option<Arc<Certificates>>,
    ) {
        let Some(certificates) = certificates else {
            return self.serve(stream, connection).await;
        };
        // Whoever does not shake hands in time, or when room is needed, has said nothing yet.
        let time = self.limits.head_read_time_out;
        let shaken = tokio::select! {
            shaken = tokio::time::timeout(time, certificates.accept(stream)) => shaken,
            () = connection.evicted() => return,
        };
        if let Ok(Some(stream)) = shaken {
            self.serve_all(stream, connection, None).await;
        }
    }

    async fn serve(self, mut stream: TcpStream, connection: Connection) {
        let ended = match &self.direct {
            Some(direct) => {
                plain::serve(
                    &mut stream,
                    direct,
                    &self.limits,
                    &connection,
                    &self.stopped,
                )
                .await
            }
            None => return self.serve_all(stream, connection, None).await,
        };
        let Ended::Other { read, answer } = ended else {
            return;
        };
        let (reads, writes) = stream.into_split();
        let io = tokio::io::join(std::io::Cursor::new(read).chain(reads), writes);
        self.serve_all(io, connection, answer).await;
    }

    /// Serves whatever a connection says. `first` is the answer to its first request, where it is known.
    async fn serve_all(
        mut self,
        io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        connection: Connection,
        first: Option<Response>,
    ) {
        let connection = Arc::new(connection);
        let of_requests = Arc::clone(&connection);
        let (router, limits) = (self.router, self.limits);
        let direct = self.direct;
        let first = Mutex::new(first);
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let in_progress = of_requests.begin();
            let known = first.lock().unwrap_or_else(PoisonError::into_inner).take();
            let answerer = match (known, &direct) {
                (Some(known), _) => Answerer::Known(known),
                (None, Some(direct)) if direct.takes(&request) => Answerer::Direct(direct.clone()),
                _ => Answerer::Router(router.clone()),
            };
            async move {
                let request = request.map(|body| in_progress.from_read(Body::new(body)));
                let response = match answerer {
                    Answerer::Known(known) => after(request, known).await,
                    Answerer::Direct(direct) => direct.answer(&limits, request).await,
                    Answerer::Router(router) => router.oneshot(request).await?,
                };
                Ok::<_, Infallible>(response.map(|body| in_progress.until_written(body)))
            }
        });
        let serving = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_read_time_out)
            .max_buf_size(limits::HEAD_BYTES_MAX)
            .max_headers(limits::HEADERS_MAX)
            .serve_connection(TokioIo::new(io), service);
        let mut serving = std::pin::pin!(serving);
        // What ends a connection early (a closed peer, a time-out, a broken request) is the client's affair.
        tokio::select! {
            _ = serving.as_mut() => {}
            () = connection.evicted() => {}
            () = until_true(&mut self.stopped) => {
                serving.as_mut().graceful_shutdown();
                let _ = tokio::time::timeout(self.limits.shutdown_grace, serving).await;
            }
        }
    }
}

/// The answer that is known, once the request was read again. One that ends its connection waits for nothing.
async fn after(request: Request<Body>, known: Response) -> Response {
    if !known.headers().contains_key(http::header::CONNECTION) {
        let _ = axum::body::to_bytes(request.into_body(), plain::BODY_BYTES_MAX).await;
    }
    known
}
