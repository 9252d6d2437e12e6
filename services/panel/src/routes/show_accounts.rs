//! `GET /accounts`: every account and what stands on it.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use countersign_store::{read, session::begin};

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    show,
};

#[derive(Template)]
#[template(path = "accounts.html")]
struct AccountsPage {
    shell: Shell,
    accounts: Vec<Line>,
}

struct Line {
    id: String,
    label: String,
    iban: String,
    balance: String,
    is_default: bool,
}

/// Shows the accounts.
pub async fn show_accounts(
    State(app): State<App>,
    PageSession(session): PageSession,
) -> Result<Response, PageError> {
    let mut transaction = begin(&app.pool, &session.secret).await?;
    let accounts = read::account::all(&mut transaction)
        .await?
        .into_iter()
        .map(|account| Line {
            id: account.id.to_string(),
            label: account.label,
            iban: show::iban(&account.iban),
            balance: session.texts.money(account.balance),
            is_default: account.is_default,
        })
        .collect();
    let page = AccountsPage {
        shell: Shell::signed_in(&app, &session, "/accounts"),
        accounts,
    };
    Ok(page::render(StatusCode::OK, &page))
}
