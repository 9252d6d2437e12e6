//! One turn: the model is asked, its calls are made, their answers go back to it, until it has said its piece.

use countersign_domain::{ActionId, Secret};
use countersign_models::{
    Answer, Event, Message, Model, ModelError, Prompt, ToolCall, ToolDefinition, ToolResult,
};
use futures_util::StreamExt;
use time::Date;

use crate::{
    door::{Connection, Door, DoorError, refused},
    limits,
    line::{Failure, HungUp, Line, Lines},
};

/// The reviewed instructions.
const SYSTEM: &str = include_str!("../prompts/system.md");
/// Said when the model keeps asking for tools, or for calls that cannot be made.
const GIVE_UP: &str = "I could not finish that. Whatever I prepared stands on the right; please ask again in smaller steps.";

/// What every turn needs.
pub struct Agent {
    /// The model.
    pub model: Box<dyn Model>,
    /// The way to the door.
    pub door: Door,
    /// Today's date.
    pub today: fn() -> Date,
}

/// One turn, as the chat origin describes it.
pub struct TurnInput {
    /// The turn's name, for the log.
    pub turn: String,
    /// The turn's token, for the door alone.
    pub session_token: Secret,
    /// The customer's language and region.
    pub locale: String,
    /// What was said before, oldest first.
    pub history: Vec<Message>,
    /// What the customer says now.
    pub message: String,
}

/// Why a turn stops before it is whole.
enum Stop {
    Failed(Failure),
    HungUp,
}

impl From<HungUp> for Stop {
    fn from(_: HungUp) -> Self {
        Self::HungUp
    }
}

/// Runs a turn to its last line. Ends early, without a word, when the caller hangs up.
pub async fn run(agent: &Agent, input: TurnInput, lines: Lines) {
    let turn = input.turn.clone();
    let whole = tokio::select! {
        biased;
        () = lines.hung_up() => Err(Stop::HungUp),
        outcome = tokio::time::timeout(limits::TURN_TIME_MAX, take(agent, input, &lines)) => {
            outcome.unwrap_or(Err(Stop::Failed(Failure::Timeout)))
        }
    };
    let last = match whole {
        Ok(()) => Line::Done,
        Err(Stop::Failed(code)) => {
            tracing::warn!(turn, code = code.code(), "Gave up a turn: {}", code.code());
            Line::Failed { code }
        }
        Err(Stop::HungUp) => {
            tracing::info!(turn, "The caller hung up");
            return;
        }
    };
    // Nobody is left to tell when this fails.
    let _ = lines.send(&last).await;
}

async fn take(agent: &Agent, input: TurnInput, lines: &Lines) -> Result<(), Stop> {
    let connection = agent
        .door
        .connect(&input.session_token)
        .await
        .map_err(door_failure)?;
    let tools = connection.tools().await.map_err(door_failure)?;
    let mut messages = input.history;
    messages.push(Message::Customer(input.message));
    let today = (agent.today)();
    let mut turn = Turn {
        connection: &connection,
        lines,
        name: &input.turn,
        prompt: Prompt {
            system: format!(
                "{SYSTEM}\nToday is {today}. The customer's locale is {}.\n",
                input.locale
            ),
            messages,
            tools,
            today,
        },
        requested: Vec::new(),
        calls: 0,
        bad_calls: 0,
        said_bytes: 0,
        tokens: 0,
    };
    turn.converse(agent.model.as_ref()).await
}

fn door_failure(error: DoorError) -> Stop {
    Stop::Failed(match error {
        DoorError::Token | DoorError::Refused => Failure::DoorRefused,
        DoorError::Unavailable => Failure::DoorUnavailable,
    })
}

struct Turn<'t> {
    connection: &'t Connection,
    lines: &'t Lines,
    name: &'t str,
    prompt: Prompt,
    /// Requests made in this turn. None is ever made twice.
    requested: Vec<ToolCall>,
    calls: usize,
    bad_calls: usize,
    said_bytes: usize,
    tokens: usize,
}

