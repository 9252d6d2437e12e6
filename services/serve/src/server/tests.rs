use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::guard::{self, Allowed};
use crate::{Json, Problem};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    amount: String,
}

const SHORT: Limits = Limits {
    connections_max: 64,
    head_read_time_out: Duration::from_millis(400),
    body_read_time_out: Duration::from_millis(400),
    shutdown_grace: Duration::from_millis(600),
};

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

async fn start() -> Running {
    start_within(SHORT).await
}

async fn start_within(limits: Limits) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("address");
    let allowed = Arc::new(Allowed {
        hosts: vec![address.to_string()],
        origins: Vec::new(),
    });
    let router = Router::new()
        .route("/health", get(crate::health))
        .route(
            "/ask",
            post(|Json(ask): Json<Ask>| async move { ask.amount }),
        )
        .route(
            "/panic",
            get(|| async { panic!("secret words") as &'static str }),
        )
        .route("/busy", get(|| async { Err::<(), _>(Problem::busy()) }))
        .route(
            "/slow",
            get(|| async {
                tokio::time::sleep(Duration::from_millis(300)).await;
                "done"
            }),
        )
        .route("/endless", get(|| async { Body::new(Endless) }))
        .route(
            "/forwarded",
            get(|| async {
                use axum::response::IntoResponse;
                let mut response = (http::StatusCode::BAD_REQUEST, "as it came").into_response();
                response.extensions_mut().insert(crate::Verbatim);
                response
            }),
        )
        .layer(from_fn_with_state(allowed, guard::check_host_and_origin));
    let (stop, stopped) = oneshot::channel();
    let server = tokio::spawn(serve_within(
        limits,
        vec![listener.into()],
        router,
        None,
        async {
            let _ = stopped.await;
        },
    ));
    Running {
        address,
        stop,
        server,
    }
}

/// An answer that never ends.
struct Endless;

impl axum::body::HttpBody for Endless {
    type Data = axum::body::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
        std::task::Poll::Pending
    }
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("connect")
    }

    /// Sends `head` with `HOST` replaced, and everything up to the connection's end is the answer.
    async fn raw(&self, head: &str) -> String {
        let mut stream = self.connect().await;
        let head = head.replace("HOST", &self.address.to_string());
        stream.write_all(head.as_bytes()).await.expect("write");
        let mut answer = Vec::new();
        // A refused request may end in a reset after the answer.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn ask(&self, headers: &str, body: &str) -> String {
        let length = body.len();
        self.raw(&format!(
            "POST /ask HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\
             Content-Length: {length}\r\n{headers}\r\n{body}"
        ))
        .await
    }
}

fn assert_problem(answer: &str, status: u16, code: &str) {
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{answer}"
    );
    assert!(
        answer.contains("content-type: application/problem+json\r\n"),
        "{answer}"
    );
    let body: serde_json::Value =
        serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap_or_default())
            .unwrap_or_else(|_| panic!("no JSON body: {answer}"));
    assert_eq!(body["type"], format!("urn:countersign:problem:{code}"));
    assert_eq!(body["status"], status);
}

