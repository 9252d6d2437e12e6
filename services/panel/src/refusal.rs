//! How the bank's answers to an act reach the page: a stable code, a sentence for the person, the card as it is now.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use countersign_domain::ActionId;
use countersign_execution::{ActError, Card, StepUpRefusal};
use countersign_serve::Problem;

use crate::shown_card::shown;

/// A body has a member that is not of its form.
pub const BAD_BODY: Problem =
    Problem::unprocessable("invalid_body", "The JSON has not the expected members");

/// What a customer reads while the database is older than what the panel remembers.
pub const OLDER_COPY: &str = "The bank's records were put back from an older copy, and the newest of them may be missing. Nothing is sent until a person of the bank has looked at it. Your money has not moved by this.";

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
            ActError::OlderCopy => Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "older_copy",
                "The bank's records are an older copy",
            )
            .with_detail(OLDER_COPY)
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
            ActError::StepUp(refusal) => step_up(refusal).into(),
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

/// What became of the passkey, in a code and in words. Nothing happened in any of these cases.
fn step_up(refusal: StepUpRefusal) -> Problem {
    let (code, detail) = match refusal {
        StepUpRefusal::Due => (
            "step_up_due",
            "This wants your passkey. Nothing was sent. Press the button again.",
        ),
        StepUpRefusal::NoPasskey => (
            "step_up_no_passkey",
            "This wants a passkey, and you have none yet. Nothing was sent. Set one up first.",
        ),
        StepUpRefusal::Frozen => (
            "step_up_frozen",
            "You asked for a way back in, and until that is over nothing that wants a passkey is done. Nothing was sent.",
        ),
        StepUpRefusal::Late => (
            "step_up_late",
            "The passkey's answer came too late. Nothing was sent. Press the button again.",
        ),
        StepUpRefusal::Refused => (
            "step_up_refused",
            "The passkey's answer does not fit this card. Nothing was sent. Press the button again.",
        ),
        StepUpRefusal::Counter => (
            "step_up_counter",
            "This passkey answers like a copy of itself. Nothing was sent. Remove it, and call the bank.",
        ),
        StepUpRefusal::LoginTooOld => (
            "login_too_old",
            "A first passkey is set up right after signing in. Sign out, sign in again, and set it up within five minutes.",
        ),
        StepUpRefusal::TooMany => (
            "passkey_too_many",
            "You have ten passkeys already. Remove one first.",
        ),
    };
    Problem::forbidden(code, "A passkey is wanted").with_detail(detail)
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
