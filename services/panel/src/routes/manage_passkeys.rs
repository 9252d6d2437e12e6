//! `POST /api/passkeys…` and `/api/recovery/…`: a new passkey, one fewer, another name, the way back in.
//!
//! Each answer of a browser comes with the challenge it answers, which the database issued and uses once. Who may is the
//! database's to say; a refusal has the code of a step-up.

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use countersign_execution::{
    ActError,
    passkeys::{self, Answered},
};
use countersign_serve::{Json, Problem};
use countersign_step_up::{Assertion, Registration};
use serde::Deserialize;
use uuid::Uuid;

use crate::{
    app::App,
    refusal::{BAD_BODY, Refusal},
    session::Session,
};

/// Nothing needs to be said beside the address.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}

/// What a browser answered to a challenge.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnsweredInput<T> {
    /// In hexadecimal.
    challenge: String,
    answer: T,
}

impl<T> AnsweredInput<T> {
    fn read(self) -> Result<Answered<T>, Problem> {
        let mut challenge = [0; 32];
        hex::decode_to_slice(&self.challenge, &mut challenge).map_err(|_| BAD_BODY)?;
        Ok(Answered {
            challenge,
            answer: self.answer,
        })
    }
}

/// A new passkey, and the leave of one that is there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewInput {
    name: String,
    passkey: AnsweredInput<Registration>,
    leave: Option<AnsweredInput<Assertion>>,
}

/// Another name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameInput {
    name: String,
}

/// The leave to remove one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaveInput {
    leave: AnsweredInput<Assertion>,
}

/// Begins the making of a passkey: what to tell the browser.
pub async fn begin_passkey_enrolment(
    State(app): State<App>,
    session: Session,
    Json(NoInput {}): Json<NoInput>,
) -> Result<Response, Refusal> {
    passkeys::begin_enrolment(&app.pool, &session.secret, &app.passkey_page)
        .await
        .map(|enrolment| axum::Json(enrolment).into_response())
        .map_err(|error| Refusal::of("begin a passkey", error))
}

/// Begins a change of the passkeys: what to ask one of them.
pub async fn begin_passkey_change(
    State(app): State<App>,
    session: Session,
    Json(NoInput {}): Json<NoInput>,
) -> Result<Response, Refusal> {
    passkeys::begin_change(&app.pool, &session.secret, &app.passkey_page)
        .await
        .map(|options| axum::Json(serde_json::json!({ "leave": options })).into_response())
        .map_err(|error| Refusal::of("begin a change of passkeys", error))
}

/// Takes a new passkey.
pub async fn add_passkey(
    State(app): State<App>,
    session: Session,
    Json(input): Json<NewInput>,
) -> Result<Response, Refusal> {
    let new = input.passkey.read()?;
    let leave = input.leave.map(AnsweredInput::read).transpose()?;
    let done = passkeys::enrol(
        &app.pool,
        &session.secret,
        &app.passkey_page,
        &input.name,
        &new,
        leave.as_ref(),
    )
    .await;
    answer("set up a passkey", done)
}

/// Gives a passkey another name.
pub async fn rename_passkey(
    State(app): State<App>,
    session: Session,
    Path(passkey): Path<String>,
    Json(input): Json<NameInput>,
) -> Result<Response, Refusal> {
    let which = passkey_id(&passkey)?;
    let done = passkeys::rename(&app.pool, &session.secret, which, &input.name).await;
    answer("rename a passkey", done)
}

/// Removes a passkey.
pub async fn remove_passkey(
    State(app): State<App>,
    session: Session,
    Path(passkey): Path<String>,
    Json(input): Json<LeaveInput>,
) -> Result<Response, Refusal> {
    let which = passkey_id(&passkey)?;
    let leave = input.leave.read()?;
    let done = passkeys::remove(&app.pool, &session.secret, &app.passkey_page, which, &leave).await;
    answer("remove a passkey", done)
}

/// Asks for the way back in.
pub async fn ask_recovery(
    State(app): State<App>,
    session: Session,
    Json(NoInput {}): Json<NoInput>,
) -> Result<Response, Refusal> {
    let done = passkeys::ask_recovery(&app.pool, &session.secret).await;
    answer("ask for a recovery", done)
}

/// Ends the way back in without a change.
pub async fn cancel_recovery(
    State(app): State<App>,
    session: Session,
    Json(NoInput {}): Json<NoInput>,
) -> Result<Response, Refusal> {
    let done = passkeys::cancel_recovery(&app.pool, &session.secret).await;
    answer("end a recovery", done)
}

fn passkey_id(text: &str) -> Result<Uuid, Problem> {
    Uuid::try_parse(text).map_err(|_| Problem::not_found())
}

fn answer(acting: &'static str, done: Result<(), ActError>) -> Result<Response, Refusal> {
    match done {
        Ok(()) => Ok(StatusCode::NO_CONTENT.into_response()),
        Err(error) => Err(Refusal::of(acting, error)),
    }
}
