//! The three addresses of a sign-in, for a service that says what a session is.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Form, Router,
    extract::{Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use countersign_serve::{Problem, cookie::SecretCookie, limits};
use serde::Deserialize;

use crate::{Answer, LoggedOut, Provider, Round, SignInError, SignedIn, round::ROUND_SECONDS};

/// Longest body of a logout request, in bytes.
const BODY_BYTES_MAX: usize = 16 * 1024;

/// What a service does with what the provider said.
pub trait Sessions: Clone + Send + Sync + 'static {
    /// Begins a session for whoever signed in and answers its cookie; none when the identity is nobody's here. A session
    /// that the browser still had ends.
    fn open(
        &self,
        who: SignedIn,
        headers: HeaderMap,
    ) -> impl Future<Output = Result<Option<HeaderValue>, Problem>> + Send;

    /// Ends what the provider ended. Each token counts once; the answer says whether this was the first time.
    fn end(&self, whom: LoggedOut) -> impl Future<Output = Result<bool, Problem>> + Send;
}

#[derive(Clone, Debug)]
struct Login<S> {
    provider: Arc<Provider>,
    round: SecretCookie,
    sessions: S,
}

/// Set once, before the first page is shown.
static IS_OFFERED: AtomicBool = AtomicBool::new(false);

/// Whether this process has [`with_routes`] of a provider, so that its pages lead there.
pub fn is_offered() -> bool {
    IS_OFFERED.load(Ordering::Relaxed)
}

/// A service's router with `GET /sign-in`, `GET /sign-in/back` and `POST /sign-in/ended` in it, where there is a provider. They stand outside of
/// what asks for the page's own origin: the browser comes from the provider's site, and the provider itself sends none. The host must be
/// checked before them.
///
/// `round` is the cookie for the way there and back; it must come along from another site's redirect ([`SecretCookie::lax`]).
pub fn with_routes<S: Sessions>(
    router: Router,
    provider: Option<Arc<Provider>>,
    round: SecretCookie,
    sessions: S,
) -> Router {
    match provider {
        Some(provider) => router.merge(routes(provider, round, sessions)),
        None => router,
    }
}

fn routes<S: Sessions>(provider: Arc<Provider>, round: SecretCookie, sessions: S) -> Router {
    IS_OFFERED.store(true, Ordering::Relaxed);
    Router::new()
        .route("/sign-in", get(begin::<S>))
        .route("/sign-in/back", get(come_back::<S>))
        .route("/sign-in/ended", post(end::<S>))
        .with_state(Login {
            provider,
            round,
            sessions,
        })
        .layer(limits::body_limit(BODY_BYTES_MAX))
}

async fn begin<S: Sessions>(State(login): State<Login<S>>) -> Response {
    let round = Round::begin();
    match login.provider.way_there(&round).await {
        Ok(way) => (
            [
                (
                    header::SET_COOKIE,
                    login.round.set(round.secret(), ROUND_SECONDS),
                ),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ],
            Redirect::to(way.as_str()),
        )
            .into_response(),
        Err(error) => refuse(&error),
    }
}

async fn come_back<S: Sessions>(
    State(login): State<Login<S>>,
    headers: HeaderMap,
    Query(answer): Query<Answer>,
) -> Response {
    let mut response = match login.round.read(&headers) {
        Some(secret) => finish(&login, &Round::resume(secret), headers, answer).await,
        None => refuse(&SignInError::NoRound),
    };
    // Whatever came of it, the round is over: the same answer is not judged twice.
    response
        .headers_mut()
        .append(header::SET_COOKIE, login.round.clear());
    response
}

async fn finish<S: Sessions>(
    login: &Login<S>,
    round: &Round,
    headers: HeaderMap,
    answer: Answer,
) -> Response {
    let who = match login.provider.way_back(round, answer).await {
        Ok(who) => who,
        Err(error) => return refuse(&error),
    };
    match login.sessions.open(who, headers).await {
        // No redirect: the browser would still be coming from the provider's site and leave the session's Strict cookie out.
        Ok(Some(cookie)) => ([(header::SET_COOKIE, cookie)], Html(WELCOME)).into_response(),
        Ok(None) => (StatusCode::FORBIDDEN, Html(NOBODY)).into_response(),
        Err(problem) => {
            tracing::error!(code = problem.code, "A sign-in could not be finished");
            (problem.status, Html(LATER)).into_response()
        }
    }
}

#[derive(Deserialize)]
struct Ended {
    logout_token: String,
}

/// Answers 200 for what was ended, also for nothing, and 400 for a token that does not hold (Back-Channel Logout 1.0, section 2.8).
async fn end<S: Sessions>(State(login): State<Login<S>>, Form(ended): Form<Ended>) -> Response {
    let mut response = match login.provider.logged_out(&ended.logout_token).await {
        Ok(whom) => match login.sessions.end(whom).await {
            Ok(true) => StatusCode::OK.into_response(),
            Ok(false) => not_accepted().into_response(),
            Err(problem) => problem.into_response(),
        },
        Err(SignInError::Provider(error)) => {
            tracing::error!(%error, "A logout could not be judged");
            Problem::busy().into_response()
        }
        Err(error) => {
            tracing::warn!(%error, "A logout was not accepted");
            not_accepted().into_response()
        }
    };
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

const fn not_accepted() -> Problem {
    Problem::bad_request("logout_token", "This logout is not accepted")
}

fn refuse(error: &SignInError) -> Response {
    let (status, page) = match error {
        SignInError::Provider(_) => (StatusCode::BAD_GATEWAY, LATER),
        SignInError::Declined(_) => (StatusCode::FORBIDDEN, DECLINED),
        SignInError::NoRound | SignInError::Issuer | SignInError::Token(_) => {
            (StatusCode::FORBIDDEN, AGAIN)
        }
    };
    tracing::warn!(%error, "A sign-in did not come about");
    (status, Html(page)).into_response()
}

macro_rules! page {
    ($title:literal, $more:literal, $words:literal) => {
        concat!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">",
            $more,
            "<title>",
            $title,
            "</title></head><body><main><h1>",
            $title,
            "</h1><p>",
            $words,
            "</p></main></body></html>"
        )
    };
}

const WELCOME: &str = page!(
    "You are signed in",
    "<meta http-equiv=\"refresh\" content=\"0;url=/\">",
    "<a href=\"/\">Go on</a>"
);
const NOBODY: &str = page!(
    "This login has no account here",
    "",
    "You signed in, but no account of ours belongs to this login. Call the bank. <a href=\"/\">Back</a>"
);
const LATER: &str = page!(
    "Signing in does not work right now",
    "",
    "The login service could not be reached. Nothing has changed. <a href=\"/\">Try again</a>"
);
const DECLINED: &str = page!(
    "You were not signed in",
    "",
    "The login service did not let you through, or you turned back. <a href=\"/\">Try again</a>"
);
const AGAIN: &str = page!(
    "You were not signed in",
    "",
    "This sign-in was not begun in this browser, took too long, or could not be trusted. <a href=\"/\">Start again</a>"
);
