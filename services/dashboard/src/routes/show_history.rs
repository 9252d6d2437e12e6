//! `GET /history`: what happened over a day, a week or a month, as pictures with a table behind each.

use askama::Template;
use axum::{
    extract::{Query, State},
    http::StatusCode,
    response::Response,
};
use serde::Deserialize;

use crate::{
    app::App,
    csv,
    page::{PageError, Shell, render},
    series::{self, HEIGHT, Series, Span},
    session,
    session::Operator,
};

/// How far back.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    #[serde(default)]
    span: Span,
}

struct Choice {
    name: &'static str,
    words: &'static str,
    current: bool,
}

#[derive(Template)]
#[template(path = "history.html")]
struct Page {
    shell: Shell,
    span: &'static str,
    choices: Vec<Choice>,
    all: Vec<Series>,
    height: i64,
}

async fn read(app: &App, operator: &Operator, span: Span) -> Result<Vec<Series>, PageError> {
    let mut transaction = session::begin(&app.pool, &operator.secret).await?;
    let all = series::read(&mut transaction, span).await?;
    transaction.rollback().await?;
    Ok(all)
}

/// Shows every series.
///
/// # Errors
/// [`PageError`].
pub async fn show_history(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let page = Page {
        all: read(&app, &operator, wanted.span).await?,
        shell: Shell::signed_in(&operator, "/history"),
        span: wanted.span.name(),
        choices: Span::ALL
            .into_iter()
            .map(|(span, name, words)| Choice {
                name,
                words,
                current: span == wanted.span,
            })
            .collect(),
        height: HEIGHT,
    };
    Ok(render(StatusCode::OK, &page))
}

/// `GET /history.csv`: the same as a file, a row for each part of each series.
///
/// # Errors
/// [`PageError`].
pub async fn export_history(
    State(app): State<App>,
    operator: Operator,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageError> {
    let all = read(&app, &operator, wanted.span).await?;
    let rows = all.iter().flat_map(|series| {
        let row = |part: &series::Part| {
            vec![
                series.name.to_owned(),
                part.began.clone(),
                part.value.to_string(),
            ]
        };
        series.parts.iter().map(row)
    });
    Ok(csv::file("history", &["series", "began", "value"], rows))
}
