//! The calls of a turn: which are made, once, one after the other, and what the others are answered.

use countersign_domain::ActionId;
use countersign_models::{Answer, Prompt, ToolCall, ToolDefinition};

use super::Stop;
use crate::{
    door::{Answered, Connection, refused},
    limits,
    line::{Line, Lines},
};

/// What was called in a turn so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Requests made in this turn. None is ever made twice.
    requested: Vec<ToolCall>,
    /// Request tools whose last call may or may not have been carried out.
    in_doubt: Vec<String>,
    made: usize,
    bad: usize,
    refused_requests: usize,
    /// Tools whose answers were flagged, each told once.
    flagged: Vec<String>,
}

impl Calls {
    /// Whether the turn has had enough: of calls, of calls that cannot be made, or of requests that were refused.
    pub(super) fn are_enough(&self) -> bool {
        self.bad >= limits::BAD_CALLS_MAX
            || self.made >= limits::CALLS_MAX
            || self.refused_requests >= limits::REFUSED_REQUESTS_MAX
    }

    /// How many were made, and how many could not be.
    pub(super) const fn counts(&self) -> (usize, usize) {
        (self.made, self.bad)
    }

    /// Answers a call that is none.
    pub(super) fn is_bad(&mut self) -> Answered {
        self.bad += 1;
        refused(
            "malformed_arguments",
            "The arguments were not one JSON object. Write the call again, whole.",
        )
        .into()
    }

    /// Makes a call, or says why not.
    pub(super) async fn make(
        &mut self,
        call: &ToolCall,
        prompt: &Prompt,
        connection: &Connection,
        lines: &Lines,
        turn: &str,
    ) -> Result<Answered, Stop> {
        let tool = match self.judge(call, prompt) {
            Ok(tool) => tool,
            Err(answer) => {
                self.bad += 1;
                return Ok(answer.into());
            }
        };
        self.made += 1;
        if !tool.reads_only {
            self.requested.push(call.clone());
        }
        let answered = connection.call(&tool, call.arguments.clone()).await;
        let done = matches!(answered.answer, Answer::Done(_));
        tracing::info!(turn, tool = tool.name, done, "Called {}", tool.name);
        if !tool.reads_only && !done {
            self.refused_requests += 1;
            if answered.code() == Some("unknown_outcome") {
                self.in_doubt.push(tool.name.clone());
            }
        }
        if let Answer::Done(value) = &answered.answer {
            let line = if tool.reads_only {
                Some(Line::LookedAt {
                    tool: tool.name.clone(),
                })
            } else {
                value["action"]
                    .as_str()
                    .and_then(|action| action.parse::<ActionId>().ok())
                    .map(|action| Line::Prepared { action })
            };
            if let Some(line) = line {
                lines.send(&line).await?;
            }
        }
        if !answered.flagged.is_empty() && !self.flagged.contains(&tool.name) {
            self.flagged.push(tool.name.clone());
            lines
                .send(&Line::Flagged {
                    tool: tool.name,
                    rules: answered.flagged.clone(),
                })
                .await?;
        }
        Ok(answered)
    }

    /// Whether a call can be made at all.
    fn judge(&self, call: &ToolCall, prompt: &Prompt) -> Result<ToolDefinition, Answer> {
        if self.made >= limits::CALLS_MAX {
            return Err(refused(
                "too_many_calls",
                "Make no more calls. Tell the customer what you know.",
            ));
        }
        let Some(tool) = prompt.tool(&call.tool) else {
            return Err(refused(
                "unknown_tool",
                "There is no such tool. Use only those of the list.",
            ));
        };
        let size = serde_json::to_string(&call.arguments).map_or(usize::MAX, |text| text.len());
        if size > limits::ARGUMENTS_BYTES_MAX {
            return Err(refused(
                "invalid_argument",
                "Send only the declared arguments in their declared form.",
            ));
        }
        if !tool.reads_only && self.in_doubt.contains(&tool.name) {
            return Err(refused(
                "unknown_outcome",
                "It is not known whether your last request was prepared. Send no other; tell the customer to look at the panel.",
            ));
        }
        let twin = |made: &ToolCall| made.tool == call.tool && made.arguments == call.arguments;
        if self.requested.iter().any(twin) {
            return Err(refused(
                "repeated_call",
                "You asked for exactly this in this turn already. Do not send it again; tell the customer what came of it.",
            ));
        }
        Ok(tool.clone())
    }
}
