//! `GET /passkeys`: what the customer agrees with, and the way back in when it is lost.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use countersign_execution::{ActError, passkeys};

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    show::{self, Moment, ShownName},
};

#[derive(Template)]
#[template(path = "passkeys.html")]
struct PasskeysPage {
    shell: Shell,
    passkeys: Vec<Line>,
    recovery: Option<Recovery>,
    can_set_up: bool,
}

struct Line {
    id: String,
    name: ShownName,
    synced: bool,
    since: Moment,
    used: Option<Moment>,
}

struct Recovery {
    number: String,
    ready_at: Moment,
    approved: bool,
    ready: bool,
}

/// Shows the passkeys.
pub async fn show_passkeys(
    State(app): State<App>,
    PageSession(session): PageSession,
) -> Result<Response, PageError> {
    let found = passkeys::list(&app.pool, &session.secret)
        .await
        .map_err(|error| match error {
            ActError::SessionEnded => PageError::SignedOut,
            other => PageError::Unavailable(Box::new(other)),
        })?;
    let page = PasskeysPage {
        shell: Shell::signed_in(&app, &session, "/passkeys"),
        passkeys: found
            .passkeys
            .into_iter()
            .map(|passkey| Line {
                id: passkey.id.simple().to_string(),
                name: show::name(&passkey.name),
                synced: passkey.synced,
                since: show::moment(passkey.created_at),
                used: passkey.last_used_at.map(show::moment),
            })
            .collect(),
        can_set_up: found.recovery.is_none_or(|recovery| recovery.ready),
        recovery: found.recovery.map(|recovery| Recovery {
            number: recovery.id.simple().to_string(),
            ready_at: show::moment(recovery.ready_at),
            approved: recovery.approved,
            ready: recovery.ready,
        }),
    };
    Ok(page::render(StatusCode::OK, &page))
}
