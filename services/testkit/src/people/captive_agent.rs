//! An agent process in the test's hands: it holds what the real one holds, and does what the test says.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use axum::{Json, Router, body::Body, extract::State, response::Response, routing::post};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tokio_stream::{StreamExt, wrappers::UnboundedReceiverStream};

use super::door_client::{DoorClient, ToolAnswer};

/// How long a test waits for a turn to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Waiting {
    turns: Mutex<VecDeque<Turn>>,
    arrived: Notify,
}

/// The listening end. `intake` calls it as it would call the real agent.
pub struct CaptiveAgent {
    address: SocketAddr,
    waiting: Arc<Waiting>,
    server: tokio::task::JoinHandle<()>,
}

impl CaptiveAgent {
    /// Listens on a free port.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn listen() -> anyhow::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let waiting = Arc::new(Waiting::default());
        let router = Router::new()
            .route("/turn", post(take_turn))
            .with_state(waiting.clone());
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self {
            address,
            waiting,
            server,
        })
    }

    /// Where `intake` finds it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/turn", self.address)
    }

    /// The turn of a message that was or is about to be sent.
    ///
    /// # Errors
    /// When none arrives.
    pub async fn turn(&self, message: &str) -> anyhow::Result<Turn> {
        self.arrival(|turn| turn.message == message)
            .await
            .with_context(|| format!("no turn came for {message:?}"))
    }

    /// The turn of a conversation's message that was or is about to be sent, whatever the message says.
    ///
    /// # Errors
    /// When none arrives.
    pub async fn turn_in(&self, conversation: &str) -> anyhow::Result<Turn> {
        let wanted: String = conversation.chars().filter(|c| *c != '-').collect();
        self.arrival(|turn| turn.is_in(&wanted))
            .await
            .with_context(|| format!("no turn came in {conversation}"))
    }

    async fn arrival(
        &self,
        wanted: impl Fn(&Turn) -> bool,
    ) -> Result<Turn, tokio::time::error::Elapsed> {
        tokio::time::timeout(PATIENCE, async {
            loop {
                let arrived = self.waiting.arrived.notified();
                if let Some(turn) = self.take_if(&wanted) {
                    return turn;
                }
                arrived.await;
            }
        })
        .await
    }

    fn take_if(&self, wanted: impl Fn(&Turn) -> bool) -> Option<Turn> {
        let mut turns = self
            .waiting
            .turns
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let position = turns.iter().position(wanted)?;
        turns.remove(position)
    }
}

impl Drop for CaptiveAgent {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn take_turn(State(waiting): State<Arc<Waiting>>, Json(request): Json<Value>) -> Response {
    let (lines, answer) = mpsc::unbounded_channel();
    let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
    let turn = Turn {
        message: text("message"),
        session_token: text("session_token"),
        lines,
    };
    waiting
        .turns
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .push_back(turn);
    waiting.arrived.notify_waiters();
    let lines = UnboundedReceiverStream::new(answer)
        .map(|line: Value| Ok::<_, std::convert::Infallible>(format!("{line}\n")));
    Response::builder()
        .header("content-type", "application/x-ndjson")
        .body(Body::from_stream(lines))
        .unwrap_or_default()
}

/// One turn: the token the agent carries, and the answer it owes. Dropping it breaks the answer off.
#[derive(Debug)]
pub struct Turn {
    message: String,
    session_token: String,
    lines: mpsc::UnboundedSender<Value>,
}

impl Turn {
    /// Everything the agent holds of this turn.
    #[must_use]
    pub fn session_token(&self) -> &str {
        &self.session_token
    }

    /// What the customer wrote.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the token says that this turn is of that conversation. Anybody can read it; only the bank can write it.
    fn is_in(&self, conversation: &str) -> bool {
        let claims = self.session_token.split('.').nth(1).unwrap_or_default();
        let Ok(claims) = URL_SAFE_NO_PAD.decode(claims) else {
            return false;
        };
        String::from_utf8_lossy(&claims)
            .replace('-', "")
            .contains(conversation.rsplit('_').next().unwrap_or(conversation))
    }

    /// Calls a tool through the door with this turn's token.
    ///
    /// # Errors
    /// When the door does not answer in the protocol's form.
    pub async fn calls(
        &self,
        door: &DoorClient,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<ToolAnswer> {
        door.call(&self.session_token, tool, arguments).await
    }

    /// Says something, as a piece of the reply.
    pub fn says(&self, text: &str) {
        let _ = self.lines.send(json!({"type": "text", "text": text}));
    }

    /// Ends the turn as an agent does that has finished.
    pub fn ends(self) {
        let _ = self.lines.send(json!({"type": "done"}));
    }
}
