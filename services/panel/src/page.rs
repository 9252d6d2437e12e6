//! What every page of the panel has: its head with the places to go, its build, its bad answers.

use std::{collections::HashMap, sync::LazyLock};

use askama::Template;
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
    response::{Html, IntoResponse, Response},
};
use countersign_execution::ActError;
use countersign_serve::Problem;
use countersign_store::{SessionError, read::ReadError};
use countersign_texts::Texts;

use crate::{
    app::App,
    assets, cookie, language, session,
    session::{Session, Sign},
};

/// The sentences of every language but English. Every page carries those of its own, so they are written out once.
static SENTENCES: LazyLock<HashMap<&str, String>> = LazyLock::new(|| {
    countersign_texts::all()
        .iter()
        .filter_map(|texts| Some((texts.lang.as_str(), texts.for_script()?)))
        .collect()
});

/// The places a signed-in customer can go, with their addresses.
const PLACES: [(&str, &str); 7] = [
    ("/", "Home"),
    ("/accounts", "Accounts"),
    ("/activity", "Activity"),
    ("/receipts", "Receipts"),
    ("/limits", "Limits"),
    ("/passkeys", "Passkeys"),
    ("/safety", "Safety"),
];

/// The part of a page that is the same on each.
#[derive(Debug)]
pub struct Shell {
    /// The page's language.
    pub texts: &'static Texts,
    /// Which build of scripts and styles the page uses.
    pub build: &'static str,
    /// The address of the place this page is.
    pub path: &'static str,
    /// Who is signed in; nobody on the sign-in page.
    pub visitor: Option<Visitor>,
}

/// The signed-in customer as the head shows them.
#[derive(Debug)]
pub struct Visitor {
    /// The customer's own name.
    pub name: String,
    /// Who can be picked instead; empty outside the demo.
    pub demo: Vec<Pick>,
    /// Notices that were not listed yet.
    pub unread: i64,
    /// Whether outgoing payments are stopped.
    pub frozen: bool,
    /// Whether nothing is executed because the database is older than what the panel remembers.
    pub older_copy: bool,
    /// The bank's number for emergencies.
    pub phone: String,
    /// The same as a program dials it.
    pub tel: String,
}

/// One line of the demo's picker.
#[derive(Debug)]
pub struct Pick {
    /// The customer's id in text.
    pub id: String,
    /// The customer's name.
    pub name: String,
    /// Whether this is who is signed in.
    pub current: bool,
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
    /// The shell of a page for somebody who is signed in.
    pub fn signed_in(app: &App, session: &Session, path: &'static str) -> Self {
        let demo = app.demo.as_ref().map_or_else(Vec::new, |demo| {
            demo.customers
                .iter()
                .map(|customer| Pick {
                    id: customer.id.to_string(),
                    name: customer.name.clone(),
                    current: customer.id == session.customer,
                })
                .collect()
        });
        Self {
            texts: session.texts,
            build: assets::BUILD.as_str(),
            path,
            visitor: Some(Visitor {
                name: session.name.clone(),
                demo,
                unread: session.unread,
                frozen: session.frozen,
                older_copy: app.log.is_older_copy(),
                phone: app.bank_phone.to_string(),
                tel: app.tel(),
            }),
        }
    }

    /// The shell of a page for nobody in particular.
    pub fn signed_out() -> Self {
        Self {
            texts: language::spoken(),
            build: assets::BUILD.as_str(),
            path: "",
            visitor: None,
        }
    }

    /// A sentence in the page's language.
    pub fn t<'a>(&'a self, english: &'a str) -> &'a str {
        self.texts.say(english)
    }

    /// A sentence about an amount.
    pub fn amount(&self, english: &str, amount: &str) -> String {
        if self.texts.dir == "rtl" {
            // Between isolates (UAX 9), since a sentence of text has no element around its amount.
            return self.with(english, "amount", &format!("\u{2066}{amount}\u{2069}"));
        }
        self.with(english, "amount", amount)
    }

