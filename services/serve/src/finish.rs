//! What stands around every router: framing checks before it, problems instead of bare statuses after it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, header};
use tokio::time::{Instant, Sleep};

use crate::Problem;

/// Marks an answer (in its extensions) that must reach the client as it stands, such as a forwarded one.
#[derive(Clone, Copy, Debug)]
pub struct Verbatim;

/// Middleware around a whole service, outermost.
///
/// A request framed by chunks is refused and its connection closed: hyper drops a `Content-Length` beside
/// `Transfer-Encoding` before anybody can see that the request was framed two ways, and no client of ours
/// sends chunks. A body has a deadline. An error
/// answer without a body or with a library's plain text becomes a [`Problem`], so that an unknown route is
/// 404 `not_found`, a wrong method 405 with its `Allow`, and no rejection text of a library gets out.
pub(crate) async fn finish(
    State(body_read_time_out): State<Duration>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(refused) = refuse_chunks(request.headers()) {
        return refused;
    }
    let request = request.map(|body| Body::new(DeadlineBody::new(body, body_read_time_out)));
    as_problem(next.run(request).await)
}

/// The answer to a request framed by chunks.
pub(crate) fn refuse_chunks(headers: &HeaderMap) -> Option<Response> {
    if !headers.contains_key(header::TRANSFER_ENCODING) {
        return None;
    }
    let problem = Problem::bad_request(
        "length_required",
        "Send the request's length, and no chunks",
    );
    Some(closing(problem.into_response()))
}

/// The same answer, with which its connection ends.
pub(crate) fn closing(mut response: Response) -> Response {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

pub(crate) fn as_problem(response: Response) -> Response {
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error())
        || response.extensions().get::<Verbatim>().is_some()
    {
        return response;
    }
    let plain = match response.headers().get(header::CONTENT_TYPE) {
        None => response.body().is_end_stream(),
        Some(kind) => kind.as_bytes().starts_with(b"text/plain"),
    };
    if !plain {
        return response;
    }
    let mut problem = Problem::for_status(status).into_response();
    // What the refused client needs to go on; nothing else of the library's answer is kept.
    for name in [
        header::ALLOW,
        header::WWW_AUTHENTICATE,
        header::RETRY_AFTER,
        header::CONNECTION,
    ] {
        if let Some(value) = response.headers().get(&name) {
            problem.headers_mut().insert(name, value.clone());
        }
    }
    for (name, value) in response.headers() {
        if !problem.headers().contains_key(name) && is_page_header(name) {
            problem.headers_mut().insert(name, value.clone());
        }
    }
    problem
}

/// Headers that [`crate::headers`] set on the answer before it was turned into a problem.
fn is_page_header(name: &http::HeaderName) -> bool {
    matches!(
        name.as_str(),
        "content-security-policy"
            | "cross-origin-opener-policy"
            | "cross-origin-resource-policy"
            | "permissions-policy"
            | "referrer-policy"
            | "x-content-type-options"
    )
}

/// The answer after a panic: 500, and nothing of the panic's own words.
pub(crate) fn after_panic(_panic: Box<dyn std::any::Any + Send>) -> Response {
    Problem::internal().into_response()
}

/// Why a body ended early: its deadline had passed.
#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive in time")]
pub(crate) struct BodyTooSlow;

/// A request body that fails once its deadline has passed, however slowly its bytes drip.
pub(crate) struct DeadlineBody {
    body: Body,
    deadline: Instant,
    /// From the first time on that there was nothing to read; mostly all of it is there.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl DeadlineBody {
    pub(crate) fn new(body: Body, time: Duration) -> Self {
        Self {
            body,
            deadline: Instant::now() + time,
            sleep: None,
        }
    }
}

impl HttpBody for DeadlineBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let deadline = self.deadline;
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if sleep.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(BodyTooSlow.into())));
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
