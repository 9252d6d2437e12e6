//! Named limits of every listener, and helpers for those that a route sets itself.

use std::time::Duration;

use http::StatusCode;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;

/// Longest request head (request line and headers).
pub const HEAD_BYTES_MAX: usize = 32 * 1024;

/// Most headers in one request.
pub const HEADERS_MAX: usize = 64;

/// Longest request body where a route sets no limit of its own.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

/// Most open connections. One more makes the longest idle one close.
pub const CONNECTIONS_MAX: usize = 1024;

/// Most connections beside them that are told to come again later, or asked about health.
pub const SHED_CONNECTIONS_MAX: usize = 32;

/// Time for sending such a request's head.
pub const SHED_READ_TIME_OUT: Duration = Duration::from_secs(2);

/// Time for sending a request's head or for a TLS handshake; an idle kept-alive connection has the same.
pub const HEAD_READ_TIME_OUT: Duration = Duration::from_secs(15);

/// Time for sending a request's whole body.
pub const BODY_READ_TIME_OUT: Duration = Duration::from_secs(30);

/// Time that requests in progress have after SIGTERM or SIGINT.
pub const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(3);

/// Limits of a whole service. `run` uses [`Limits::STANDARD`]; connections beyond the most, and tests, have less time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Open connections. One more makes the longest idle one close.
    pub(crate) connections_max: usize,
    /// Time for sending a request's head; an idle kept-alive connection has the same.
    pub(crate) head_read_time_out: Duration,
    /// Time for sending a request's whole body, so that one byte a second does not hold a handler.
    pub(crate) body_read_time_out: Duration,
    /// Time that requests in progress have after SIGTERM or SIGINT.
    pub(crate) shutdown_grace: Duration,
}

impl Limits {
    /// What every service runs with.
    pub(crate) const STANDARD: Self = Self {
        connections_max: CONNECTIONS_MAX,
        head_read_time_out: HEAD_READ_TIME_OUT,
        body_read_time_out: BODY_READ_TIME_OUT,
        shutdown_grace: SHUTDOWN_TIME_MAX,
    };
}

/// A layer that refuses bodies over `bytes` with 413; at most [`BODY_BYTES_MAX`] in effect for extractors.
#[must_use]
pub fn body_limit(bytes: usize) -> RequestBodyLimitLayer {
    RequestBodyLimitLayer::new(bytes)
}

/// A layer that gives a handler `duration` to begin its answer, then answers 503 `busy` and drops the
/// handler's future (an open transaction rolls back). Not for routes that must not be asked again.
#[must_use]
pub fn handler_time_out(duration: Duration) -> TimeoutLayer {
    TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, duration)
}
