//! Changed heads, thousands of them: whatever is read here, hyper reads as the same request.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt as _;

use super::head::{self, Found};

const LINE: &[u8] = b"POST /mcp HTTP/1.1\r\n";
const ROUNDS: usize = 6_000;

const SEEDS: [&str; 3] = [
    "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345POST /x HTTP/1.1\r\n\r\n",
    "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: a, b\r\nX-Y:  z \r\n\
     content-length: 2\r\nConnection: keep-alive\r\n\r\n{}",
    "POST /mcp HTTP/1.1\r\nContent-Length: 1\r\nMcp-Session-Id: 1\r\nOrigin: http://a\r\n\r\n1\r\n0\r\n\r\n",
];

const PIECES: [&str; 22] = [
    "\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    ":",
    ": ",
    "\0",
    "0",
    "00",
    "+",
    "-",
    ",",
    ";",
    "\u{b}",
    "\u{85}",
    "Content-Length: 1\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding:\u{b}chunked\r\n",
    "\r\n Content-Length: 9",
    "Connection: close\r\n",
    "\r\n\r\n",
];

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn changed(numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = SEEDS[numbers.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..=numbers.below(3) {
        let at = LINE.len() - 2 + numbers.below(bytes.len() - LINE.len() + 2);
        match numbers.below(5) {
            0 => bytes[at.min(LINE.len() + 60)] = numbers.below(256) as u8,
            1 => drop(bytes.remove(at)),
            2 => {
                let end = bytes.len().min(at + numbers.below(30));
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                let piece = PIECES[numbers.below(PIECES.len())].bytes();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

/// The first request that hyper reads in these bytes.
async fn by_hyper(bytes: &[u8]) -> Option<(String, HeaderMap, Vec<u8>)> {
    let (mut ours, theirs) = tokio::io::duplex(64 * 1024);
    ours.write_all(bytes).await.expect("there is room");
    ours.shutdown().await.expect("the end is told");
    let first = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&first);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let seen = Arc::clone(&seen);
        async move {
            let (head, body) = request.into_parts();
            let body = axum::body::to_bytes(axum::body::Body::new(body), 1 << 20).await;
            if let Ok(body) = body {
                let line = format!("{} {} {:?}", head.method, head.uri, head.version);
                let mut first = seen.lock().expect("lock");
                first.get_or_insert((line, head.headers, body.to_vec()));
            }
            Ok::<_, Infallible>(Response::new(axum::body::Body::empty()))
        }
    });
    let serving = hyper::server::conn::http1::Builder::new()
        .half_close(true)
        .serve_connection(TokioIo::new(theirs), service);
    let _ = serving.await;
    first.lock().expect("lock").take()
}

#[tokio::test]
async fn what_is_read_here_hyper_reads_as_the_same_request() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut read = 0;
    for _ in 0..ROUNDS {
        let bytes = changed(&mut numbers);
        let Found::Head(head) = head::read(LINE, &bytes) else {
            continue;
        };
        let Some(body) = bytes.get(head.length..head.length + head.body) else {
            continue;
        };
        read += 1;
        let text = String::from_utf8_lossy(&bytes);
        let theirs = by_hyper(&bytes).await;
        let expected = ("POST /mcp HTTP/1.1".to_owned(), head.headers, body.to_vec());
        assert_eq!(theirs, Some(expected), "{text:?}");
    }
    assert!(read > ROUNDS / 10, "only {read} were read here");
    assert!(
        read < ROUNDS * 9 / 10,
        "{read} were read here: the changes change nothing"
    );
}
