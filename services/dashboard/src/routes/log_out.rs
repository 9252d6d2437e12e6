//! `POST /logout`: ends the session.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::{app::App, cookie, page::PageError, session, session::Operator};

/// Ends the operator's session and takes the cookie away.
///
/// # Errors
/// [`PageError::Unavailable`] when the database does not answer; then the session still lives.
pub async fn log_out(State(app): State<App>, operator: Operator) -> Result<Response, PageError> {
    session::end(&app.pool, &operator.secret).await?;
    let headers = [
        (header::SET_COOKIE, cookie::clear()),
        (header::LOCATION, axum::http::HeaderValue::from_static("/")),
    ];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}
