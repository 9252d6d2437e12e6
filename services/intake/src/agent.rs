//! The agent: sent one turn, answers in lines. Nothing it says is trusted beyond its form.

use std::fmt;

use bytes::{Buf as _, Bytes, BytesMut};
use countersign_domain::ActionId;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::{Deserialize, Serialize};

use crate::budget::Remaining;

/// Longest line of a reply.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Where turns are sent.
pub struct Agent {
    /// The connections, kept between turns.
    pub http: reqwest::Client,
    /// The agent's one endpoint.
    pub url: reqwest::Url,
}

/// What the agent is told of a turn.
#[derive(Serialize)]
pub struct TurnRequest<'a> {
    /// The turn's name, as in the token.
    pub turn_id: String,
    /// Who the customer is, for the door alone to read.
    pub session_token: &'a str,
    /// The customer's language and region.
    pub locale: &'a str,
    /// What was said before, oldest first.
    pub history: &'a [Said],
    /// What the customer says now.
    pub message: &'a str,
    /// How much of the model it may use.
    pub remaining: Remaining,
}

/// One message of the past.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Said {
    /// Who said it.
    pub role: Role,
    /// The words.
    pub text: String,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The customer.
    Customer,
    /// The assistant.
    Assistant,
}

/// One line of the agent's answer.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Line {
    /// A piece of the reply.
    Text {
        /// To be put behind what came before.
        text: String,
    },
    /// The agent read something.
    LookedAt {
        /// The tool's name.
        tool: String,
    },
    /// The agent says that a request now waits for the customer.
    Prepared {
        /// The request.
        action: ActionId,
    },
    /// The agent says that screening found orders to a model in what a tool answered.
    Flagged {
        /// The tool's name.
        tool: String,
        /// Names of the rules.
        rules: Vec<String>,
    },
    /// The agent says that a guardrail of its own found something.
    Guardrail {
        /// The guardrail.
        guardrail: String,
        /// Its rule.
        rule: String,
        /// `message` or `reply`.
        side: String,
    },
    /// What the agent says it used of the model.
    Used(ModelUse),
    /// The reply is whole.
    Done {},
    /// The agent gave up.
    Failed {
        /// Why, in a code.
        code: String,
    },
}

/// What a turn used of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelUse {
    /// Tokens read.
    pub input_tokens: u32,
    /// Tokens written.
    pub output_tokens: u32,
    /// Cost, in millionths of the currency's unit.
    pub cost_micros: u64,
}

/// Why the agent gave no whole reply.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It could not be reached or did not take the turn.
    #[error("reach the agent")]
    Unavailable(#[source] reqwest::Error),
    /// It answered something that is no reply.
    #[error("the agent answered {0}")]
    NoReply(reqwest::StatusCode),
    /// Its answer broke off.
    #[error("read the agent's reply")]
    Interrupted(#[source] reqwest::Error),
    /// A line is too long or of no known form.
    #[error("the agent sent a line of no known form")]
    BadLine,
}

impl Agent {
    /// Sends a turn. The answer's lines come as the agent writes them; dropping it hangs up.
    ///
    /// # Errors
    /// [`AgentError`] when there is no answer to read.
    pub async fn begin(&self, turn: &TurnRequest<'_>) -> Result<Answer, AgentError> {
        let response = self
            .http
            .post(self.url.clone())
            .header(ACCEPT, "application/x-ndjson")
            .json(turn)
            .send()
            .await
            .map_err(AgentError::Unavailable)?;
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .map(|value| value.as_bytes());
        if response.status() != reqwest::StatusCode::OK || kind != Some(b"application/x-ndjson") {
            return Err(AgentError::NoReply(response.status()));
        }
        Ok(Answer {
            response,
            buffer: LineBuffer::default(),
        })
    }
}

/// A reply on its way from the agent.
pub struct Answer {
    response: reqwest::Response,
    buffer: LineBuffer,
}

impl Answer {
    /// The next line; `None` when the agent ended its answer.
    ///
    /// # Errors
    /// [`AgentError`]; there is nothing more to read after it.
    pub async fn next(&mut self) -> Result<Option<Line>, AgentError> {
        loop {
            if let Some(line) = self.buffer.next()? {
                return Ok(Some(line));
            }
            match self
                .response
                .chunk()
                .await
                .map_err(AgentError::Interrupted)?
            {
                Some(piece) => self.buffer.push(&piece)?,
                None => return Ok(None),
            }
        }
    }
}

/// Cuts bytes into lines. A last line without its end is dropped: the agent died while it wrote it.
#[derive(Default)]
struct LineBuffer(BytesMut);

impl LineBuffer {
    fn push(&mut self, piece: &Bytes) -> Result<(), AgentError> {
        // One line at most stands unread here, so this bounds the memory of a turn.
        if self.0.len() + piece.len() > LINE_BYTES_MAX * 4 {
            return Err(AgentError::BadLine);
        }
        self.0.extend_from_slice(piece);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Line>, AgentError> {
        let Some(end) = self.0.iter().position(|b| *b == b'\n') else {
            return if self.0.len() > LINE_BYTES_MAX {
                Err(AgentError::BadLine)
            } else {
                Ok(None)
            };
        };
        if end > LINE_BYTES_MAX {
            return Err(AgentError::BadLine);
        }
        let line = self.0.split_to(end);
        self.0.advance(1);
        serde_json::from_slice(&line)
            .map(Some)
            .map_err(|_| AgentError::BadLine)
    }
}

impl fmt::Debug for TurnRequest<'_> {
    /// The token is a secret and the words are the customer's: neither is printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnRequest")
            .field("turn_id", &self.turn_id)
            .finish_non_exhaustive()
    }
}

