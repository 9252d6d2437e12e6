//! The turn as the offline model sees it: the customer's words, and what the tools answered so far.

use serde_json::{Map, Value, json};
use time::Date;

use crate::{Answer, Message, Prompt, ToolCall};

/// A call that must be made before the reply can go on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Need {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Map<String, Value>,
}

/// Why a part of the reply stops here.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    /// A tool must answer first.
    Need(Need),
    /// There is nothing more to do than to say this.
    Say(String),
}

/// What a part of the reply comes to.
pub(crate) type Part = Result<String, Stop>;

/// A tool's no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: String,
    pub(crate) what: Option<String>,
}

/// One turn, read-only. Asking it for an answer that is not there yet yields the [`Need`] for it.
pub(crate) struct Turn<'p> {
    prompt: &'p Prompt,
    /// Where this turn's customer message stands.
    at: usize,
}

impl<'p> Turn<'p> {
    /// The turn of the last customer message, if there is one.
    pub(crate) fn of(prompt: &'p Prompt) -> Option<Self> {
        let at = prompt
            .messages
            .iter()
            .rposition(|message| matches!(message, Message::Customer(_)))?;
        Some(Self { prompt, at })
    }

    /// What the customer typed.
    pub(crate) fn message(&self) -> &'p str {
        match &self.prompt.messages[self.at] {
            Message::Customer(text) => text,
            _ => "",
        }
    }

    /// What the customer typed in earlier turns, oldest first.
    pub(crate) fn earlier(&self) -> impl Iterator<Item = &'p str> {
        self.prompt.messages[..self.at]
            .iter()
            .filter_map(|message| match message {
                Message::Customer(text) => Some(text.as_str()),
                _ => None,
            })
    }

    /// Whether the assistant has said nothing in this conversation yet.
    pub(crate) fn is_first(&self) -> bool {
        !self.prompt.messages[..self.at]
            .iter()
            .any(|message| matches!(message, Message::Assistant { .. }))
    }

    /// The day.
    pub(crate) fn today(&self) -> Date {
        self.prompt.today
    }

    /// How many calls were made in this turn.
    pub(crate) fn calls_made(&self) -> usize {
        self.calls().count()
    }

    fn calls(&self) -> impl Iterator<Item = &'p ToolCall> {
        self.prompt.messages[self.at..]
            .iter()
            .filter_map(|message| match message {
                Message::Assistant { calls, .. } => Some(calls),
                _ => None,
            })
            .flatten()
    }

    /// The answer of a call with exactly these arguments, or the need for it.
    pub(crate) fn call(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> Result<Result<&'p Value, Refused>, Stop> {
        if self.prompt.tool(tool).is_none() {
            return Err(Stop::Say("That is not something I can do here.".to_owned()));
        }
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        let made = self
            .calls()
            .find(|call| call.tool == tool && call.arguments == arguments);
        let Some(made) = made else {
            return Err(Stop::Need(Need { tool, arguments }));
        };
        let answer = self.prompt.messages[self.at..]
            .iter()
            .find_map(|message| match message {
                Message::Result(result) if result.call_id == made.id => Some(&result.answer),
                _ => None,
            });
        Ok(match answer {
            Some(Answer::Done(value)) => Ok(value),
            Some(Answer::Refused(value)) => Err(Refused {
                code: value["code"].as_str().unwrap_or("unavailable").to_owned(),
                what: value["what"].as_str().map(str::to_owned),
            }),
            // Asked for and not answered: treated as a tool that cannot answer.
            None => Err(Refused {
                code: "unavailable".to_owned(),
                what: None,
            }),
        })
    }

    /// What a reading tool says, or the end of this part when it says no.
    pub(crate) fn read(&self, tool: &'static str, arguments: Value) -> Result<&'p Value, Stop> {
        self.call(tool, arguments)?
            .map_err(|refused| Stop::Say(super::words::refusal(&refused)))
    }

    /// The items of a list that a tool without arguments answers.
    pub(crate) fn list(&self, tool: &'static str) -> Result<&'p [Value], Stop> {
        Ok(super::reading::items(self.read(tool, json!({}))?))
    }

    /// The most lines one transfer may have, by the tool's own schema.
    pub(crate) fn lines_max(&self) -> usize {
        self.prompt
            .tool("request_transfer")
            .and_then(|tool| tool.input_schema["properties"]["payments"]["maxItems"].as_u64())
            .and_then(|most| usize::try_from(most).ok())
            .unwrap_or(1)
    }
}
