//! `POST /api/actions/{act}/prepare` and `…/confirm`: the two steps of a press.
//!
//! Both carry what the card displayed: its version, H, the nonce of the showing, and the note. The first checks
//! and changes nothing; the second is the only address that can move money, and the same again is the same answer.

use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use countersign_domain::Secret;
use countersign_execution::{
    cards,
    confirm::{self, ConfirmInput},
    error::ActError,
    step_up::Prompt,
};
use countersign_serve::{Json, Problem};
use serde::{Deserialize, Serialize};

use countersign_step_up::Assertion;

use crate::{
    app::App,
    refusal::{BAD_BODY, Refusal, action_id},
    session::{Session, new_secret},
};

/// What the page saw and what the customer typed beside it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    version: i32,
    /// H in hexadecimal.
    confirm_hash: String,
    nonce: Secret,
    #[serde(default)]
    note: String,
    /// What a passkey answered, where the card wants one; in the second step alone.
    #[serde(default)]
    assertion: Option<Assertion>,
}

#[derive(Serialize)]
struct Prepared {
    challenge: String,
    step_up: Option<Prompt>,
}

impl Input {
    fn read(self) -> Result<ConfirmInput, Problem> {
        let mut confirm_hash = [0; 32];
        hex::decode_to_slice(&self.confirm_hash, &mut confirm_hash).map_err(|_| BAD_BODY)?;
        // Every showing's name is plain text; the database takes no other bytes in it.
        if !self
            .nonce
            .expose()
            .bytes()
            .all(|byte| byte.is_ascii_graphic())
        {
            return Err(BAD_BODY);
        }
        Ok(ConfirmInput {
            version: self.version,
            confirm_hash,
            nonce: self.nonce,
            note: self.note,
            assertion: self.assertion,
        })
    }
}

/// Checks record and note, and answers with the challenge that a passkey would sign and, where the card wants one, with what to
/// ask it.
pub async fn prepare_action(
    State(app): State<App>,
    session: Session,
    Path(action): Path<String>,
    Json(input): Json<Input>,
) -> Result<Response, Refusal> {
    let (action, input) = (action_id(&action)?, input.read()?);
    confirm::prepare(
        &app.pool,
        &session.secret,
        &app.passkey_page,
        action,
        &input,
        &mut new_secret,
        &app.log,
    )
    .await
    .map(|prepared| {
        axum::Json(Prepared {
            challenge: hex::encode(prepared.challenge),
            step_up: prepared.step_up,
        })
        .into_response()
    })
    .map_err(|error| Refusal::of("prepare a confirmation", error))
}

/// Confirms. The database function behind it is the one that makes the request take effect.
pub async fn confirm_action(
    State(app): State<App>,
    session: Session,
    Path(action): Path<String>,
    Json(input): Json<Input>,
) -> Result<Response, Refusal> {
    let (action, input) = (action_id(&action)?, input.read()?);
    let confirmed = confirm::confirm(
        &app.pool,
        &session.secret,
        &app.passkey_page,
        action,
        &input,
        &mut new_secret,
        &app.log,
    )
    .await;
    match confirmed {
        Ok(confirmed) => Ok(axum::Json(confirmed).into_response()),
        Err(ActError::Refused(code)) => {
            // The card has the bank's sentence about this very rule.
            let card = cards::one_card(&app.pool, &session.secret, action, &mut new_secret)
                .await
                .ok();
            Err(Refusal::by_rule(&code, card.and_then(|card| card.message)))
        }
        Err(error) => Err(Refusal::of("confirm a request", error)),
    }
}
