//! `GET /conversations`: the customer's conversations, newest first. `POST /conversations`: a fresh start; nothing said
//! before grounds anything in it.

use std::time::Instant;

use axum::{extract::State, http::StatusCode};
use countersign_domain::ConversationId;
use countersign_serve::{Json, Problem};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::messages::too_many_messages;
use crate::{
    ambient,
    app::App,
    session::Chat,
    store::{StoreError, conversation},
};

/// The body: an empty object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Most conversations in the list.
const LIST_MAX: i64 = 100;
/// Most characters of the words that a conversation is known by.
const BEGINS_CHARACTERS_MAX: usize = 80;

/// One conversation in the list.
#[derive(Serialize)]
pub struct Listed {
    conversation: ConversationId,
    /// How its first message begins; empty while nothing was written.
    begins: String,
    messages: i64,
    /// When something was last written in it, or it was begun.
    #[serde(with = "time::serde::rfc3339")]
    last_at: OffsetDateTime,
}

/// The list.
#[derive(Serialize)]
pub struct List {
    conversations: Vec<Listed>,
}

/// Lists the conversations of the session's customer.
pub async fn list_conversations(
    State(app): State<App>,
    chat: Chat,
) -> Result<axum::Json<List>, Problem> {
    let mut transaction = app.database.begin(&chat.bearer).await?;
    let kept = conversation::list(&mut transaction, chat.customer, LIST_MAX).await?;
    let listed = kept.into_iter().map(|one| Listed {
        conversation: ConversationId::from_uuid(one.conversation_id),
        begins: cut(one.first.as_deref().unwrap_or_default()),
        messages: one.messages,
        last_at: one.last_at,
    });
    Ok(axum::Json(List {
        conversations: listed.collect(),
    }))
}

/// The beginning of a message, on one line; a cut is marked.
fn cut(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(BEGINS_CHARACTERS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// The conversation that was begun.
#[derive(Serialize)]
pub struct Begun {
    conversation: ConversationId,
}

/// Begins a conversation for the customer of the session. It counts as a message against the rate.
pub async fn start_conversation(
    State(app): State<App>,
    chat: Chat,
    Json(Nothing {}): Json<Nothing>,
) -> Result<(StatusCode, axum::Json<Begun>), Problem> {
    if !app.rates.admit(chat.customer, Instant::now()) {
        return Err(too_many_messages());
    }
    let conversation = ConversationId::from_uuid(ambient::new_id());
    let mut transaction = app.database.begin(&chat.bearer).await?;
    conversation::begin(&mut transaction, chat.customer, conversation).await?;
    transaction.commit().await.map_err(StoreError::from)?;
    Ok((StatusCode::CREATED, axum::Json(Begun { conversation })))
}
