//! How the bank's answers to an act reach the page: a stable code, a sentence for the person, the card as it is now.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use countersign_domain::ActionId;
use countersign_execution::{ActError, Card};
use countersign_serve::{Problem, Verbatim};

use crate::shown_card::shown;

/// A body has a member that is not of its form.
pub const BAD_BODY: Problem =
    Problem::unprocessable("invalid_body", "The JSON has not the expected members");

/// Reads an action's id from an address. What is no id is not there.
///
/// # Errors
/// 404, as for somebody else's.
pub fn action_id(text: &str) -> Result<ActionId, Response> {
    text.parse()
        .map_err(|_| Problem::not_found().into_response())
}

/// Answers a refused act. `acting` says what was attempted, for the log alone.
pub fn answer(acting: &'static str, error: ActError) -> Response {
    match error {
        ActError::SessionEnded => Problem::unauthorized().into_response(),
        ActError::Busy => Problem::busy()
            .with_detail("The bank is busy right now. Nothing was sent. Try again in a moment.")
            .into_response(),
        ActError::NotFound => Problem::not_found().into_response(),
        ActError::NotOpen(card) => with_card(
            Problem::conflict("not_open", "This request is over")
                .with_detail("This request is over. Nothing was sent by this press."),
            *card,
        ),
        ActError::StaleCard(card) => with_card(
            Problem::conflict("stale_card", "The card has changed since it was shown").with_detail(
                "Something changed since this card was drawn. Nothing was sent. Check it again.",
            ),
            *card,
        ),
        ActError::Expired => {
            Problem::new(StatusCode::GONE, "expired", "The time for this was over")
                .with_detail(
                    "Nobody confirmed this in time. Nothing was sent. Ask the assistant again.",
                )
                .into_response()
        }
        ActError::Refused(code) => refused(&code, None),
        ActError::Invalid(sentence) => {
            Problem::unprocessable("invalid_value", "This cannot be taken")
                .with_detail(sentence)
                .into_response()
        }
        ActError::Internal(cause) => {
            tracing::error!(error = %Chain(cause.as_ref()), "Could not {acting}");
            Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "outcome_unknown",
                "It is not known yet whether this went through",
            )
            .into_response()
        }
    }
}

fn with_card(problem: Problem, mut card: Card) -> Response {
    shown(&mut card);
    match serde_json::to_value(&card) {
        Ok(card) => with_member(problem, "card", card),
        Err(error) => {
            tracing::error!(%error, "Could not put a card into JSON");
            Problem::internal().into_response()
        }
    }
}

/// A rule of the bank said no; the action is over. `sentence` says which, where it is known.
pub fn refused(code: &str, sentence: Option<String>) -> Response {
    let problem = Problem::unprocessable("refused", "The bank could not do this")
        .with_detail(sentence.unwrap_or("The bank could not do this. Nothing was sent.".into()));
    with_member(problem, "refusal", code.into())
}

fn with_member(problem: Problem, name: &str, value: serde_json::Value) -> Response {
    let mut body = problem.to_json();
    body[name] = value;
    let mut response = problem.into_response();
    *response.body_mut() = body.to_string().into();
    response
        .headers_mut()
        .remove(axum::http::header::CONTENT_LENGTH);
    response.extensions_mut().insert(Verbatim);
    response
}

/// An error with its causes, in one line for the log.
struct Chain<'a>(&'a (dyn std::error::Error + 'a));

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
