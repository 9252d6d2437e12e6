//! What a turn may use of the model, and what it has used.

use countersign_models::{Answer, Message, Model, Prompt, Usage};
use serde::Deserialize;

use crate::{limits, line::Line};

/// What is left for a turn of budgets that span turns. The chat origin keeps those.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remaining {
    /// Tokens.
    pub tokens: u64,
    /// Cost, in millionths of the currency's unit.
    pub cost_micros: u64,
}

impl Default for Remaining {
    fn default() -> Self {
        Self {
            tokens: u64::MAX,
            cost_micros: u64::MAX,
        }
    }
}

/// The budget of one turn.
#[derive(Debug)]
pub(super) struct Budget {
    tokens_max: u64,
    cost_micros_max: u64,
    used: Usage,
    /// What was used since the model last said how much, by estimate.
    estimate: Usage,
}

impl Budget {
    pub(super) fn new(tokens_per_turn_max: u64, remaining: Remaining) -> Self {
        Self {
            tokens_max: tokens_per_turn_max.min(remaining.tokens),
            cost_micros_max: remaining.cost_micros,
            used: Usage::default(),
            estimate: Usage::default(),
        }
    }

    /// Takes a question into account before it is asked; whether there is room for it.
    pub(super) fn admits(&mut self, prompt: &Prompt, model: &dyn Model) -> bool {
        self.settle(None);
        self.estimate.input_tokens = size(prompt) / limits::BYTES_PER_TOKEN;
        let total = self.total();
        total.input_tokens.saturating_add(total.output_tokens) <= self.tokens_max
            && model.cost_micros(total) <= self.cost_micros_max
    }

    /// Takes words into account as they come.
    pub(super) fn said(&mut self, bytes: usize) {
        self.estimate.output_tokens += (bytes as u64).div_ceil(limits::BYTES_PER_TOKEN);
    }

    /// Takes the model's own count for the question under way, or keeps the estimate.
    pub(super) fn settle(&mut self, counted: Option<Usage>) {
        let use_of_it = counted.unwrap_or(self.estimate);
        self.used.input_tokens = self
            .used
            .input_tokens
            .saturating_add(use_of_it.input_tokens);
        self.used.output_tokens = self
            .used
            .output_tokens
            .saturating_add(use_of_it.output_tokens);
        self.estimate = Usage::default();
    }

    fn total(&self) -> Usage {
        Usage {
            input_tokens: self
                .used
                .input_tokens
                .saturating_add(self.estimate.input_tokens),
            output_tokens: self
                .used
                .output_tokens
                .saturating_add(self.estimate.output_tokens),
        }
    }

    /// The line that says what was used; none when the model was not asked.
    pub(super) fn used(&self, model: &dyn Model) -> Option<Line> {
        let total = self.total();
        (total != Usage::default() && model.is_metered()).then(|| Line::Used {
            input_tokens: total.input_tokens,
            output_tokens: total.output_tokens,
            cost_micros: model.cost_micros(total),
        })
    }
}

/// Bytes of a prompt.
fn size(prompt: &Prompt) -> u64 {
    let messages: usize = prompt
        .messages
        .iter()
        .map(|message| match message {
            Message::Customer(text) | Message::Notice(text) => text.len(),
            Message::Assistant { text, calls } => {
                let calls = calls.iter().map(|call| {
                    call.tool.len()
                        + serde_json::to_string(&call.arguments).map_or(0, |text| text.len())
                });
                text.len() + calls.sum::<usize>()
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
    (prompt.system.len() + messages + tools) as u64
}
