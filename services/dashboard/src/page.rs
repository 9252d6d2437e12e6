//! What every page of the dashboard has: its head, its build, its bad answers.

use askama::Template;
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
    response::{Html, IntoResponse, Response},
};
use countersign_serve::Problem;

use crate::{app::App, assets, cookie, session, session::Operator};

/// The places an operator can go, with their addresses.
const PLACES: [(&str, &str); 7] = [
    ("/", "Overview"),
    ("/history", "History"),
    ("/alarms", "Alarms"),
    ("/calls", "Calls"),
    ("/door", "Door"),
    ("/explain", "Explain"),
    ("/reads", "Reads"),
];

/// The part of a page that is the same on each.
#[derive(Debug)]
pub struct Shell {
    /// Which build of scripts and styles the page uses.
    pub build: &'static str,
    /// The address of the place this page is.
    path: &'static str,
    /// Who is signed in; nobody on the sign-in page.
    pub operator: Option<String>,
}

/// One line of the head's list of places.
#[derive(Debug)]
pub struct PlaceLink {
    /// Its address.
    pub path: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Whether this is the page itself.
    pub current: bool,
}

impl Shell {
    /// The shell of a page for an operator.
    pub fn signed_in(operator: &Operator, path: &'static str) -> Self {
        Self {
            build: assets::BUILD.as_str(),
            path,
            operator: Some(operator.name.clone()),
        }
    }

    fn signed_out() -> Self {
        Self {
            build: assets::BUILD.as_str(),
            path: "",
            operator: None,
        }
    }

    /// The places, with the page's own marked.
    pub fn places(&self) -> Vec<PlaceLink> {
        PLACES
            .iter()
            .map(|(path, name)| PlaceLink {
                path,
                name,
                current: *path == self.path,
            })
            .collect()
    }
}

/// Renders a page. A template that fails is a mistake of ours and shows nothing of itself.
pub fn render(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => {
            tracing::error!(%error, "Could not render a page");
            Problem::internal().into_response()
        }
    }
}

#[derive(Template)]
#[template(path = "trouble.html")]
struct TroublePage {
    shell: Shell,
    heading: &'static str,
    text: &'static str,
    sign_in: bool,
}

/// Why a page is not what was asked for. Answers as a page of its own.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Nobody is signed in, or the session ended.
    #[error("nobody is signed in")]
    SignedOut,
    /// There is no such thing.
    #[error("there is nothing to show")]
    NotFound,
    /// The reason for reading a customer's text is missing or too short.
    #[error("no reason was given")]
    NoReason,
    /// The bank could not be read.
    #[error("read what the page shows")]
    Unavailable(#[from] sqlx::Error),
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let provider = countersign_sign_in::web::is_offered();
        let (status, heading, text) = match &self {
            // 401, so that no program takes it for the page asked for.
            Self::SignedOut => (
                StatusCode::UNAUTHORIZED,
                "You are not signed in",
                if provider {
                    "Sign in with your work account. You will be taken to its login page and back."
                } else {
                    "Open the operator's address that was printed when the bank was started. It works once and only for a short time. For a fresh one, run cargo xtask open --operator NAME on the same computer."
                },
            ),
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "There is nothing here",
                "No request has this id or short code. Check that it was copied whole.",
            ),
            Self::NoReason => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "A reason is needed",
                "Reading what a customer wrote is recorded with your name and your reason. Go back and say why in 10 to 300 characters.",
            ),
            Self::Unavailable(cause) => {
                tracing::error!(error = %cause, "Could not show a page");
                (
                    StatusCode::SERVICE_UNAVAILABLE,
                    "The bank cannot answer right now",
                    "Try again in a minute.",
                )
            }
        };
        let page = TroublePage {
            shell: Shell::signed_out(),
            heading,
            text,
            sign_in: provider && matches!(self, Self::SignedOut),
        };
        render(status, &page)
    }
}

/// A route with this argument needs an operator; without one it answers with the sign-in page.
impl FromRequestParts<App> for Operator {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, PageError> {
        let secret = cookie::read(&parts.headers).ok_or(PageError::SignedOut)?;
        session::find(&app.pool, secret)
            .await?
            .ok_or(PageError::SignedOut)
    }
}
