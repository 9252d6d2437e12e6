//! `GET /find?q=…`: a request by its id, its receipt's address, its receipt's short code or the leaf of one of its events; a
//! call by its leaf in the door's record.

use axum::{
    extract::{Query, State},
    response::{IntoResponse, Redirect, Response},
};
use countersign_domain::{ActionId, ConversationId};
use serde::Deserialize;

use crate::{app::App, page::PageError, session, session::Operator};

/// Longest question that is looked at.
const QUESTION_LENGTH_MAX: usize = 100;
/// Letters of a short code without its dash.
const CODE_LETTERS: usize = 8;
/// Bytes of a leaf's hash.
const LEAF_BYTES: usize = 32;

/// What is looked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    q: String,
}

/// Goes to the request, or to the calls of the conversation that a call's receipt is of.
///
/// # Errors
/// [`PageError::NotFound`] when nothing has this id or code.
pub async fn find_action(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let asked = wanted.q.trim();
    if asked.len() > QUESTION_LENGTH_MAX {
        return Err(PageError::NotFound);
    }
    let last = asked.rsplit('/').next().unwrap_or_default();
    if let Ok(action) = last.trim_end_matches(".json").parse::<ActionId>() {
        return Ok(Redirect::to(&format!("/actions/{action}")).into_response());
    }
    if let Some(leaf) = hex::decode(asked)
        .ok()
        .filter(|leaf| leaf.len() == LEAF_BYTES)
    {
        let mut transaction = session::begin(&app.pool, &operator.secret).await?;
        let found = sqlx::query_scalar!(
            r#"SELECT action_id AS "action_id!" FROM bank.bank_event WHERE leaf_hash = $1 AND action_id IS NOT NULL LIMIT 1"#,
            leaf
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(found) = found else {
            // A receipt of the door's: the call it is of, in its conversation.
            let conversation = sqlx::query_scalar!(
                "SELECT conversation_id FROM bank.tool_call WHERE record_leaf = $1 LIMIT 1",
                leaf
            )
            .fetch_optional(&mut *transaction)
            .await?
            .ok_or(PageError::NotFound)?;
            let conversation = ConversationId::from_uuid(conversation);
            return Ok(Redirect::to(&format!("/calls?conversation={conversation}")).into_response());
        };
        transaction.rollback().await?;
        let action = ActionId::from_uuid(found);
        return Ok(Redirect::to(&format!("/actions/{action}")).into_response());
    }
    let code: String = asked
        .chars()
        .filter(|letter| !matches!(letter, '-' | ' '))
        .map(|letter| letter.to_ascii_uppercase())
        .collect();
    if code.len() != CODE_LETTERS || !code.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(PageError::NotFound);
    }
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let found = sqlx::query_scalar!(
        "SELECT action_id FROM bank.execution WHERE bank.short_code(executed_hash) = $1 ORDER BY executed_at DESC LIMIT 1",
        code
    )
    .fetch_optional(&mut *transaction)
    .await?
    .ok_or(PageError::NotFound)?;
    transaction.rollback().await?;
    let action = ActionId::from_uuid(found);
    Ok(Redirect::to(&format!("/actions/{action}")).into_response())
}
