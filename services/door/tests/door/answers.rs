//! Answers on their way back: streamed, capped, cancelled.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};

use crate::client::call;
use crate::stand::{Stand, unpinned_policy};

fn json(body: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// The answer to the door's own question for tools.
fn tools(question: &serde_json::Value) -> Option<Response> {
    (question["method"] == "tools/list").then(|| {
        let id = question["id"].clone();
        json(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"echo"}}]}}}}"#
        ))
    })
}

/// A stream of events that the test feeds.
fn stream(mut feed: mpsc::Receiver<&'static str>) -> Response {
    let body = Body::from_stream(async_stream(move |sender| async move {
        while let Some(piece) = feed.recv().await {
            if sender
                .send(Ok(Bytes::from_static(piece.as_bytes())))
                .await
                .is_err()
            {
                return;
            }
        }
    }));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// A stream from a task that writes into a channel.
fn async_stream<F, T>(write: F) -> impl futures_util::Stream<Item = Result<Bytes, Infallible>>
where
    F: FnOnce(mpsc::Sender<Result<Bytes, Infallible>>) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let (sender, mut receiver) = mpsc::channel(1);
    tokio::spawn(write(sender));
    futures_util::stream::poll_fn(move |context| receiver.poll_recv(context))
}

async fn connect(stand: &Stand, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(stand.door.address).await.unwrap();
    stream
        .write_all(&stand.post().bytes(body.as_bytes()))
        .await
        .unwrap();
    stream
}

async fn read_until(stream: &mut TcpStream, words: &str) -> String {
    let mut read = Vec::new();
    let mut chunk = [0; 4096];
    while !String::from_utf8_lossy(&read).contains(words) {
        let read_now = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut chunk));
        let length = read_now.await.expect("in time").unwrap();
        assert!(length > 0, "ended: {}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&chunk[..length]);
    }
    String::from_utf8_lossy(&read).into_owned()
}

#[tokio::test]
async fn an_event_reaches_the_client_before_the_server_has_finished() {
    let (feed, events) = mpsc::channel(4);
    let events = Arc::new(std::sync::Mutex::new(Some(events)));
    let stand = Stand::scripted(&unpinned_policy(), move |question| {
        let answer =
            tools(&question).unwrap_or_else(|| stream(events.lock().unwrap().take().unwrap()));
        async move { answer }
    })
    .await;
    let mut client = connect(&stand, &call("echo", "{}")).await;
    feed.send("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}\n\n").await.unwrap();
    read_until(&mut client, "\"progress\":1").await;
    assert!(
        stand
            .events("answered")
            .iter()
            .all(|line| line["status"] != 418)
    );
    feed.send("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n")
        .await
        .unwrap();
    read_until(&mut client, "\"id\":7").await;
    drop(feed);
    stand.wait_for("answered").await;
}

