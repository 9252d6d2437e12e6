//! The built-in model: deterministic, without key or network, and honest about being one.
//!
//! It works the way a real model does here. Each time it is asked, it reads the conversation anew,
//! says which tool it needs next, or, when everything it needs has been answered, what to tell the
//! customer. It remembers nothing between two questions, so it can serve any number of turns at once.
//!
//! [`understand`](self) turns messages into wishes, `topics` turns wishes into calls and replies.
//! It leaves open what it is not sure of, and it takes nothing from what outsiders wrote.

mod acts;
mod amount;
mod ask;
mod corrections;
mod day;
mod number_words;
mod payment;
mod phrase;
mod questions;
mod reading;
mod text;
mod topics;
mod turn;
mod understand;
mod words;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use crate::{Event, EventStream, Model, ModelError, Prompt, ToolCall};
use turn::{Need, Stop, Turn};
use understand::{Memory, understand};

/// The built-in model.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineModel;

#[async_trait]
impl Model for OfflineModel {
    fn name(&self) -> &'static str {
        "offline"
    }

    fn is_metered(&self) -> bool {
        false
    }

    async fn reply<'a>(&'a self, prompt: &'a Prompt) -> Result<EventStream<'a>, ModelError> {
        Ok(stream::iter(events(prompt).into_iter().map(Ok)).boxed())
    }
}

/// What the model says or asks for next.
fn events(prompt: &Prompt) -> Vec<Event> {
    let mut events = match Turn::of(prompt) {
        Some(turn) => next(&turn),
        None => Vec::new(),
    };
    events.push(Event::Done);
    events
}

fn next(turn: &Turn<'_>) -> Vec<Event> {
    let mut memory = Memory::of(turn.earlier(), turn.today());
    let asks = understand(turn.message(), &mut memory, turn.today());
    let mut needs: Vec<Need> = Vec::new();
    let mut said: Vec<String> = Vec::new();
    for ask in &asks {
        match topics::answer(turn, ask) {
            Ok(text) | Err(Stop::Say(text)) => said.push(text),
            Err(Stop::Need(need)) if needs.contains(&need) => {}
            Err(Stop::Need(need)) => needs.push(need),
        }
    }
    if !needs.is_empty() {
        let first = turn.calls_made();
        return needs
            .into_iter()
            .enumerate()
            .map(|(index, need)| {
                Event::Call(ToolCall {
                    id: format!("call_{}", first + index + 1),
                    tool: need.tool.to_owned(),
                    arguments: need.arguments,
                })
            })
            .collect();
    }
    if turn.is_first() {
        said.insert(0, words::WHO_I_AM.to_owned());
    }
    pieces(&said.join("\n\n")).map(Event::Text).collect()
}

/// The reply in pieces of a line each, as a model that thinks would send it.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive('\n')
        .map(str::to_owned)
        .collect::<Vec<_>>()
        .into_iter()
}
