//! `GET /api/cards`: what waits, with everything recomputed, and what ended a short while ago.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use countersign_execution::{ActError, Card, cards};
use countersign_store::{session::bank_clock, session::begin};
use serde::Serialize;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    app::App,
    refusal::Refusal,
    session::{Session, new_secret},
    shown_card::shown,
};

#[derive(Serialize)]
struct Output {
    server_time: String,
    /// Notices that were not listed yet.
    unread: i64,
    cards: Vec<Card>,
}

/// Lists the cards. Each complete one counts as shown from here on, under a one-time nonce.
pub async fn list_cards(State(app): State<App>, session: Session) -> Response {
    match list(&app, &session).await {
        Ok(output) => axum::Json(output).into_response(),
        Err(error) => Refusal::of("list the cards", error).into_response(),
    }
}

async fn list(app: &App, session: &Session) -> Result<Output, ActError> {
    let mut cards = cards::open_cards(&app.pool, &session.secret, &mut new_secret).await?;
    cards.iter_mut().for_each(shown);
    let mut transaction = begin(&app.pool, &session.secret).await?;
    let now: OffsetDateTime = bank_clock(&mut transaction).await?;
    transaction.rollback().await?;
    Ok(Output {
        unread: session.unread,
        server_time: now.format(&Rfc3339).unwrap_or_default(),
        cards,
    })
}