    /// A sentence about a number.
    pub fn count(&self, english: &str, count: i64) -> String {
        self.with(english, "count", &count.to_string())
    }

    /// A sentence with one value.
    pub fn with(&self, english: &str, name: &str, value: &str) -> String {
        self.texts.with(english, &[(name, value)])
    }

    /// The languages to choose from.
    pub fn languages(&self) -> &'static [Texts] {
        countersign_texts::all()
    }

    /// What the page's script says in another language than its own, as JSON that can stand in a page.
    pub fn sentences(&self) -> Option<&'static str> {
        SENTENCES.get(self.texts.lang.as_str()).map(String::as_str)
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
#[template(path = "sign_in.html")]
struct SignInPage {
    shell: Shell,
    provider: bool,
}

#[derive(Template)]
#[template(path = "trouble.html")]
struct TroublePage {
    shell: Shell,
    heading: &'static str,
    text: &'static str,
}

/// A page's refusal for an act that had no effect.
pub fn act_error(error: ActError) -> PageError {
    match error {
        ActError::NotFound => PageError::NotFound,
        ActError::SessionEnded => PageError::SignedOut,
        other => PageError::Unavailable(Box::new(other)),
    }
}

/// The page for somebody without a session. 401, so that no program takes it for the page asked for.
pub fn sign_in() -> Response {
    render(
        StatusCode::UNAUTHORIZED,
        &SignInPage {
            shell: Shell::signed_out(),
            provider: countersign_sign_in::web::is_offered(),
        },
    )
}

/// The page for a thing that is not there or not this customer's; it never says which.
pub fn not_found() -> Response {
    let page = TroublePage {
        shell: Shell::signed_out(),
        heading: "There is nothing here",
        text: "The address is wrong, or what stood here is not yours. No money has moved.",
    };
    render(StatusCode::NOT_FOUND, &page)
}

/// The page for a receipt that no signed head of the log holds yet.
pub fn not_sealed() -> Response {
    let page = TroublePage {
        shell: Shell::signed_out(),
        heading: "The receipt is being sealed",
        text: "What you confirmed is done. The bank signs its log every second, and a receipt is shown only when it is signed. Reload this page in a moment.",
    };
    render(StatusCode::SERVICE_UNAVAILABLE, &page)
}

/// The page for when the bank cannot answer. The cause goes to the log.
pub fn unavailable(error: &dyn std::error::Error) -> Response {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    tracing::error!(%error, cause, "Could not show a page");
    let page = TroublePage {
        shell: Shell::signed_out(),
        heading: "The bank cannot answer right now",
        text: "Opening this page moved no money. Try again in a minute.",
    };
    render(StatusCode::SERVICE_UNAVAILABLE, &page)
}

/// Why a page is not what was asked for. Answers as a page of its own.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Not there, not this customer's, or not an address of ours.
    #[error("there is nothing to show")]
    NotFound,
    /// The session ended while the page was made.
    #[error("the session has ended")]
    SignedOut,
    /// The bank could not be read.
    #[error("read what the page shows")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<SessionError> for PageError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Ended => Self::SignedOut,
            other => Self::Unavailable(Box::new(other)),
        }
    }
}

impl From<ReadError> for PageError {
    fn from(error: ReadError) -> Self {
        Self::Unavailable(Box::new(error))
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound => not_found(),
            Self::SignedOut => sign_in(),
            Self::Unavailable(_) => unavailable(&self),
        }
    }
}

/// The session of a page's visitor. Without one, the route answers with the sign-in page.
#[derive(Debug)]
pub struct PageSession(pub Session);

impl FromRequestParts<App> for PageSession {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let secret = cookie::read(&parts.headers).ok_or_else(sign_in)?;
        match session::find(&app.pool, secret, Sign::Done).await {
            Ok(found) => found.map(Self).ok_or_else(sign_in),
            Err(error) => Err(unavailable(&error)),
        }
    }
}
