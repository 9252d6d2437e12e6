//! `GET /history`: a conversation as the record holds it.

use axum::extract::{Query, State, rejection::QueryRejection};
use countersign_domain::{ConversationId, CustomerId, UtteranceId};
use countersign_screening::{Stage, claims};
use countersign_serve::Problem;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use crate::{
    app::App,
    relay::{self, Record},
    session::Chat,
    store::{
        StoreError, action_status, conversation,
        looked_at::{self, Looked},
        reply,
    },
    turn::ANY_TIME,
};

/// Most exchanges of a conversation that are shown.
const EXCHANGES_MAX: i64 = 100;

/// One message of a conversation.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Kept {
    /// What the customer wrote.
    Customer {
        /// Its id.
        id: UtteranceId,
        /// The words.
        text: String,
    },
    /// What was answered.
    Assistant {
        /// The message it answers.
        reply_to: UtteranceId,
        /// The words that were shown.
        text: String,
        /// `running`, `complete`, `stopped` or `failed`.
        state: String,
        /// What it looked at, by the door's receipts.
        looked_at: Vec<Looked>,
        /// What the record says, where the words say more.
        corrected: Option<Record>,
    },
}

/// Which conversation; the newest where none is named.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    conversation: Option<ConversationId>,
}

/// A conversation and what was said in it.
#[derive(Serialize)]
pub struct History {
    conversation: Option<ConversationId>,
    history: Vec<Kept>,
}

/// Reads a conversation of the customer's own.
pub async fn history(
    State(app): State<App>,
    chat: Chat,
    which: Result<Query<Which>, QueryRejection>,
) -> Result<axum::Json<History>, Problem> {
    let Query(which) =
        which.map_err(|_| Problem::bad_request("invalid_query", "The query is not understood"))?;
    let mut transaction = app.database.begin(&chat.bearer).await?;
    let conversation = match which.conversation {
        None => conversation::newest(&mut transaction, chat.customer).await?,
        Some(id) if conversation::exists(&mut transaction, chat.customer, id).await? => Some(id),
        Some(_) => return Err(Problem::not_found()),
    };
    let history = match conversation {
        Some(id) => read_history(&mut transaction, chat.customer, id).await?,
        None => Vec::new(),
    };
    Ok(axum::Json(History {
        conversation,
        history,
    }))
}

/// The latest messages of a conversation, oldest first.
pub async fn read_history(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
) -> Result<Vec<Kept>, StoreError> {
    let exchanges =
        reply::latest(&mut *connection, owner, conversation, None, EXCHANGES_MAX).await?;
    let statuses =
        action_status::latest(&mut *connection, conversation, ANY_TIME.as_secs_f64()).await?;
    let calls = looked_at::of_conversation(connection, owner, conversation).await?;
    let mut kept = Vec::with_capacity(exchanges.len() * 2);
    for exchange in exchanges {
        let id = UtteranceId::from_uuid(exchange.utterance_id);
        kept.push(Kept::Customer {
            id,
            text: exchange.message,
        });
        if let (Some(text), Some(state)) = (exchange.reply, exchange.state) {
            kept.push(Kept::Assistant {
                reply_to: id,
                corrected: relay::correction(&claims(&text), Stage::Done, &statuses),
                text,
                state,
                looked_at: relay::only_looks(looked_at::first_of_each(
                    calls
                        .iter()
                        .filter(|(message, _)| *message == exchange.utterance_id)
                        .map(|(_, looked)| looked.clone()),
                )),
            });
        }
    }
    Ok(kept)
}
