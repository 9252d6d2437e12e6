//! `GET /notices`: what the bank told the customer, newest first, each with its "this was not me".

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use countersign_execution::notices::{self, words};

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    show::{self, Moment},
};

#[derive(Template)]
#[template(path = "notices.html")]
struct NoticesPage {
    shell: Shell,
    notices: Vec<Line>,
}

struct Line {
    number: i64,
    heading: String,
    text: String,
    at: Moment,
    is_new: bool,
    can_answer: bool,
    receipt: Option<String>,
}

/// Shows the newest notices; from then on they count as read.
pub async fn show_notices(
    State(app): State<App>,
    PageSession(mut session): PageSession,
) -> Result<Response, PageError> {
    let notices = notices::list(&app.pool, &session.secret)
        .await
        .map_err(page::act_error)?
        .into_iter()
        .map(|notice| {
            let (heading, text) = words(
                session.texts,
                &notice.kind,
                &notice.about,
                &notice.short_code,
            );
            Line {
                number: notice.number,
                heading,
                text,
                at: show::moment(notice.made_at),
                is_new: !notice.was_read,
                can_answer: notice.can_answer && !matches!(notice.kind.as_str(), "frozen"),
                receipt: notice
                    .action
                    .filter(|_| matches!(notice.kind.as_str(), "confirmed" | "undone"))
                    .map(|action| format!("/receipts/{action}")),
            }
        })
        .collect();
    session.unread = 0;
    let page = NoticesPage {
        shell: Shell::signed_in(&app, &session, "/notices"),
        notices,
    };
    Ok(page::render(StatusCode::OK, &page))
}
