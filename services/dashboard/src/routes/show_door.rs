//! `GET /door`: what the door decided, by its own numbers, and the way to its approvals page.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use crate::{
    app::App,
    door,
    door::DoorNumbers,
    page::{PageError, Shell, render},
    session::Operator,
};

#[derive(Template)]
#[template(path = "door.html")]
struct Page {
    shell: Shell,
    numbers: Option<DoorNumbers>,
    approvals_page: Option<String>,
}

/// Shows the door's decisions since it started.
///
/// # Errors
/// [`PageError`].
pub async fn show_door(State(app): State<App>, operator: Operator) -> Result<Response, PageError> {
    let page = Page {
        shell: Shell::signed_in(&operator, "/door"),
        numbers: door::ask(app.door.as_deref()).await,
        approvals_page: app
            .door
            .as_ref()
            .and_then(|places| places.approvals_page.clone()),
    };
    Ok(render(StatusCode::OK, &page))
}
