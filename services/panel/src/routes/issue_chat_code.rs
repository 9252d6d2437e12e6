//! `POST /chat-code`: a code for one use, with which the framed chat becomes the same customer.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use countersign_domain::Secret;
use countersign_serve::Problem;
use countersign_store::{SessionError, session::begin};
use serde::Serialize;

use crate::{
    app::App,
    session::{self, Session},
};

/// Codes a customer may have within a minute: a frame that reloads in a loop gets no more.
const CODES_PER_MINUTE_MAX: i64 = 10;

#[derive(Serialize)]
struct Output<'a> {
    code: &'a str,
}

/// Hands out a code that lives for a minute and dies with the session.
pub async fn issue_chat_code(State(app): State<App>, session: Session) -> Response {
    match issue(&app, &session).await {
        Ok(Some(code)) => axum::Json(Output {
            code: code.expose(),
        })
        .into_response(),
        Ok(None) => Problem::too_many_requests().into_response(),
        Err(error) => session::problem("issue a chat code", &error).into_response(),
    }
}

async fn issue(app: &App, session: &Session) -> Result<Option<Secret>, SessionError> {
    let mut transaction = begin(&app.pool, &session.secret).await?;
    let recent = sqlx::query_scalar!(
        r#"SELECT count(*) AS "count!" FROM bank.chat_code WHERE created_at > bank.bank_clock() - interval '1 minute'"#
    )
    .fetch_one(&mut *transaction)
    .await?;
    if recent >= CODES_PER_MINUTE_MAX {
        return Ok(None);
    }
    let code = session::new_secret();
    sqlx::query!(
        "INSERT INTO bank.chat_code (customer_id, code_hash, panel_grant_id)
         VALUES (bank.current_customer(), $1, bank.current_grant())",
        &code.hash()[..],
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(Some(code))
}
