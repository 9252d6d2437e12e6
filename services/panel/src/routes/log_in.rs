//! `POST /login`: the one-use token of a printed address becomes a session.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use countersign_domain::Secret;
use countersign_serve::{Json, Problem};
use serde::Deserialize;

use crate::{app::App, session};

/// Longest token that is looked at.
const TOKEN_LENGTH_MAX: usize = 200;

/// The token as the page took it from its address.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    token: Secret,
}

/// Begins a session. A session that the browser still had ends.
pub async fn log_in(
    State(app): State<App>,
    headers: HeaderMap,
    Json(input): Json<Input>,
) -> Response {
    let token = input.token.expose();
    // Every token is plain text; the database takes no other bytes in it.
    if token.len() > TOKEN_LENGTH_MAX || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Problem::unauthorized().into_response();
    }
    match session::redeem(&app.pool, &input.token).await {
        Ok(Some(secret)) => {
            let cookie = session::welcome(&app, &headers, &secret).await;
            (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
        }
        Ok(None) => Problem::unauthorized()
            .with_detail("This address was used before or is too old. Ask for a fresh one.")
            .into_response(),
        Err(error) => session::problem("redeem a login token", &error).into_response(),
    }
}