#[tokio::test]
async fn every_refusal_is_a_problem() {
    let server = start().await;
    let close = "Connection: close\r\n\r\n";
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: HOST\r\n{close}");
    assert_problem(&server.raw(&get("/nowhere")).await, 404, "not_found");
    assert_problem(&server.raw(&get("/ask")).await, 405, "method_not_allowed");
    assert!(server.raw(&get("/ask")).await.contains("allow: POST\r\n"));
    assert_problem(&server.raw(&get("/busy")).await, 503, "busy");
    let panicked = server.raw(&get("/panic")).await;
    assert_problem(&panicked, 500, "internal");
    assert!(!panicked.contains("secret words"));
    assert!(server.raw(&get("/forwarded")).await.ends_with("as it came"));
    assert!(
        server
            .raw(&get("/health"))
            .await
            .ends_with(r#"{"status":"ok"}"#)
    );
}

#[tokio::test]
async fn a_refused_body_is_a_problem_that_quotes_nothing() {
    let server = start().await;
    let json = "Content-Type: application/json\r\n";
    assert!(
        server
            .ask(json, r#"{"amount":"20.00"}"#)
            .await
            .ends_with("20.00")
    );
    assert_problem(&server.ask(json, "{").await, 400, "invalid_json");
    let refused = server.ask(json, r#"{"amount":"1","hunter2":1}"#).await;
    assert_problem(&refused, 422, "invalid_body");
    assert!(!refused.contains("hunter2"));
    let twice = server.ask(json, r#"{"amount":"1","amount":"2"}"#).await;
    assert_problem(&twice, 422, "invalid_body");
    let plain = server
        .ask("Content-Type: text/plain\r\n", r#"{"amount":"1"}"#)
        .await;
    assert_problem(&plain, 415, "unsupported_media_type");
    let large = format!(r#"{{"amount":"{}"}}"#, "1".repeat(limits::BODY_BYTES_MAX));
    assert_problem(&server.ask(json, &large).await, 413, "too_large");
}

#[tokio::test]
async fn two_hosts_foreign_origins_and_two_lengths_are_refused() {
    let server = start().await;
    let two = "GET /health HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\nConnection: close\r\n\r\n";
    assert_problem(&server.raw(two).await, 403, "wrong_host");
    let evil = "GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_problem(&server.raw(evil).await, 403, "wrong_host");
    let none = "GET /health HTTP/1.0\r\n\r\n";
    assert!(server.raw(none).await.contains(" 403 "));
    let absolute =
        "GET http://evil.example/health HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n";
    assert_problem(&server.raw(absolute).await, 403, "wrong_host");
    let origin = "GET /health HTTP/1.1\r\nHost: HOST\r\nOrigin: http://evil.example\r\n\
                  Connection: close\r\n\r\n";
    assert_problem(&server.raw(origin).await, 403, "wrong_origin");
    let smuggled = "POST /ask HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\n\
                    Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n\r\n";
    let answer = server.raw(smuggled).await;
    assert_problem(&answer, 400, "length_required");
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    assert_eq!(
        answer.matches("HTTP/1.1 ").count(),
        1,
        "the rest is not read: {answer}"
    );
}

#[tokio::test]
async fn a_head_too_long_or_with_too_many_headers_is_refused() {
    let server = start().await;
    let long = format!(
        "GET /health HTTP/1.1\r\nHost: HOST\r\nX: {}\r\n\r\n",
        "x".repeat(64 * 1024)
    );
    let answer = server.raw(&long).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
        "{answer}"
    );
    let many = format!(
        "GET /health HTTP/1.1\r\nHost: HOST\r\n{}\r\n",
        "X: 1\r\n".repeat(65)
    );
    let answer = server.raw(&many).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[tokio::test]
async fn a_head_that_drips_is_given_up() {
    let server = start().await;
    let mut stream = server.connect().await;
    let began = std::time::Instant::now();
    stream
        .write_all(b"GET /health HTTP/1.1\r\n")
        .await
        .expect("write");
    let mut answer = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        tokio::select! {
            read = stream.read(&mut chunk) => match read {
                Ok(0) | Err(_) => break,
                Ok(length) => answer.extend_from_slice(&chunk[..length]),
            },
            () = tokio::time::sleep(Duration::from_millis(50)) => {
                if stream.write_all(b"X: 1\r\n").await.is_err() {
                    break;
                }
            }
        }
        assert!(began.elapsed() < SHORT.head_read_time_out * 4, "still open");
    }
    assert!(!String::from_utf8_lossy(&answer).contains(" 200 "));
}

#[tokio::test]
async fn a_body_that_drips_is_given_up() {
    let server = start().await;
    let mut stream = server.connect().await;
    let began = std::time::Instant::now();
    let head = format!(
        "POST /ask HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 100000\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).await.expect("write");
    let mut chunk = [0; 1024];
    let answer = loop {
        tokio::select! {
            read = stream.read(&mut chunk) => {
                let length = read.unwrap_or(0);
                break String::from_utf8_lossy(&chunk[..length]).into_owned();
            }
            () = tokio::time::sleep(Duration::from_millis(50)) => {
                stream.write_all(b" ").await.expect("write");
            }
        }
        assert!(
            began.elapsed() < SHORT.body_read_time_out * 4,
            "still reading"
        );
    };
    assert_problem(&answer, 408, "request_timeout");
}

#[tokio::test]
async fn a_request_in_progress_ends_before_the_server_does() {
    let patient = Limits {
        head_read_time_out: Duration::from_secs(60),
        shutdown_grace: Duration::from_secs(20),
        ..SHORT
    };
    let server = start_within(patient).await;
    let mut stream = server.connect().await;
    let request = format!("GET /slow HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    stream.write_all(request.as_bytes()).await.expect("write");
    let idle = server.connect().await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = std::time::Instant::now();
    server.stop.send(()).expect("still serving");
    server.server.await.expect("ends");
    assert!(
        began.elapsed() < patient.shutdown_grace / 2,
        "an idle connection does not hold it"
    );
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("read");
    assert!(answer.ends_with("done"), "{answer}");
    drop(idle);
}

#[tokio::test]
async fn an_endless_answer_does_not_hold_the_server() {
    let server = start().await;
    let mut stream = server.connect().await;
    let request = format!("GET /endless HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    stream.write_all(request.as_bytes()).await.expect("write");
    let mut first = [0; 16];
    stream
        .read_exact(&mut first)
        .await
        .expect("the answer begins");
    server.stop.send(()).expect("still serving");
    tokio::time::timeout(SHORT.shutdown_grace * 4, server.server)
        .await
        .expect("in time")
        .expect("ends");
}

#[tokio::test]
async fn idle_connections_make_room_for_a_new_one() {
    // Only the table of connections may close one here, not the clock.
    let server = start_within(Limits {
        head_read_time_out: Duration::from_secs(60),
        ..SHORT
    })
    .await;
    let mut idle = Vec::new();
    for _ in 0..SHORT.connections_max + 40 {
        idle.push(server.connect().await);
    }
    let began = std::time::Instant::now();
    let answer = server
        .raw("GET /health HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n")
        .await;
    assert!(answer.ends_with(r#"{"status":"ok"}"#), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(2));
    let mut byte = [0; 1];
    let closed = tokio::time::timeout(Duration::from_secs(5), idle[0].read(&mut byte)).await;
    assert_eq!(closed.expect("the oldest was closed").unwrap_or(0), 0);
}

#[tokio::test]
async fn whoever_comes_when_all_are_at_work_is_told_when_to_come_again_and_health_answers() {
    let server = start_within(Limits {
        connections_max: 2,
        ..SHORT
    })
    .await;
    let mut at_work = Vec::new();
    for _ in 0..2 {
        let mut stream = server.connect().await;
        let head = format!("GET /endless HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
        stream.write_all(head.as_bytes()).await.expect("write");
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.expect("its head");
        at_work.push(stream);
    }
    // A flood beside it that says nothing.
    let mut silent = Vec::new();
    for _ in 0..3 * limits::SHED_CONNECTIONS_MAX {
        silent.push(server.connect().await);
    }
    for _ in 0..5 {
        let began = std::time::Instant::now();
        let health = server
            .raw("GET /health HTTP/1.1\r\nHost: HOST\r\n\r\n")
            .await;
        assert!(health.starts_with("HTTP/1.1 200"), "{health}");
        assert!(
            began.elapsed() < Duration::from_millis(100),
            "{:?}",
            began.elapsed()
        );
        let told = server.raw("GET /ask HTTP/1.1\r\nHost: HOST\r\n\r\n").await;
        assert!(
            told.starts_with("HTTP/1.1 503") && told.contains("retry-after: "),
            "{told}"
        );
    }
    drop(at_work);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let slow = server
        .raw("GET /slow HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n")
        .await;
    assert!(slow.ends_with("done"), "there is room again: {slow}");
}
