//! One turn: the model is asked, its calls are made, their answers go back to it, until it has said its piece.

mod budget;
mod calls;
mod talk;

use countersign_domain::Secret;
use countersign_models::{Message, Model, ModelError, Prompt};
use time::Date;

use crate::{
    door::{Door, DoorError},
    guard::{Guards, Hit, Outcome, Side},
    limits,
    line::{Failure, HungUp, Line, Lines},
    words::Words,
};

use budget::Budget;
pub use budget::Remaining;
use talk::Talk;

/// The reviewed instructions.
const SYSTEM: &str = include_str!("../prompts/system.md");

/// What every turn needs.
pub struct Agent {
    /// The model.
    pub model: Box<dyn Model>,
    /// The way to the door.
    pub door: Door,
    /// What messages and replies pass through.
    pub guards: Guards,
    /// Most tokens of one turn.
    pub tokens_per_turn_max: u64,
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
    /// What is left of the conversation's and the customer's budget.
    pub remaining: Remaining,
}

/// Why a turn stops before it is whole.
enum Stop {
    Failed(Failure),
    HungUp,
    /// There is nothing more to say.
    Over,
}

impl From<HungUp> for Stop {
    fn from(_: HungUp) -> Self {
        Self::HungUp
    }
}

/// Runs a turn to its last line. Ends early, without a word, when the caller hangs up: what is under way at the model
/// and at the door ends with it.
pub async fn run(agent: &Agent, input: TurnInput, lines: Lines) {
    let turn = input.turn.clone();
    let mut budget = Budget::new(agent.tokens_per_turn_max, input.remaining);
    let whole = tokio::select! {
        biased;
        () = lines.hung_up() => Err(Stop::HungUp),
        outcome = tokio::time::timeout(limits::TURN_TIME_MAX, take(agent, input, &lines, &mut budget)) => {
            outcome.unwrap_or(Err(Stop::Failed(Failure::Timeout)))
        }
    };
    let last = match whole {
        Ok(()) | Err(Stop::Over) => Line::Done,
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
    if let Some(used) = budget.used(agent.model.as_ref()) {
        let _ = lines.send(&used).await;
    }
    let _ = lines.send(&last).await;
}

async fn take(
    agent: &Agent,
    input: TurnInput,
    lines: &Lines,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let words = Words::of(&input.locale);
    let Outcome { text, hits } = agent.guards.check(Side::Message, &input.message).await;
    tell(lines, hits).await?;
    let Some(message) = text else {
        lines
            .send(&Line::Text {
                text: words.message_stopped.to_owned(),
            })
            .await?;
        return Ok(());
    };
    let connection = agent
        .door
        .connect(&input.session_token)
        .await
        .map_err(door_failure)?;
    let tools = connection.tools().await.map_err(door_failure)?;
    let mut messages = input.history;
    for earlier in &mut messages {
        if let Message::Customer(text) = earlier {
            *text = agent.guards.earlier(text).await;
        }
    }
    messages.push(Message::Customer(message));
    let today = (agent.today)();
    let prompt = Prompt {
        system: format!(
            "{SYSTEM}\nToday is {today}. The customer's locale is {}.\n",
            input.locale
        ),
        messages,
        tools,
        today,
    };
    Talk::new(
        &connection,
        lines,
        &input.turn,
        prompt,
        budget,
        &agent.guards,
        words,
    )
    .run(agent.model.as_ref())
    .await
}

/// Says which guardrails found something. Not what they found.
async fn tell(lines: &Lines, hits: Vec<Hit>) -> Result<(), HungUp> {
    for Hit {
        guardrail,
        rule,
        side,
    } in hits.into_iter().take(limits::HITS_MAX)
    {
        lines
            .send(&Line::Guardrail {
                guardrail,
                rule,
                side: side.name(),
            })
            .await?;
    }
    Ok(())
}

fn door_failure(error: DoorError) -> Stop {
    Stop::Failed(match error {
        DoorError::Token | DoorError::Refused => Failure::DoorRefused,
        DoorError::Unavailable => Failure::DoorUnavailable,
    })
}

fn model_failure(error: &ModelError) -> Stop {
    Stop::Failed(match error {
        ModelError::TooLong | ModelError::TooMuch => Failure::Budget,
        ModelError::TimedOut => Failure::Timeout,
        ModelError::KeyRefused | ModelError::RequestRefused(_) | ModelError::Redirected => {
            // Nobody but the operator can do anything about these.
            tracing::error!(%error, "The model cannot be asked");
            Failure::ModelUnavailable
        }
        ModelError::Unavailable | ModelError::Overloaded | ModelError::Malformed => {
            Failure::ModelUnavailable
        }
    })
}
