//! "This was not me": from the list of notices, and from the link of one, without a login.
//!
//! Opening the link does nothing, since programs open links too: it shows a page with one button. The word stands behind the `#`
//! of the address and reaches the bank only with the press.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use countersign_domain::Secret;
use countersign_execution::notices::{self, Stopped};
use countersign_serve::{Json, Problem};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    refusal::Refusal,
};

/// Length of a notice's word.
const WORD_LENGTH: usize = 64;

#[derive(Template)]
#[template(path = "not_me.html")]
struct NotMePage {
    shell: Shell,
    phone: String,
    tel: String,
}

/// The word of a link.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    word: Secret,
}

#[derive(Serialize)]
struct Output {
    message: &'static str,
}

/// Shows the page of the link: what the button does, and the bank's number. It knows nothing of the word.
pub async fn show_not_me(State(app): State<App>) -> Response {
    let page = NotMePage {
        shell: Shell::signed_out(),
        phone: app.bank_phone.to_string(),
        tel: app.tel(),
    };
    page::render(StatusCode::OK, &page)
}

/// Stops outgoing payments by the word of a link. It needs no session and gives none.
pub async fn answer_notice_by_word(
    State(app): State<App>,
    Json(Input { word }): Json<Input>,
) -> Result<Response, Refusal> {
    if word.expose().len() != WORD_LENGTH {
        return Err(unknown().into());
    }
    let message = match notices::not_me_by_word(&app.pool, &word).await {
        Ok(Stopped::Now) => {
            "Stopped. Nothing leaves your accounts any more, and what could still be undone was undone. Call the bank now."
        }
        Ok(Stopped::Before) => {
            "Your payments are stopped already. Nothing leaves your accounts. Call the bank now."
        }
        Ok(Stopped::Used | Stopped::TooOld | Stopped::Unknown) => return Err(unknown().into()),
        Err(error) => return Err(Refusal::of("stop payments by a notice", error)),
    };
    Ok(axum::Json(Output { message }).into_response())
}

/// One answer for a wrong, a used and an old word.
fn unknown() -> Problem {
    Problem::not_found().with_detail(
        "This link was used before or is too old. If something is wrong, call the bank now.",
    )
}

/// The same for a notice on the panel.
pub async fn answer_notice(
    State(app): State<App>,
    PageSession(session): PageSession,
    Path(number): Path<String>,
) -> Result<Response, PageError> {
    let number: i64 = number.parse().map_err(|_| PageError::NotFound)?;
    match notices::not_me(&app.pool, &session.secret, number).await {
        Ok(Stopped::Unknown) => Err(PageError::NotFound),
        Ok(_) => Ok(Redirect::to("/safety").into_response()),
        Err(error) => Err(page::act_error(error)),
    }
}
