//! `POST /turn`: one turn of a conversation, answered in lines as they come.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use countersign_domain::Secret;
use countersign_models::Message;
use countersign_serve::{Json, Problem};
use serde::Deserialize;
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use crate::{
    limits,
    line::Lines,
    turn::{Agent, Remaining, TurnInput, run},
};

/// What the route needs: the agent, and room for a turn.
pub struct Turns {
    /// The agent.
    pub agent: Arc<Agent>,
    /// One permit a turn.
    pub room: Arc<Semaphore>,
}

/// A turn, as the chat origin sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnBody {
    turn_id: String,
    session_token: Secret,
    locale: String,
    history: Vec<Said>,
    message: String,
    #[serde(default)]
    remaining: Remaining,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    role: Role,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    Customer,
    Assistant,
}

/// Takes a turn. The answer begins at once; hanging up ends the turn.
///
/// # Errors
/// 422 for a turn beyond the limits, 503 when all room is taken. What goes wrong later is a line of the answer.
pub async fn post_turn(
    State(turns): State<Arc<Turns>>,
    Json(body): Json<TurnBody>,
) -> Result<Response, Problem> {
    let input = body.check()?;
    let permit = Arc::clone(&turns.room)
        .try_acquire_owned()
        .map_err(|_| Problem::busy())?;
    let (sender, receiver) = mpsc::channel(limits::LINES_WAITING_MAX);
    let agent = Arc::clone(&turns.agent);
    tokio::spawn(async move {
        run(&agent, input, Lines::new(sender)).await;
        drop(permit);
    });
    let mut response = Body::from_stream(ReceiverStream::new(receiver)).into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/x-ndjson"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

impl TurnBody {
    fn check(self) -> Result<TurnInput, Problem> {
        let beyond = || Problem::unprocessable("invalid_turn", "The turn is not within the limits");
        let turn_fits =
            self.turn_id.len() == 32 && self.turn_id.bytes().all(|b| b.is_ascii_hexdigit());
        let token = self.session_token.expose();
        let token_fits = !token.is_empty()
            && token.len() <= limits::TOKEN_BYTES_MAX
            && token.bytes().all(|b| b.is_ascii_graphic());
        let locale_fits = (1..=35).contains(&self.locale.len())
            && self
                .locale
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let texts_fit = self
            .history
            .iter()
            .map(|said| &said.text)
            .chain([&self.message])
            .all(|text| text.len() <= limits::MESSAGE_BYTES_MAX);
        let history_fits = self.history.len() <= limits::HISTORY_MAX;
        if !(turn_fits && token_fits && locale_fits && texts_fit && history_fits) {
            return Err(beyond());
        }
        Ok(TurnInput {
            turn: self.turn_id,
            session_token: self.session_token,
            locale: self.locale,
            history: self
                .history
                .into_iter()
                .map(|said| match said.role {
                    Role::Customer => Message::Customer(said.text),
                    Role::Assistant => Message::Assistant {
                        text: said.text,
                        calls: Vec::new(),
                    },
                })
                .collect(),
            message: self.message,
            remaining: self.remaining,
        })
    }
}
