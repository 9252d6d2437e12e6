use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::Workers;
use crate::guard::Allowed;
use crate::server::{Fast, serve_within};

const SHORT: Limits = Limits {
    connections_max: 4,
    head_read_time_out: Duration::from_millis(400),
    body_read_time_out: Duration::from_millis(200),
    shutdown_grace: Duration::from_secs(5),
};

const PATIENT: Limits = Limits {
    head_read_time_out: Duration::from_secs(60),
    body_read_time_out: Duration::from_secs(60),
    ..SHORT
};

/// How often a question was dropped before it was answered.
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        GIVEN_UP.fetch_add(1, Ordering::SeqCst);
    }
}

fn whole(body: &Bytes) -> Answer {
    Answer::Whole(Whole {
        status: http::StatusCode::OK,
        headers: http::HeaderMap::new(),
        body: [b"<", &body[..], b">"].concat().into(),
        afterwards: None,
    })
}

async fn plain(body: Bytes) -> Answer {
    match &body[..] {
        b"stream" => {
            let pieces = ["one ", "two"].map(|piece| Ok::<_, std::io::Error>(Bytes::from(piece)));
            let body = Body::from_stream(tokio_stream::iter(pieces));
            Response::new(body).into()
        }
        b"wait" => {
            let _waits = Waits;
            std::future::pending().await
        }
        b"stay" => std::future::pending().await,
        b"slow" => {
            tokio::time::sleep(Duration::from_millis(100)).await;
            whole(&body)
        }
        b"panic" => panic!("secret words"),
        _ => whole(&body),
    }
}

async fn by_hyper(request: Request<Body>) -> Response {
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await;
    Response::new(Body::from(
        [b"hyper ", &body.unwrap_or_default()[..]].concat(),
    ))
}

struct Running {
    address: SocketAddr,
    stop: tokio::sync::oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<()>,
}

async fn start(limits: Limits) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("address");
    let allowed = Allowed {
        hosts: vec!["a".to_owned()],
        origins: Vec::new(),
    };
    let fast = Fast {
        direct: Direct::post(
            "/mcp",
            Arc::new(allowed),
            |request| Box::pin(by_hyper(request)),
            |_, body| Box::pin(plain(body)),
        ),
        workers: Arc::new(Workers::start().expect("threads")),
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = serve_within(
        limits,
        vec![listener.into()],
        Router::new(),
        Some(fast),
        async {
            let _ = stopped.await;
        },
    );
    Running {
        address,
        stop,
        serving: tokio::spawn(serving),
    }
}

