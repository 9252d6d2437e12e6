//! A program that speaks the agent's side of a turn, for answers the real one would never give.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::post,
};
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio_stream::{StreamExt as _, wrappers::ReceiverStream};

/// One part of an answer.
#[derive(Clone)]
pub enum Part {
    /// Bytes as they stand.
    Bytes(Vec<u8>),
    /// Waits until the test says so.
    Hold,
    /// Writes pieces until the other side goes away.
    Endless,
    /// Breaks the connection off.
    Break,
}

/// A line of an answer.
pub fn line(text: &str) -> Part {
    Part::Bytes(format!("{text}\n").into_bytes())
}

/// A piece of a reply's text.
pub fn text(text: &str) -> Part {
    line(&serde_json::json!({"type": "text", "text": text}).to_string())
}

/// The end of a reply.
pub fn done() -> Part {
    line(r#"{"type":"done"}"#)
}

enum Answer {
    Parts(Vec<Part>),
    Status(StatusCode),
}

#[derive(Default)]
struct Inner {
    answers: Mutex<VecDeque<Answer>>,
    turns: Mutex<Vec<Value>>,
    came: Notify,
    go_on: Notify,
    hung_up: AtomicUsize,
}

/// The program, and what it saw.
#[derive(Clone)]
pub struct FakeAgent {
    inner: Arc<Inner>,
    /// Where it listens.
    pub url: String,
}

impl FakeAgent {
    /// Starts it. Without a scripted answer it says "ok".
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("bind");
        let url = format!("http://{}/turn", listener.local_addr().expect("address"));
        let inner = Arc::new(Inner::default());
        let router = Router::new()
            .route("/turn", post(turn))
            .with_state(inner.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { inner, url }
    }

    /// Scripts the answer to the next turn without one.
    pub fn will_answer(&self, parts: &[Part]) {
        self.inner
            .answers
            .lock()
            .expect("lock")
            .push_back(Answer::Parts(parts.to_vec()));
    }

    /// Scripts a bare status.
    pub fn will_refuse(&self, status: StatusCode) {
        self.inner
            .answers
            .lock()
            .expect("lock")
            .push_back(Answer::Status(status));
    }

    /// The turns it was sent.
    pub fn turns(&self) -> Vec<Value> {
        self.inner.turns.lock().expect("lock").clone()
    }

    /// Waits until a turn has come.
    pub async fn turn_came(&self) {
        tokio::time::timeout(Duration::from_secs(10), self.inner.came.notified())
            .await
            .expect("a turn comes");
    }

    /// Lets an answer that holds go on.
    pub fn go_on(&self) {
        self.inner.go_on.notify_one();
    }

    /// How many of its answers were not read to their end.
    pub fn hung_up(&self) -> usize {
        self.inner.hung_up.load(Ordering::SeqCst)
    }
}

async fn turn(State(inner): State<Arc<Inner>>, Json(turn): Json<Value>) -> Response {
    inner.turns.lock().expect("lock").push(turn);
    let answer = inner.answers.lock().expect("lock").pop_front();
    let parts = match answer {
        Some(Answer::Status(status)) => {
            inner.came.notify_one();
            return status.into_response();
        }
        Some(Answer::Parts(parts)) => parts,
        None => vec![text("ok"), done()],
    };
    let (sender, receiver) = mpsc::channel::<Result<Bytes, &'static str>>(1);
    tokio::spawn(async move {
        inner.came.notify_one();
        for part in parts {
            match part {
                Part::Bytes(bytes) => {
                    if sender.send(Ok(bytes.into())).await.is_err() {
                        inner.hung_up.fetch_add(1, Ordering::SeqCst);
                        return;
                    }
                }
                Part::Hold => {
                    tokio::select! {
                        () = inner.go_on.notified() => {}
                        () = sender.closed() => {
                            inner.hung_up.fetch_add(1, Ordering::SeqCst);
                            return;
                        }
                    }
                }
                Part::Endless => {
                    let piece = Bytes::from(format!(
                        "{{\"type\":\"text\",\"text\":\"{}\"}}\n",
                        "x ".repeat(500)
                    ));
                    while sender.send(Ok(piece.clone())).await.is_ok() {}
                    inner.hung_up.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                Part::Break => {
                    let _ = sender.send(Err("broken")).await;
                    return;
                }
            }
        }
    });
    let body = Body::from_stream(
        ReceiverStream::new(receiver).map(|piece| piece.map_err(std::io::Error::other)),
    );
    ([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}
