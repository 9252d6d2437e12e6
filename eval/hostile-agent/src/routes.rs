//! What intake calls, and what the test calls.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_stream::{StreamExt, wrappers::UnboundedReceiverStream};

use crate::attack::Attack;
use crate::held::Held;
use crate::outcome::Outcome;
use crate::requests::{self, Answer, Request};

/// The place of the agent, and the turn it serves.
pub struct Place {
    held: Held,
    turn: Mutex<Option<Turn>>,
}

struct Turn {
    body: Value,
    lines: UnboundedSender<Value>,
}

impl Place {
    /// A place without a turn.
    pub fn new(held: Held) -> Self {
        Self {
            held,
            turn: Mutex::default(),
        }
    }

    fn turn(&self) -> std::sync::MutexGuard<'_, Option<Turn>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The routes: the agent's two, and three for the test.
pub fn router(place: Arc<Place>) -> Router {
    Router::new()
        .route("/turn", post(take_turn))
        .route("/held", get(show_held))
        .route("/attack", post(run_attack))
        .route("/requests", post(send_requests))
        .route("/end", post(end_turn))
        .with_state(place)
        .route("/health", get(countersign_serve::health))
}

/// Takes a turn and keeps it open until the test ends it.
async fn take_turn(State(place): State<Arc<Place>>, Json(body): Json<Value>) -> Response {
    let (lines, answer) = unbounded_channel();
    *place.turn() = Some(Turn { body, lines });
    let lines = UnboundedReceiverStream::new(answer)
        .map(|line: Value| Ok::<_, std::convert::Infallible>(format!("{line}\n")));
    Response::builder()
        .header("content-type", "application/x-ndjson")
        .body(Body::from_stream(lines))
        .unwrap_or_default()
}

/// What the process holds, and all that intake sent for the turn; null without one.
async fn show_held(State(place): State<Arc<Place>>) -> Json<Value> {
    let turn = place.turn().as_ref().map(|turn| turn.body.clone());
    Json(json!({"process": place.held, "turn": turn}))
}

/// The attempts block, so they run beside the reactor.
async fn run_attack(Json(attack): Json<Attack>) -> Result<Json<Vec<Outcome>>, StatusCode> {
    tokio::task::spawn_blocking(|| attack.run())
        .await
        .map(Json)
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

async fn send_requests(
    Json(requests): Json<Vec<Request>>,
) -> Result<Json<Vec<Answer>>, StatusCode> {
    tokio::task::spawn_blocking(move || requests::send(&requests))
        .await
        .map(Json)
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    /// Whatever it pleases to report, line by line.
    #[serde(default)]
    lines: Vec<Value>,
    text: String,
}

/// Says something and ends the turn.
async fn end_turn(State(place): State<Arc<Place>>, Json(end): Json<End>) -> StatusCode {
    let Some(turn) = place.turn().take() else {
        return StatusCode::CONFLICT;
    };
    for line in end.lines {
        let _ = turn.lines.send(line);
    }
    let _ = turn.lines.send(json!({"type": "text", "text": end.text}));
    let _ = turn.lines.send(json!({"type": "done"}));
    StatusCode::NO_CONTENT
}
