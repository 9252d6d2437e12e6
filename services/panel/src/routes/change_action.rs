//! `POST /api/actions/{act}/cancel`, `…/undo`, `…/keep`, `…/fill` and `…/drop`: what else a customer can make of a request.
//!
//! None of them sends money. Each answers with the card as it is afterwards, which waits for a press of its own.

use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use countersign_execution::{
    ActError, Card, cancel,
    drop_line::{self, DropInput},
    fill::{self, FillInput},
    keep, undo,
};
use countersign_serve::Json;
use serde::Deserialize;

use crate::{
    app::App,
    refusal::{Refusal, action_id},
    session::{Session, new_secret},
    shown_card::shown,
};

/// The version of the card that the customer looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionInput {
    version: i32,
}

/// A value for one open slot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotInput {
    version: i32,
    slot: String,
    line: i16,
    value: String,
}

/// One payment of several, by the number the card gave it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentInput {
    version: i32,
    line: i16,
}

/// Cancels. Whatever version was looked at: no is no.
pub async fn cancel_action(
    State(app): State<App>,
    session: Session,
    Path(action): Path<String>,
    Json(VersionInput { version: _ }): Json<VersionInput>,
) -> Result<Response, Refusal> {
    let action = action_id(&action)?;
    let done = cancel::cancel(&app.pool, &session.secret, action, &mut new_secret).await;
    answer("cancel a request", done)
}

/// Takes a confirmed payment back while it has not left. No step-up: it only ever makes less happen.
pub async fn undo_action(
    State(app): State<App>,
    session: Session,
    Path(action): Path<String>,
    Json(VersionInput { version: _ }): Json<VersionInput>,
) -> Result<Response, Refusal> {
    let action = action_id(&action)?;
    let done = undo::undo(
        &app.pool,
        &session.secret,
        action,
        &mut new_secret,
        &app.log,
    )
    .await;
    answer("undo a payment", done)
}

/// Keeps a request that asks again after a later message took it back.
pub async fn keep_action(
    State(app): State<App>,
    session: Session,
    Path(action): Path<String>,
    Json(input): Json<VersionInput>,
) -> Result<Response, Refusal> {
    let action = action_id(&action)?;
    let done = keep::keep(
        &app.pool,
        &session.secret,
        action,
        input.version,
        &mut new_secret,
    )
    .await;
    answer("keep a request", done)
}

/// Fills an open slot.
pub async fn fill_slot(
    State(app): State<App>,
    session: Session,
    Path(action): Path<String>,
    Json(input): Json<SlotInput>,
) -> Result<Response, Refusal> {
    let action = action_id(&action)?;
    let SlotInput {
        version,
        slot,
        line,
        value,
    } = input;
    let input = FillInput {
        version,
        slot,
        line,
        value,
    };
    let done = fill::fill(&app.pool, &session.secret, action, &input, &mut new_secret).await;
    answer("fill a slot", done)
}

/// Takes one payment out of a request of several.
pub async fn drop_payment(
    State(app): State<App>,
    session: Session,
    Path(action): Path<String>,
    Json(PaymentInput { version, line }): Json<PaymentInput>,
) -> Result<Response, Refusal> {
    let action = action_id(&action)?;
    let input = DropInput { version, line };
    let done =
        drop_line::drop_line(&app.pool, &session.secret, action, input, &mut new_secret).await;
    answer("drop a payment", done)
}

fn answer(acting: &'static str, done: Result<Card, ActError>) -> Result<Response, Refusal> {
    match done {
        Ok(mut card) => {
            shown(&mut card);
            Ok(axum::Json(card).into_response())
        }
        Err(error) => Err(Refusal::of(acting, error)),
    }
}
