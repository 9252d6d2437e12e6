//! How the bank's answers to an act reach the page: a stable code, a sentence for the person, the card as it is now.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use countersign_domain::ActionId;
use countersign_execution::{ActError, Card};
use countersign_serve::Problem;

use crate::shown_card::shown;

/// A body has a member that is not of its form.
pub const BAD_BODY: Problem =
    Problem::unprocessable("invalid_body", "The JSON has not the expected members");

/// A refused act: a problem, and beside it the card as it is now or the rule's code.
#[derive(Debug)]
pub struct Refusal {
    problem: Problem,
    beside: Option<(&'static str, serde_json::Value)>,
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self {
            problem,
            beside: None,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Some((name, value)) = self.beside else {
            return self.problem.into_response();
        };
        let mut body = self.problem.to_json();
        body[name] = value;
        let mut response = self.problem.into_response();
        *response.body_mut() = body.to_string().into();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response
    }
}

impl Refusal {
    /// The refusal for an act that had no effect. `acting` says what was attempted, for the log alone.
    pub fn of(acting: &'static str, error: ActError) -> Self {
        match error {
            ActError::SessionEnded => Problem::unauthorized().into(),
            ActError::Busy => Problem::busy()
                .with_detail("The bank is busy right now. Nothing was sent. Try again in a moment.")
                .into(),
            ActError::NotFound => Problem::not_found().into(),
            ActError::NotOpen(card) => Self::with_card(
                Problem::conflict("not_open", "This request is over")
                    .with_detail("This request is over. Nothing was sent by this press."),
                *card,
            ),
            ActError::StaleCard(card) => Self::with_card(
                Problem::conflict("stale_card", "The card has changed since it was shown")
                    .with_detail(
                        "Something changed since this card was drawn. Nothing was sent. Check it again.",
                    ),
                *card,
            ),
            ActError::TooLate(card) => Self::with_card(
                Problem::conflict("too_late", "The time to undo is over").with_detail(
                    "This cannot be undone any more. If you did not want it, call the bank now.",
                ),
                *card,
            ),
            ActError::Expired => {
                Problem::new(StatusCode::GONE, "expired", "The time for this was over")
                    .with_detail(
                        "Nobody confirmed this in time. Nothing was sent. Ask the assistant again.",
                    )
                    .into()
            }
            ActError::Refused(code) => Self::by_rule(&code, None),
            ActError::Invalid(sentence) => {
                Problem::unprocessable("invalid_value", "This cannot be taken")
                    .with_detail(sentence)
                    .into()
            }
            ActError::Internal(cause) => {
                tracing::error!(error = %Chain(cause.as_ref()), "Could not {acting}");
                Problem::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "outcome_unknown",
                    "It is not known yet whether this went through",
                )
                .into()
            }
        }
    }

    /// A rule of the bank said no; the action is over. `sentence` says which, where it is known.
    pub fn by_rule(code: &str, sentence: Option<String>) -> Self {
        let sentence = sentence.unwrap_or("The bank could not do this. Nothing was sent.".into());
        Self {
            problem: Problem::unprocessable("refused", "The bank could not do this")
                .with_detail(sentence),
            beside: Some(("refusal", code.into())),
        }
    }

    fn with_card(problem: Problem, mut card: Card) -> Self {
        shown(&mut card);
        match serde_json::to_value(&card) {
            Ok(card) => Self {
                problem,
                beside: Some(("card", card)),
            },
            Err(error) => {
                tracing::error!(%error, "Could not put a card into JSON");
                Problem::internal().into()
            }
        }
    }
}

/// Reads an action's id from an address. What is no id is not there.
///
/// # Errors
/// 404, as for somebody else's.
pub fn action_id(text: &str) -> Result<ActionId, Problem> {
    text.parse().map_err(|_| Problem::not_found())
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
