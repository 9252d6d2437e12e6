//! One route that is answered without the router: the same checks in the same order, and nothing between
//! the connection and the handler.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{Method, Request};

use crate::finish::{self, DeadlineBody};
use crate::guard::{self, Allowed};
use crate::limits::Limits;

/// What a handler's answer is until it is there.
pub type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// `POST` of one path.
#[derive(Clone)]
pub struct Direct {
    path: &'static str,
    allowed: Arc<Allowed>,
    handler: Arc<dyn Fn(Request<Body>) -> Answering + Send + Sync>,
}

impl Direct {
    /// `POST path` is answered by this handler, which bounds what it reads of the body itself. Who may ask
    /// is checked as [`guard::check_host_and_origin`] does.
    pub fn post(
        path: &'static str,
        allowed: Arc<Allowed>,
        handler: impl Fn(Request<Body>) -> Answering + Send + Sync + 'static,
    ) -> Self {
        Self {
            path,
            allowed,
            handler: Arc::new(handler),
        }
    }

    /// Whether this is its request.
    pub(crate) fn takes<B>(&self, request: &Request<B>) -> bool {
        request.method() == Method::POST && request.uri().path() == self.path
    }

    /// Answers it.
    pub(crate) async fn answer(&self, limits: &Limits, request: Request<Body>) -> Response {
        if let Some(refused) = finish::refuse_chunks(request.headers()) {
            return refused;
        }
        if let Err(problem) = guard::check(&self.allowed, request.uri(), request.headers()) {
            return problem.into_response();
        }
        let time = limits.body_read_time_out;
        let request = request.map(|body| Body::new(DeadlineBody::new(body, time)));
        let answering = catch_unwind(AssertUnwindSafe(|| (self.handler)(request)));
        let mut answering = match answering {
            Ok(answering) => answering,
            Err(panic) => return finish::after_panic(panic),
        };
        let answered = std::future::poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(context)));
            polled.unwrap_or_else(|panic| Poll::Ready(finish::after_panic(panic)))
        });
        finish::as_problem(answered.await)
    }
}

impl std::fmt::Debug for Direct {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Direct({})", self.path)
    }
}
