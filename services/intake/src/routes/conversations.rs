//! `POST /conversations`: a fresh start. Nothing said before grounds anything in it.

use std::time::Instant;

use axum::{extract::State, http::StatusCode};
use countersign_domain::ConversationId;
use countersign_serve::{Json, Problem};
use serde::{Deserialize, Serialize};

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
