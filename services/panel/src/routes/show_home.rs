//! `GET /`: what waits for the customer, beside the framed chat. The script fills in the cards.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use crate::{
    app::App,
    page::{self, PageSession, Shell},
};

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    shell: Shell,
    chat_origin: &'a str,
}

/// Shows the page, or the sign-in page: here that is the page, and not a refusal.
pub async fn show_home(State(app): State<App>, session: Result<PageSession, Response>) -> Response {
    let session = match session {
        Ok(PageSession(session)) => session,
        Err(mut sign_in) => {
            if sign_in.status() == StatusCode::UNAUTHORIZED {
                *sign_in.status_mut() = StatusCode::OK;
            }
            return sign_in;
        }
    };
    let page = HomePage {
        shell: Shell::signed_in(&app, &session, "/"),
        chat_origin: &app.chat_origin,
    };
    page::render(StatusCode::OK, &page)
}