fn request(body: &str) -> String {
    let length = body.len();
    format!("POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// Everything that is answered to these pieces, until the connection ends.
async fn said(address: SocketAddr, pieces: &[&[u8]]) -> String {
    said_until(address, pieces, "no such end").await
}

/// As [`said`], but no further than this.
async fn said_until(address: SocketAddr, pieces: &[&[u8]], end: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("connect");
    stream.set_nodelay(true).expect("an option");
    for piece in pieces {
        if stream.write_all(piece).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut answer = Vec::new();
    let read = async {
        while !answer.ends_with(end.as_bytes()) {
            if stream.read_buf(&mut answer).await.unwrap_or(0) == 0 {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(10), read).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// The statuses and bodies of what was answered.
fn bodies(said: &str) -> Vec<(&str, &str)> {
    let answers = said.split("HTTP/1.1 ").skip(1);
    let parts = answers.map(|answer| {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
        (&head[..3], body)
    });
    parts.collect()
}

#[tokio::test]
async fn requests_are_answered_in_their_order_however_they_are_cut() {
    let server = start(PATIENT).await;
    let text = [request("1"), request("22"), request("slow"), request("4")].concat();
    let expected = [
        ("200", "<1>"),
        ("200", "<22>"),
        ("200", "<slow>"),
        ("200", "<4>"),
    ];
    let text = text.as_bytes();
    let answered = said_until(server.address, &[text], "<4>").await;
    assert_eq!(bodies(&answered), expected, "{answered}");
    for cut in [1, 18, 20, 50, 58, 59, 60, 120, text.len() - 1] {
        let (before, after) = text.split_at(cut);
        let answered = said_until(server.address, &[before, after], "<4>").await;
        assert_eq!(bodies(&answered), expected, "{cut}: {answered}");
    }
    let bytes: Vec<_> = request("drips").into_bytes();
    let bytes: Vec<_> = bytes.iter().map(std::slice::from_ref).collect();
    let answered = said_until(server.address, &bytes, "<drips>").await;
    assert_eq!(bodies(&answered), [("200", "<drips>")]);
}

#[tokio::test]
async fn what_is_not_plain_is_answered_by_hyper_from_its_first_byte_on() {
    let server = start(SHORT).await;
    let long = "x".repeat(70_000);
    for (second, expected) in [
        // A header that only hyper may read; what follows on the connection stays with hyper.
        (
            "POST /mcp HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, x\r\nContent-Length: 1\r\n\r\n2",
            vec![("200", "hyper 2"), ("200", "hyper 3")],
        ),
        (
            &request(&long),
            vec![("200", long.as_str()), ("200", "hyper 3")],
        ),
        (
            "GET /mcp HTTP/1.1\r\nHost: a\r\n\r\n",
            vec![("404", ""), ("200", "hyper 3")],
        ),
        // Framed two ways: refused, and nothing behind it is a request.
        (
            "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            vec![("400", "")],
        ),
        (
            "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n22",
            vec![("400", "")],
        ),
        (
            "POST /mcp HTTP/1.1\r\nHost: a\r\nX: 1\r\n Content-Length: 1\r\nContent-Length: 2\r\n\r\n22",
            vec![("400", "")],
        ),
        (
            "POST /mcp HTTP/1.1\r\nHost: a\r\nX: 1\rContent-Length: 5\r\nContent-Length: 2\r\n\r\n22",
            vec![("400", "")],
        ),
        (
            "POST /mcp HTTP/1.1\r\nHost: b\r\nContent-Length: 1\r\n\r\n2",
            vec![("403", ""), ("200", "hyper 3")],
        ),
    ] {
        let text = [&request("1"), second, &request("3")].concat();
        let answered = said(server.address, &[text.as_bytes()]).await;
        let found = bodies(&answered);
        assert_eq!(
            found.len(),
            expected.len() + 1,
            "{second:.200}: {answered:.2000}"
        );
        assert_eq!(found[0], ("200", "<1>"), "{second:.200}");
        for (found, expected) in found[1..].iter().zip(expected) {
            assert_eq!(found.0, expected.0, "{second:.200}: {answered:.2000}");
            assert!(
                found.1.ends_with(expected.1),
                "{second:.200}: {answered:.2000}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_in_pieces_is_sent_by_hyper_and_the_connection_goes_on() {
    let server = start(SHORT).await;
    let text = [request("1"), request("stream"), request("3")].concat();
    let answered = said(server.address, &[text.as_bytes()]).await;
    let expected = [
        ("200", "<1>"),
        ("200", "4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"),
        ("200", "hyper 3"),
    ];
    assert_eq!(bodies(&answered), expected, "{answered}");
}

#[tokio::test]
async fn a_panic_is_a_problem_and_the_connection_goes_on() {
    let server = start(SHORT).await;
    let text = [request("panic"), request("2")].concat();
    let answered = said(server.address, &[text.as_bytes()]).await;
    let found = bodies(&answered);
    assert_eq!(
        (found[0].0, found[1]),
        ("500", ("200", "<2>")),
        "{answered}"
    );
    assert!(!answered.contains("secret words"), "{answered}");
}

#[tokio::test]
async fn whoever_goes_away_takes_the_question_back() {
    let server = start(SHORT).await;
    let before = GIVEN_UP.load(Ordering::SeqCst);
    let mut stream = TcpStream::connect(server.address).await.expect("connect");
    stream
        .write_all(request("wait").as_bytes())
        .await
        .expect("write");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(GIVEN_UP.load(Ordering::SeqCst), before, "it waits");
    drop(stream);
    for _ in 0..500 {
        if GIVEN_UP.load(Ordering::SeqCst) > before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the question is still there");
}

#[tokio::test]
async fn what_drips_is_given_up() {
    let server = start(SHORT).await;
    let head = "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n";
    let answered = said(server.address, &[head.as_bytes()]).await;
    assert_eq!(bodies(&answered)[0].0, "408", "{answered}");
    assert!(answered.contains("connection: close\r\n"), "{answered}");
    // Half a head, or none.
    for text in ["POST /mcp HTTP/1.1\r\nHo", ""] {
        let began = tokio::time::Instant::now();
        assert_eq!(said(server.address, &[text.as_bytes()]).await, "");
        assert!(began.elapsed() < Duration::from_secs(4));
    }
}

#[tokio::test]
async fn an_idle_connection_makes_room_and_one_at_work_does_not() {
    let server = start(PATIENT).await;
    let mut open = Vec::new();
    for body in ["stay", "1", "stay", "stay"] {
        let mut stream = TcpStream::connect(server.address).await.expect("connect");
        stream
            .write_all(request(body).as_bytes())
            .await
            .expect("write");
        tokio::time::sleep(Duration::from_millis(20)).await;
        open.push(stream);
    }
    let mut one_more = TcpStream::connect(server.address).await.expect("connect");
    one_more
        .write_all(request("5").as_bytes())
        .await
        .expect("write");
    let mut first = [0; 15];
    one_more
        .read_exact(&mut first)
        .await
        .expect("there is room");
    let mut answered = Vec::new();
    let ended = open[1].read_to_end(&mut answered);
    tokio::time::timeout(Duration::from_secs(5), ended)
        .await
        .expect("ended")
        .expect("read");
    for working in [0, 2] {
        let read = open[working].read_exact(&mut first);
        assert!(
            tokio::time::timeout(Duration::from_millis(50), read)
                .await
                .is_err()
        );
    }
}

#[tokio::test]
async fn at_the_end_requests_at_work_are_answered_and_idle_connections_closed() {
    let server = start(PATIENT).await;
    let mut idle = TcpStream::connect(server.address).await.expect("connect");
    let mut working = TcpStream::connect(server.address).await.expect("connect");
    working
        .write_all(request("slow").as_bytes())
        .await
        .expect("write");
    tokio::time::sleep(Duration::from_millis(30)).await;
    server.stop.send(()).expect("it runs");
    let mut answered = String::new();
    working.read_to_string(&mut answered).await.expect("read");
    assert_eq!(bodies(&answered), [("200", "<slow>")]);
    assert!(answered.contains("connection: close\r\n"), "{answered}");
    assert_eq!(idle.read(&mut [0; 1]).await.expect("read"), 0);
    tokio::time::timeout(PATIENT.shutdown_grace / 2, server.serving)
        .await
        .expect("in time")
        .expect("it ended");
}
