//! `POST /messages`: records what the customer wrote, then answers it line by line.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use countersign_domain::{ConversationId, Secret, UtteranceId};
use countersign_screening::Stage;
use countersign_serve::{Json, Problem};
use futures_util::StreamExt as _;
use tokio::sync::{
    OwnedSemaphorePermit,
    mpsc::{self, Sender},
};
use tokio_stream::wrappers::ReceiverStream;

use crate::{
    agent::{Role, Said, bounded_history},
    ambient,
    app::App,
    message::{self, Sent},
    relay::{self, Out},
    session::Chat,
    store::{
        StoreError, chat_event, conversation, reply, turn_grant,
        utterance::{self, Recorded},
    },
    turn::{self, TURN_TIME_OUT, Turn},
};

/// Lines that wait for a slow browser; above it the agent waits.
const LINES_WAITING_MAX: usize = 64;
/// Exchanges of the past that are read for the agent.
const EXCHANGES_MAX: i64 = 20;
/// Earlier replies that are looked at together with the newest for another customer's canary.
const REPLIES_WATCHED: usize = 10;
/// How often the record is asked for the end of a reply that another request is running.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// Records a message and streams the reply to it.
///
/// The same client id again waits for and repeats the recorded outcome; nothing runs twice. While another reply of
/// the conversation is in progress, a new message is refused with 409 `turn_running` and *not* recorded, so that
/// the page can send it again under the same id.
pub async fn send_message(
    State(app): State<App>,
    chat: Chat,
    Json(sent): Json<Sent>,
) -> Result<Response, Problem> {
    message::check(&sent)?;
    if !app.rates.admit(chat.customer, Instant::now()) {
        return Err(too_many_messages());
    }
    let room = Arc::clone(&app.turns)
        .try_acquire_owned()
        .map_err(|_| Problem::busy())?;
    // On its own task: a browser that hangs up between the commit and the turn must not leave a reply open.
    tokio::spawn(accept(app, chat, sent, room))
        .await
        .map_err(|_| Problem::internal())?
}

/// 429 with the chat's own code.
pub const fn too_many_messages() -> Problem {
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_messages",
        "Too many messages; wait a minute",
    )
}

async fn accept(
    app: App,
    chat: Chat,
    sent: Sent,
    room: OwnedSemaphorePermit,
) -> Result<Response, Problem> {
    let mut transaction = app.database.begin(&chat.bearer).await?;
    let conversation = match sent.conversation {
        Some(named) if conversation::exists(&mut transaction, chat.customer, named).await? => named,
        Some(_) => return Err(Problem::not_found()),
        None => conversation::newest(&mut transaction, chat.customer)
            .await?
            .ok_or(Problem::not_found())?,
    };
    let fresh = UtteranceId::from_uuid(ambient::new_id());
    let utterance =
        match utterance::record(&mut transaction, chat.customer, conversation, fresh, &sent).await?
        {
            Recorded::Now(id) => id,
            Recorded::Before(id) => {
                return Ok(stream(id, |out| {
                    repeat_outcome(app, chat, conversation, id, out)
                }));
            }
            Recorded::Reused => {
                return Err(Problem::conflict(
                    "message_id_reused",
                    "This message id stands for another message",
                ));
            }
        };
    let (reply_id, grant) = (ambient::new_id(), ambient::new_id());
    reply::begin(
        &mut transaction,
        chat.customer,
        conversation,
        utterance,
        reply_id,
        grant,
    )
    .await?
    .ok_or(Problem::conflict(
        "turn_running",
        "The assistant is still answering another message",
    ))?;
    let history = reply::latest(
        &mut transaction,
        chat.customer,
        conversation,
        Some(utterance),
        EXCHANGES_MAX,
    )
    .await?;
    let spent = chat_event::spent(&mut transaction, chat.customer, conversation).await?;
    let grant_secret = Secret::from_random(ambient::random());
    turn_grant::begin(
        &mut transaction,
        chat.customer,
        conversation,
        chat.grant,
        grant,
        &grant_secret,
    )
    .await?;
    transaction.commit().await.map_err(StoreError::from)?;
    let turn = Turn {
        customer: chat.customer,
        conversation,
        reply: reply_id,
        grant,
        bearer: chat.bearer,
        grant_secret,
        locale: chat.locale,
        message: sent.text,
        earlier_replies: earlier_replies(&history),
        history: bounded_history(said(history)),
        remaining: app.model_budget.remaining(spent),
        room,
    };
    Ok(stream(utterance, |out| turn::run(app, turn, out)))
}

