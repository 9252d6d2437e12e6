//! One route that is answered without the router: the same checks in the same order, and nothing between
//! the connection and the handler.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Method, Request, StatusCode, Uri};

use crate::Problem;
use crate::finish::{self, DeadlineBody};
use crate::guard::{self, Allowed};
use crate::limits::Limits;
use crate::plain::Answer;

/// What a handler's answer is until it is there.
pub type Answering<A> = Pin<Box<dyn Future<Output = A> + Send>>;

/// `POST` of one path.
#[derive(Clone)]
pub struct Direct {
    path: &'static str,
    uri: Uri,
    line: Arc<[u8]>,
    allowed: Arc<Allowed>,
    handler: Arc<dyn Fn(Request<Body>) -> Answering<Response> + Send + Sync>,
    plain: Arc<dyn Fn(HeaderMap, Bytes) -> Answering<Answer> + Send + Sync>,
}

impl Direct {
    /// `POST path` is answered by this handler, which bounds what it reads of the body itself. Who may ask
    /// is checked as [`guard::check_host_and_origin`] does.
    ///
    /// `plain` is the same handler for requests whose headers and body are all there; it is asked where
    /// nothing about a request is special, which is nearly always.
    pub fn post(
        path: &'static str,
        allowed: Arc<Allowed>,
        handler: impl Fn(Request<Body>) -> Answering<Response> + Send + Sync + 'static,
        plain: impl Fn(HeaderMap, Bytes) -> Answering<Answer> + Send + Sync + 'static,
    ) -> Self {
        Self {
            path,
            uri: Uri::from_static(path),
            line: format!("POST {path} HTTP/1.1\r\n").into_bytes().into(),
            allowed,
            handler: Arc::new(handler),
            plain: Arc::new(plain),
        }
    }

    /// The first line of its plain requests.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Whether whoever asks may ask here.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        guard::check(&self.allowed, &self.uri, headers).is_ok()
    }

    /// Answers a plain request of somebody who may ask.
    pub(crate) async fn answer_plain(&self, headers: HeaderMap, body: Bytes) -> Answer {
        match caught(|| (self.plain)(headers, body)).await {
            Answer::Response(response) => finish::as_problem(response).into(),
            whole @ Answer::Whole(_) => whole,
        }
    }

    /// The answer to whoever announced a body and did not send it. Its connection ends with it.
    pub(crate) fn too_slow() -> Response {
        let problem = Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "request_timeout",
            "The message was not sent in time",
        );
        finish::closing(problem.into_response())
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
        finish::as_problem(caught(|| (self.handler)(request)).await)
    }
}

/// What a handler answers; in the place of a panic the answer that every route gives.
async fn caught<A: From<Response>>(handler: impl FnOnce() -> Answering<A>) -> A {
    let mut answering = match catch_unwind(AssertUnwindSafe(handler)) {
        Ok(answering) => answering,
        Err(panic) => return finish::after_panic(panic).into(),
    };
    let answered = std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(context)));
        polled.unwrap_or_else(|panic| Poll::Ready(finish::after_panic(panic).into()))
    });
    answered.await
}

impl std::fmt::Debug for Direct {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Direct({})", self.path)
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::Router;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::Workers;
    use crate::server::{Fast, serve_within};

    async fn answer(request: Request<Body>) -> Response {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        match axum::body::to_bytes(request.into_body(), 100).await {
            Ok(body) if body.as_ref() == b"panic" => panic!("secret words"),
            Ok(body) => [name.as_bytes(), &body].concat().into_response(),
            Err(_) => http::StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        }
    }

    async fn ask(address: SocketAddr, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = head.replace("HOST", &address.to_string());
        let length = body.len();
        let request = format!(
            "POST /direct HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{head}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[tokio::test]
    async fn a_direct_route_is_checked_as_every_route_is_and_stays_on_its_worker() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let allowed = Arc::new(Allowed {
            hosts: vec![address.to_string()],
            origins: Vec::new(),
        });
        let fast = Fast {
            direct: Direct::post(
                "/direct",
                allowed,
                |request| Box::pin(answer(request)),
                |_, body| Box::pin(async { answer(Request::new(Body::from(body))).await.into() }),
            ),
            workers: Arc::new(Workers::start().unwrap()),
        };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let limits = Limits {
            body_read_time_out: std::time::Duration::from_millis(200),
            ..Limits::STANDARD
        };
        let serving = serve_within(
            limits,
            vec![listener.into()],
            Router::new(),
            Some(fast),
            async {
                let _ = stopped.await;
            },
        );
        let serving = tokio::spawn(serving);
        let plain = ask(address, "Host: HOST\r\n", "text").await;
        assert!(plain.ends_with("connectionstext"), "{plain}");
        for (head, body, status) in [
            ("Host: evil.example\r\n", "x", " 403 "),
            ("Host: HOST\r\nHost: HOST\r\n", "x", " 403 "),
            (
                "Host: HOST\r\nOrigin: http://evil.example\r\n",
                "x",
                " 403 ",
            ),
            ("Host: HOST\r\nTransfer-Encoding: chunked\r\n", "x", " 400 "),
            ("Host: HOST\r\n", "panic", " 500 "),
            ("Host: HOST\r\n", &"x".repeat(101), " 413 "),
        ] {
            let answer = ask(address, head, body).await;
            assert!(answer.contains(status), "{head}: {answer}");
            assert!(
                answer.contains("application/problem+json"),
                "{head}: {answer}"
            );
            assert!(!answer.contains("secret words"), "{answer}");
        }
        let other = ask(address, "Host: HOST\r\n", "").await;
        assert!(other.ends_with("connections"), "{other}");
        stop.send(()).unwrap();
        serving.await.unwrap();
    }
}