#[tokio::test]
async fn a_client_that_goes_away_ends_the_request_behind_the_door() {
    let (feed, events) = mpsc::channel(4);
    let events = Arc::new(std::sync::Mutex::new(Some(events)));
    let stand = Stand::scripted(&unpinned_policy(), move |question| {
        let answer =
            tools(&question).unwrap_or_else(|| stream(events.lock().unwrap().take().unwrap()));
        async move { answer }
    })
    .await;
    let mut client = connect(&stand, &call("echo", "{}")).await;
    feed.send("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}\n\n").await.unwrap();
    read_until(&mut client, "\"progress\":1").await;
    drop(client);
    let gone = Instant::now();
    // The server notices when it goes on writing.
    while feed.send(": alive\n\n").await.is_ok() {
        assert!(
            gone.elapsed() < Duration::from_secs(1),
            "the server still writes"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let ended = stand.wait_for("cancelled").await;
    assert_eq!(ended["status"], 200);
}

#[tokio::test]
async fn a_client_that_goes_away_before_the_answer_cancels_too() {
    let asked = Arc::new(Notify::new());
    let dropped = Arc::new(Notify::new());
    let (asked_by_server, dropped_by_server) = (Arc::clone(&asked), Arc::clone(&dropped));
    let stand = Stand::scripted(&unpinned_policy(), move |question| {
        let (asked, dropped) = (Arc::clone(&asked_by_server), Arc::clone(&dropped_by_server));
        async move {
            if let Some(answer) = tools(&question) {
                return answer;
            }
            struct OnDrop(Arc<Notify>);
            impl Drop for OnDrop {
                fn drop(&mut self) {
                    self.0.notify_one();
                }
            }
            let _on_drop = OnDrop(dropped);
            asked.notify_one();
            std::future::pending().await
        }
    })
    .await;
    let client = connect(&stand, &call("echo", "{}")).await;
    asked.notified().await;
    drop(client);
    tokio::time::timeout(Duration::from_secs(1), dropped.notified())
        .await
        .expect("the server's handler is dropped");
    let ended = stand.wait_for("cancelled").await;
    assert!(ended.get("status").is_none(), "{ended}");
}

#[tokio::test]
async fn an_answer_without_end_is_cut() {
    let stand = Stand::scripted(&unpinned_policy(), |question| async move {
        if let Some(answer) = tools(&question) {
            return answer;
        }
        let body = Body::from_stream(async_stream(|sender| async move {
            let piece = Bytes::from(vec![b'a'; 1 << 20]);
            while sender.send(Ok(piece.clone())).await.is_ok() {}
        }));
        ([(header::CONTENT_TYPE, "application/json")], body).into_response()
    })
    .await;
    let answer = stand.post().call("echo", "{}").await;
    assert!(answer.body.len() <= 33 << 20, "{}", answer.body.len());
    stand.wait_for("failed").await;
}

#[tokio::test]
async fn statuses_and_headers_of_the_protocol_come_back_and_others_do_not() {
    let stand = Stand::scripted(&unpinned_policy(), |question| async move {
        if let Some(answer) = tools(&question) {
            return answer;
        }
        let headers = [
            (header::CONTENT_TYPE, "application/json"),
            (header::SET_COOKIE, "a=b"),
            (
                header::WWW_AUTHENTICATE,
                "Bearer resource_metadata=\"http://169.254.169.254/\"",
            ),
            (header::LOCATION, "http://evil.example"),
            (http::HeaderName::from_static("mcp-session-id"), "s"),
            (http::HeaderName::from_static("x-accel-buffering"), "no"),
        ];
        (
            StatusCode::NOT_FOUND,
            headers,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"m"}}"#,
        )
            .into_response()
    })
    .await;
    let answer = stand.post().call("echo", "{}").await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.code(), Some(-32_601));
    assert!(answer.head.contains("mcp-session-id: s"));
    assert!(answer.head.contains("x-accel-buffering: no"));
    for absent in ["set-cookie", "www-authenticate", "location"] {
        assert!(!answer.head.contains(absent), "{}", answer.head);
    }
}

#[tokio::test]
async fn a_server_that_is_gone_is_an_error_and_no_retry() {
    let stand = Stand::scripted(&unpinned_policy(), |question| async move {
        tools(&question).unwrap_or_else(|| json(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.into()))
    })
    .await;
    assert_eq!(stand.post().call("echo", "{}").await.status, 200);
    let mut config = stand.config(&unpinned_policy());
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    config["upstream"]["url"] = format!("http://{nowhere}/mcp").into();
    let directory = crate::stand::fresh_directory();
    config["log_directory"] = directory.to_str().unwrap().into();
    let door = crate::stand::start_door(config, directory).await.unwrap();
    let post = crate::client::Post::new(door.address, &stand.token(1));
    let ping = post
        .send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        .await;
    assert_eq!((ping.status, ping.code()), (502, Some(-32_603)), "{ping:?}");
    assert_eq!(ping.reason(), "unreachable");
    assert_eq!(
        post.call("echo", "{}").await.reason(),
        "definitions_unavailable"
    );
}

#[tokio::test]
async fn a_call_whose_answer_is_lost_is_not_sent_again() {
    let stand = Stand::scripted(&unpinned_policy(), |question| async move {
        tools(&question).unwrap_or_else(|| json(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.into()))
    })
    .await;
    // A server that takes a message in and hangs up, also on a connection used before.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (taken, mut takes) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let taken = taken.clone();
            tokio::spawn(async move {
                let mut chunk = vec![0; 64 << 10];
                for answer in [true, false] {
                    let length = stream.read(&mut chunk).await.unwrap_or(0);
                    if length == 0 {
                        return;
                    }
                    taken
                        .send(String::from_utf8_lossy(&chunk[..length]).into_owned())
                        .unwrap();
                    if answer {
                        let body =
                            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo"}]}}"#;
                        let head = format!(
                            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                            body.len()
                        );
                        stream
                            .write_all(format!("{head}{body}").as_bytes())
                            .await
                            .unwrap();
                    }
                }
            });
        }
    });
    let mut config = stand.config(&unpinned_policy());
    config["upstream"]["url"] = format!("http://{address}/mcp").into();
    let directory = crate::stand::fresh_directory();
    config["log_directory"] = directory.to_str().unwrap().into();
    let door = crate::stand::start_door(config, directory).await.unwrap();
    let post = crate::client::Post::new(door.address, &stand.token(1));
    let answer = post.call("echo", "{}").await;
    assert_eq!(answer.reason(), "outcome_unknown", "{answer:?}");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut calls = 0;
    while let Ok(taken) = takes.try_recv() {
        calls += usize::from(taken.contains("\"tools/call\""));
    }
    assert_eq!(calls, 1);
}
