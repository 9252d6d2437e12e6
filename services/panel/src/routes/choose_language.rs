//! `POST /language`: the language the panel speaks with the customer from now on. Open cards are drawn anew in it, each with a
//! record of its own.

use axum::{
    extract::{Form, State, rejection::FormRejection},
    response::{IntoResponse, Redirect, Response},
};
use countersign_serve::Problem;
use countersign_store::session::begin;
use serde::Deserialize;

use crate::{
    app::App,
    page::{self, PageSession},
};

/// Which one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    language: String,
}

/// Keeps the choice and shows the page again.
pub async fn choose_language(
    State(app): State<App>,
    PageSession(session): PageSession,
    input: Result<Form<Input>, FormRejection>,
) -> Response {
    let known = input.ok().map(|Form(input)| input.language).filter(|tag| {
        countersign_texts::all()
            .iter()
            .any(|language| language.lang == *tag)
    });
    let Some(tag) = known else {
        return Problem::unprocessable("invalid_value", "There is no such language")
            .into_response();
    };
    let kept = async {
        let mut transaction = begin(&app.pool, &session.secret).await?;
        sqlx::query_scalar!(r#"SELECT bank.choose_panel_language($1) AS "kept!""#, tag)
            .fetch_one(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok::<(), countersign_store::SessionError>(())
    };
    match kept.await {
        Ok(()) => Redirect::to("/").into_response(),
        Err(error) => page::unavailable(&error),
    }
}