/// The last replies, oldest first, as they were shown: a leak may be told in parts.
fn earlier_replies(exchanges: &[reply::Exchange]) -> Vec<String> {
    let from = exchanges.len().saturating_sub(REPLIES_WATCHED);
    let replies = exchanges[from..]
        .iter()
        .filter_map(|exchange| exchange.reply.clone());
    replies.collect()
}

/// A conversation as its messages, oldest first.
fn said(exchanges: Vec<reply::Exchange>) -> Vec<Said> {
    let mut said = Vec::with_capacity(exchanges.len() * 2);
    for exchange in exchanges {
        said.push(Said {
            role: Role::Customer,
            text: exchange.message,
        });
        said.extend(exchange.reply.map(|text| Said {
            role: Role::Assistant,
            text,
        }));
    }
    said
}

/// Starts a task that writes lines, and answers with what it writes behind the first line.
fn stream<F: Future<Output = ()> + Send + 'static>(
    utterance: UtteranceId,
    start: impl FnOnce(Sender<Bytes>) -> F,
) -> Response {
    let (sender, receiver) = mpsc::channel(LINES_WAITING_MAX);
    let first = Out::Recorded { utterance }.line();
    tokio::spawn(start(sender));
    let lines = tokio_stream::once(first).chain(ReceiverStream::new(receiver));
    let body = Body::from_stream(lines.map(Ok::<_, std::convert::Infallible>));
    ([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}

/// Waits until the reply to a message that was on record already has ended, and repeats it.
async fn repeat_outcome(
    app: App,
    chat: Chat,
    conversation: ConversationId,
    id: UtteranceId,
    out: Sender<Bytes>,
) {
    let began = Instant::now();
    let kept = loop {
        let read: Result<_, StoreError> = async {
            let mut transaction = app.database.begin(&chat.bearer).await?;
            reply::of_utterance(&mut transaction, chat.customer, conversation, id).await
        }
        .await;
        match read {
            Ok(Some(kept)) if kept.state != "running" => break Some(kept),
            Ok(Some(_)) if began.elapsed() < TURN_TIME_OUT + END_GRACE => {}
            Ok(_) => break None,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "Could not read a reply"
                );
                break None;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_AGAIN) => {}
            () = out.closed() => return,
            () = countersign_serve::stopping() => break None,
        }
    };
    let Some(kept) = kept else {
        let _ = out
            .send(
                Out::Failed {
                    code: "interrupted",
                }
                .line(),
            )
            .await;
        return;
    };
    if let Some(grant) = kept.grant_id {
        let looked = turn::read_looked_at(&app, &chat.bearer, chat.customer, grant).await;
        for line in looked.into_iter().filter_map(relay::looked_at) {
            let _ = out.send(line.line()).await;
        }
    }
    if !kept.body.is_empty() {
        let _ = out.send(Out::Text { text: &kept.body }.line()).await;
    }
    let spoken = turn::Spoken {
        reply: &kept.body,
        least: Stage::Done,
        within: None,
    };
    if let Some(record) = turn::correction(&app, &chat.bearer, conversation, spoken).await {
        let _ = out.send(Out::Corrected { record: &record }.line()).await;
    }
    let last = match kept.state.as_str() {
        "complete" => Out::Done,
        _ => Out::Failed {
            code: "interrupted",
        },
    };
    let _ = out.send(last.line()).await;
}

/// Time a reply may take to be closed after its turn.
const END_GRACE: Duration = Duration::from_secs(15);
