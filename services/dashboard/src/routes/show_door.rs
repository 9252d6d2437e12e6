//! `GET /door`: what the door decided, by its own numbers, the receipts behind its refusals, and the way to its approvals
//! page. `GET /door.csv`: those receipts as a file.

use askama::Template;
use axum::{
    extract::{Query, State},
    http::StatusCode,
    response::Response,
};
use serde::Deserialize;

use crate::{
    app::App,
    csv, door,
    door::{Denial, DoorNumbers},
    page::{PageError, Shell, render},
    session::Operator,
};

#[derive(Template)]
#[template(path = "door.html")]
struct Page {
    shell: Shell,
    numbers: Option<DoorNumbers>,
    denials: Vec<Denial>,
    reason: Option<String>,
    approvals_page: Option<String>,
}

/// Which refusals; all of them without a word.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    reason: Option<String>,
}

impl Wanted {
    async fn denials(&self, app: &App) -> Vec<Denial> {
        let mut denials = door::ask_denials(app.door.as_deref())
            .await
            .unwrap_or_default();
        if let Some(reason) = &self.reason {
            denials.retain(|denial| denial.reason == *reason);
        }
        denials
    }
}

/// `GET /door.csv`: the receipts as a file.
///
/// # Errors
/// [`PageError`].
pub async fn export_door(
    State(app): State<App>,
    _operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let headings = [
        "when", "outcome", "reason", "rule", "server", "tool", "receipt",
    ];
    let rows = wanted.denials(&app).await.into_iter().map(|denial| {
        vec![
            denial.when(),
            denial.outcome,
            denial.reason,
            denial.rule,
            denial.server,
            denial.tool.unwrap_or_default(),
            denial.receipt,
        ]
    });
    Ok(csv::file("door", &headings, rows))
}

/// Shows the door's decisions since it started.
///
/// # Errors
/// [`PageError`].
pub async fn show_door(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let (numbers, denials) = tokio::join!(door::ask(app.door.as_deref()), wanted.denials(&app));
    let page = Page {
        shell: Shell::signed_in(&operator, "/door"),
        numbers,
        denials,
        reason: wanted.reason,
        approvals_page: app
            .door
            .as_ref()
            .and_then(|places| places.approvals_page.clone()),
    };
    Ok(render(StatusCode::OK, &page))
}
