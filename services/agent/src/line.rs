//! The lines of an answer: one JSON object each, sent as they come.

use axum::body::Bytes;
use countersign_domain::ActionId;
use serde::Serialize;
use tokio::sync::mpsc;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    /// A piece of the reply, to be put behind what came before.
    Text {
        /// The words.
        text: String,
    },
    /// Something was looked up.
    LookedAt {
        /// The tool's name.
        tool: String,
    },
    /// A request now waits for the customer.
    Prepared {
        /// The request.
        action: ActionId,
    },
    /// Screening found orders to a model in what a tool answered. The model was told that it is data.
    Flagged {
        /// The tool's name.
        tool: String,
        /// Names of the rules that found them.
        rules: Vec<String>,
    },
    /// A guardrail found something.
    Guardrail {
        /// The guardrail.
        guardrail: &'static str,
        /// Its rule.
        rule: String,
        /// `message` or `reply`.
        side: &'static str,
    },
    /// What the turn used of the model.
    Used {
        /// Tokens read.
        input_tokens: u64,
        /// Tokens written.
        output_tokens: u64,
        /// Cost, in millionths of the currency's unit.
        cost_micros: u64,
    },
    /// The reply is whole.
    Done,
    /// There is no whole reply.
    Failed {
        /// Why.
        code: Failure,
    },
}

/// Why a turn ended without a whole reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The model gave no reply.
    ModelUnavailable,
    /// The turn used up its tokens or its length.
    Budget,
    /// The turn took too long.
    Timeout,
    /// The door did not let this turn in.
    DoorRefused,
    /// The door cannot be reached.
    DoorUnavailable,
}

impl Failure {
    /// The code as it stands on the wire and in the log.
    pub const fn code(self) -> &'static str {
        match self {
            Self::ModelUnavailable => "model_unavailable",
            Self::Budget => "budget",
            Self::Timeout => "timeout",
            Self::DoorRefused => "door_refused",
            Self::DoorUnavailable => "door_unavailable",
        }
    }
}

/// The caller hung up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HungUp;

/// Where the lines of one answer go.
#[derive(Debug, Clone)]
pub struct Lines(mpsc::Sender<Result<Bytes, std::convert::Infallible>>);

impl Lines {
    /// The way to a caller.
    pub const fn new(sender: mpsc::Sender<Result<Bytes, std::convert::Infallible>>) -> Self {
        Self(sender)
    }

    /// Sends a line, waiting while the caller reads slowly.
    ///
    /// # Errors
    /// [`HungUp`] when nobody reads any more.
    pub async fn send(&self, line: &Line) -> Result<(), HungUp> {
        let mut text = serde_json::to_vec(line).expect("a line is plain data");
        text.push(b'\n');
        self.0.send(Ok(Bytes::from(text))).await.map_err(|_| HungUp)
    }

    /// Resolves when nobody reads any more.
    pub async fn hung_up(&self) {
        self.0.closed().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_form_its_reader_knows() {
        for (line, text) in [
            (
                Line::Text {
                    text: "Hi\n".into(),
                },
                r#"{"type":"text","text":"Hi\n"}"#,
            ),
            (
                Line::LookedAt {
                    tool: "list_payees".into(),
                },
                r#"{"type":"looked_at","tool":"list_payees"}"#,
            ),
            (Line::Done, r#"{"type":"done"}"#),
            (
                Line::Failed {
                    code: Failure::ModelUnavailable,
                },
                r#"{"type":"failed","code":"model_unavailable"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&line).unwrap(), text);
        }
        for failure in [
            Failure::ModelUnavailable,
            Failure::Budget,
            Failure::Timeout,
            Failure::DoorRefused,
            Failure::DoorUnavailable,
        ] {
            assert_eq!(serde_json::to_value(failure).unwrap(), failure.code());
        }
    }
}