impl Turn<'_> {
    async fn converse(&mut self, model: &dyn Model) -> Result<(), Stop> {
        for _ in 0..limits::ROUNDS_MAX {
            let (text, calls) = self.ask(model).await?;
            if calls.is_empty() {
                return Ok(());
            }
            self.prompt.messages.push(Message::Assistant {
                text,
                calls: calls.clone(),
            });
            // One after the other: two requests at once would race for the same place on the panel.
            for call in calls {
                let answer = self.make(&call).await?;
                self.prompt.messages.push(Message::Result(ToolResult {
                    call_id: call.id,
                    answer,
                }));
            }
            if self.bad_calls >= limits::BAD_CALLS_MAX || self.calls >= limits::CALLS_MAX {
                break;
            }
        }
        tracing::warn!(
            turn = self.name,
            calls = self.calls,
            bad_calls = self.bad_calls,
            "The model did not come to an end"
        );
        self.say(GIVE_UP.to_owned()).await
    }

    /// One reply of the model, its words passed on as they come.
    async fn ask(&mut self, model: &dyn Model) -> Result<(String, Vec<ToolCall>), Stop> {
        self.tokens += estimate(&self.prompt);
        if self.tokens > limits::TOKENS_MAX {
            return Err(Stop::Failed(Failure::Budget));
        }
        let mut said = String::new();
        let mut calls = Vec::new();
        let prompt = self.prompt.clone();
        let mut events = model.reply(&prompt).await.map_err(model_failure)?;
        loop {
            match events.next().await {
                Some(Ok(Event::Text(piece))) => {
                    self.say(piece.clone()).await?;
                    said.push_str(&piece);
                }
                Some(Ok(Event::Call(call))) => calls.push(call),
                Some(Ok(Event::Done)) => return Ok((said, calls)),
                Some(Err(error)) => return Err(model_failure(error)),
                // A reply that breaks off is no reply, and its calls are not made.
                None => return Err(Stop::Failed(Failure::ModelUnavailable)),
            }
        }
    }

    async fn say(&mut self, text: String) -> Result<(), Stop> {
        self.said_bytes += text.len();
        if self.said_bytes > limits::REPLY_BYTES_MAX {
            return Err(Stop::Failed(Failure::Budget));
        }
        Ok(self.lines.send(&Line::Text { text }).await?)
    }

    /// Makes a call, or says why not.
    async fn make(&mut self, call: &ToolCall) -> Result<Answer, Stop> {
        let tool = match self.judge(call) {
            Ok(tool) => tool,
            Err(answer) => {
                self.bad_calls += 1;
                return Ok(answer);
            }
        };
        self.calls += 1;
        if !tool.reads_only {
            self.requested.push(call.clone());
        }
        let answer = self.connection.call(&tool, call.arguments.clone()).await;
        let done = matches!(answer, Answer::Done(_));
        tracing::info!(
            turn = self.name,
            tool = tool.name,
            done,
            "Called {}",
            tool.name
        );
        if let Answer::Done(value) = &answer {
            let line = if tool.reads_only {
                Some(Line::LookedAt { tool: tool.name })
            } else {
                value["action"]
                    .as_str()
                    .and_then(|action| action.parse::<ActionId>().ok())
                    .map(|action| Line::Prepared { action })
            };
            if let Some(line) = line {
                self.lines.send(&line).await?;
            }
        }
        Ok(answer)
    }

    /// Whether a call can be made at all.
    fn judge(&self, call: &ToolCall) -> Result<ToolDefinition, Answer> {
        if self.calls >= limits::CALLS_MAX {
            return Err(refused(
                "too_many_calls",
                "Make no more calls. Tell the customer what you know.",
            ));
        }
        let Some(tool) = self.prompt.tool(&call.tool) else {
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

fn model_failure(error: ModelError) -> Stop {
    Stop::Failed(match error {
        ModelError::Unavailable | ModelError::Malformed => Failure::ModelUnavailable,
        ModelError::TooLong => Failure::Budget,
    })
}

/// Tokens of a prompt, by its length.
fn estimate(prompt: &Prompt) -> usize {
    let messages: usize = prompt
        .messages
        .iter()
        .map(|message| match message {
            Message::Customer(text) => text.len(),
            Message::Assistant { text, calls } => {
                text.len()
                    + calls
                        .iter()
                        .map(|call| call.tool.len() + 2 * call.arguments.len() * 16)
                        .sum::<usize>()
            }
            Message::Result(result) => match &result.answer {
                Answer::Done(value) | Answer::Refused(value) => value.to_string().len(),
            },
        })
        .sum();
    let tools: usize = prompt
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len())
        .sum();
    (prompt.system.len() + messages + tools) / limits::BYTES_PER_TOKEN
}
