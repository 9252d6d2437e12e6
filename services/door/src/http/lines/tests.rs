use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::http::tls::connector;

const REQUEST: &[u8] = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n1";

fn lines(address: SocketAddr) -> Lines {
    let uri: Uri = format!("http://{address}/").parse().unwrap();
    let connector = connector(&uri, Duration::from_secs(2)).unwrap();
    Lines::new(uri, connector)
}

/// A server that answers every request on a connection with the next of these, then closes it.
async fn server(connections: Vec<Vec<Vec<u8>>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for answers in connections {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            for answer in answers {
                let mut asked = Vec::new();
                while !asked.ends_with(b"\r\n\r\n1") {
                    if stream.read_buf(&mut asked).await.unwrap_or(0) == 0 {
                        break;
                    }
                }
                let _ = stream.write_all(&answer).await;
            }
            let _ = stream.shutdown().await;
        }
    });
    address
}

type Told = Result<(u16, String), String>;

async fn ask(lines: &Lines) -> Told {
    let answer = lines
        .send(REQUEST, &[])
        .await
        .map_err(|error| format!("{error:?}"))?;
    let status = answer.status().as_u16();
    let body = answer
        .into_body()
        .collect()
        .await
        .map_err(|error| format!("{error:?}"))?;
    Ok((
        status,
        String::from_utf8_lossy(&body.to_bytes()).into_owned(),
    ))
}

fn answers(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn ok(text: &str) -> Told {
    Ok((200, text.to_owned()))
}

#[tokio::test]
async fn a_connection_is_used_again_after_a_whole_answer() {
    let address = server(vec![answers(&[
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\nX: y\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthree",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nfive",
    ])])
    .await;
    let lines = lines(address);
    for text in ["one", "two", "three"] {
        assert_eq!(ask(&lines).await, ok(text));
    }
    assert_eq!(ask(&lines).await, Ok((204, String::new())));
    assert_eq!(ask(&lines).await, ok("five"));
    assert!(ask(&lines).await.is_err(), "there was one connection alone");
}

#[tokio::test]
async fn what_comes_behind_an_answer_is_nobodys() {
    let second = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";
    for first in [
        format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none{second}"),
        format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n{second}"
        ),
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\none".to_owned(),
    ] {
        let honest = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo";
        let address = server(vec![answers(&[&first]), answers(&[honest])]).await;
        let lines = lines(address);
        assert_eq!(ask(&lines).await, ok("one"));
        assert_eq!(ask(&lines).await, ok("two"), "{first}");
    }
}

#[tokio::test]
async fn an_answer_that_ends_early_or_is_none_is_an_error() {
    for text in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\none",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none!\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "{\"jsonrpc\":\"2.0\"}",
    ] {
        let address = server(vec![answers(&[text])]).await;
        let told = ask(&lines(address)).await;
        let error = told.expect_err(text);
        // It may have run: nobody may think that it did not.
        assert!(!error.contains("NotSent"), "{text}: {error}");
    }
}

#[tokio::test]
async fn a_connection_that_closed_meanwhile_is_not_used() {
    let one = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none";
    let address = server(vec![answers(&[one]), answers(&[one])]).await;
    let lines = lines(address);
    assert_eq!(ask(&lines).await, ok("one"));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(ask(&lines).await, ok("one"));
}

#[tokio::test]
async fn a_long_body_is_written_and_read_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let echo = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = vec![0; REQUEST.len() + 900_000];
        stream.read_exact(&mut asked).await.unwrap();
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n";
        stream
            .write_all(&[&head[..], &asked[REQUEST.len()..]].concat())
            .await
            .unwrap();
        stream
    });
    let body: Vec<u8> = (0..900_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let answer = lines(address).send(REQUEST, &body).await.unwrap();
    let read = answer.into_body().collect().await.unwrap().to_bytes();
    assert!(read == body);
    drop(echo.await.unwrap());
}

const SEEDS: [&str; 4] = [
    "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\n12345",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n3;a=b\r\n123\r\n2\r\n45\r\n0\r\nX: y\r\n\r\n",
    "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
];

const PIECES: [&str; 16] = [
    "\r\n",
    "\n",
    "\r",
    " ",
    ":",
    "\0",
    "0",
    "1",
    "+",
    ",",
    ";",
    "\r\n\r\n",
    "\r\n X: y",
    "Content-Length: 1\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Content-Length: 5\r\n",
];

fn changed(number: &mut u64) -> Vec<u8> {
    let mut below = |bound: usize| {
        *number ^= *number << 13;
        *number ^= *number >> 7;
        *number ^= *number << 17;
        (*number % bound as u64) as usize
    };
    let mut bytes = SEEDS[below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..=below(2) {
        let at = 15 + below(bytes.len() - 15);
        match below(4) {
            0 => bytes[at] = below(256) as u8,
            1 => drop(bytes.remove(at)),
            _ => drop(bytes.splice(at..at, PIECES[below(PIECES.len())].bytes())),
        }
    }
    bytes
}

async fn by_hyper(address: SocketAddr) -> Told {
    let stream = TcpStream::connect(address).await.unwrap();
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.unwrap();
    tokio::spawn(connection);
    let body = Full::new(bytes::Bytes::from_static(b"1"));
    let request = http::Request::post("/")
        .header("host", "a")
        .body(body)
        .unwrap();
    let answer = sender
        .send_request(request)
        .await
        .map_err(|error| error.to_string())?;
    let status = answer.status().as_u16();
    let body = answer
        .into_body()
        .collect()
        .await
        .map_err(|error| error.to_string())?;
    Ok((
        status,
        String::from_utf8_lossy(&body.to_bytes()).into_owned(),
    ))
}

/// Whatever is an answer here is the same answer to hyper. (Not the other way round: what is framed two
/// ways is none here.)
#[tokio::test]
async fn changed_answers_are_read_as_hyper_reads_them() {
    let mut number = 0x9E37_79B9_7F4A_7C15;
    let mut read = 0;
    for _ in 0..400 {
        let bytes = changed(&mut number);
        let address = server(vec![vec![bytes.clone()], vec![bytes.clone()]]).await;
        let ours = ask(&lines(address)).await;
        if ours.is_ok() {
            read += 1;
            let text = String::from_utf8_lossy(&bytes);
            assert_eq!(ours, by_hyper(address).await, "{text:?}");
        }
    }
    assert!((40..360).contains(&read), "{read} were read");
}