/// Most messages of the past that the agent is told.
pub const HISTORY_MESSAGES_MAX: usize = 40;
/// Most characters of the past that the agent is told.
pub const HISTORY_CHARACTERS_MAX: usize = 12_000;

/// Keeps the newest messages that fit the agent's memory, oldest first.
pub fn bounded_history(said: Vec<Said>) -> Vec<Said> {
    let mut characters = 0;
    let mut kept: Vec<Said> = said
        .into_iter()
        .rev()
        .filter(|one| !one.text.is_empty())
        .take(HISTORY_MESSAGES_MAX)
        .take_while(|one| {
            characters += one.text.chars().count();
            characters <= HISTORY_CHARACTERS_MAX
        })
        .collect();
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Result<Vec<Line>, AgentError> {
        let mut buffer = LineBuffer::default();
        let mut found = Vec::new();
        for piece in pieces {
            buffer.push(&Bytes::copy_from_slice(piece))?;
            while let Some(line) = buffer.next()? {
                found.push(line);
            }
        }
        Ok(found)
    }

    #[test]
    fn lines_come_out_however_the_answer_is_cut() {
        let answer = "{\"type\":\"text\",\"text\":\"Grüße\"}\n{\"type\":\"looked_at\",\"tool\":\"list_payees\"}\n{\"type\":\"done\"}\n".as_bytes();
        let whole = lines(&[answer]).expect("lines");
        assert_eq!(whole.len(), 3);
        for cut in 0..answer.len() {
            assert_eq!(
                lines(&[&answer[..cut], &answer[cut..]]).expect("lines"),
                whole
            );
        }
    }

    #[test]
    fn a_line_of_another_form_ends_the_reply() {
        for bad in [
            "{}\n",
            "\n",
            "[]\n",
            "{\"type\":\"html\",\"html\":\"<b>\"}\n",
            "{\"type\":\"text\"}\n",
            "{\"type\":\"text\",\"text\":\"a\",\"to\":\"b\"}\n",
            "{\"type\":\"done\",\"x\":1}\n",
            "{\"type\":\"prepared\",\"action\":\"act_1\"}\n",
            "{\"type\":\"text\",\"text\":\"a\"} {\n",
        ] {
            assert!(
                matches!(lines(&[bad.as_bytes()]), Err(AgentError::BadLine)),
                "{bad}"
            );
        }
        assert!(matches!(
            lines(&[&vec![b'x'; LINE_BYTES_MAX + 1]]),
            Err(AgentError::BadLine)
        ));
    }

    #[test]
    fn the_agents_memory_is_bounded_and_keeps_the_newest() {
        let said = |text: String| Said {
            role: Role::Customer,
            text,
        };
        let many: Vec<Said> = (0..100).map(|n| said(n.to_string())).collect();
        let kept = bounded_history(many);
        assert_eq!(kept.len(), HISTORY_MESSAGES_MAX);
        assert_eq!(kept.last(), Some(&said("99".to_owned())));
        let long = vec![
            said("x".repeat(8000)),
            said("y".repeat(8000)),
            said("z".into()),
        ];
        assert_eq!(bounded_history(long).len(), 2);
    }
}
