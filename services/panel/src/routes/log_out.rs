//! `POST /logout`: ends the session in the database, then takes the cookie away.

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Redirect, Response},
};

use crate::{
    app::App,
    cookie,
    page::{self, PageSession},
    session,
};

/// Ends the session. Where the database does not answer, the customer stays signed in and is told so.
pub async fn log_out(State(app): State<App>, PageSession(session): PageSession) -> Response {
    if let Err(error) = session::end(&app.pool, &session.secret).await {
        return page::unavailable(&error);
    }
    app.wakes.end(session.secret.hash());
    ([(header::SET_COOKIE, cookie::clear())], Redirect::to("/")).into_response()
}
