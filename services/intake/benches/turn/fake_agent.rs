//! An agent without a model: it thinks as long as one would, then writes sentences at a model's pace, and notes when.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::header,
    response::{IntoResponse as _, Response},
    routing::post,
};
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::sync::mpsc;
use tokio_stream::{StreamExt as _, wrappers::ReceiverStream};

/// Sentences of one reply.
pub const SENTENCES: usize = 12;
/// Longest body of a turn that is read.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// How a model is paced.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// From the turn to the first words.
    pub thinks: Duration,
    /// From one sentence to the next.
    pub between: Duration,
}

/// What the agent saw of one turn.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When the first byte of the turn came.
    pub came: Instant,
    /// The same on the wall's clock, to be compared with the record's.
    pub came_at: OffsetDateTime,
    /// When each sentence of the reply was written.
    pub wrote: Vec<Instant>,
}

/// The agent.
#[derive(Clone, Debug)]
pub struct FakeAgent {
    inner: Arc<Inner>,
    /// Where it listens.
    pub url: String,
}

#[derive(Debug)]
struct Inner {
    pace: Mutex<Pace>,
    seen: Mutex<HashMap<String, Seen>>,
}

/// A sentence of a usual length, its number first.
pub fn sentence(number: usize) -> String {
    format!(
        "Part {number}: you spent 42.10 EUR at the market, 18.00 EUR on the train and 7.20 EUR at the bakery, which is a little \
         less than in the weeks before it and leaves enough. "
    )
}

impl FakeAgent {
    /// Starts it; what it was last told of its pace counts.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("bind");
        let url = format!("http://{}/turn", listener.local_addr().expect("address"));
        let pace = Pace {
            thinks: Duration::ZERO,
            between: Duration::ZERO,
        };
        let inner = Arc::new(Inner {
            pace: Mutex::new(pace),
            seen: Mutex::default(),
        });
        let router = Router::new()
            .route("/turn", post(turn))
            .with_state(inner.clone());
        tokio::spawn(async move {
            let listener = axum::serve::ListenerExt::tap_io(listener, |connection| {
                let _ = connection.set_nodelay(true);
            });
            axum::serve(listener, router).await
        });
        Self { inner, url }
    }

    /// From now on it is as fast as this.
    pub fn set_pace(&self, pace: Pace) {
        *self.inner.pace.lock().expect("lock") = pace;
    }

    /// What it saw of the turn with this message.
    pub fn seen(&self, message: &str) -> Seen {
        let seen = self.inner.seen.lock().expect("lock");
        seen.get(message).expect("the turn came").clone()
    }

    /// No turn is kept whole here.
    pub fn turns(&self) -> Vec<Value> {
        Vec::new()
    }
}

async fn turn(State(inner): State<Arc<Inner>>, request: Request) -> Response {
    let (came, came_at) = (Instant::now(), OffsetDateTime::now_utc());
    let body = axum::body::to_bytes(request.into_body(), BODY_BYTES_MAX)
        .await
        .expect("a body");
    let turn: Value = serde_json::from_slice(&body).expect("a turn");
    let message = turn["message"].as_str().expect("a message").to_owned();
    let pace = *inner.pace.lock().expect("lock");
    let (sender, receiver) = mpsc::channel::<Bytes>(1);
    tokio::spawn(async move {
        let mut wrote = Vec::with_capacity(SENTENCES);
        let sentences = (0..SENTENCES).map(|n| json!({"type": "text", "text": sentence(n)}));
        tokio::time::sleep(pace.thinks).await;
        for line in sentences {
            wrote.push(Instant::now());
            if sender.send(format!("{line}\n").into()).await.is_err() {
                return;
            }
            tokio::time::sleep(pace.between).await;
        }
        let seen = Seen {
            came,
            came_at,
            wrote,
        };
        inner.seen.lock().expect("lock").insert(message, seen);
        let _ = sender.send("{\"type\":\"done\"}\n".into()).await;
    });
    let body = Body::from_stream(ReceiverStream::new(receiver).map(Ok::<_, std::io::Error>));
    ([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}
