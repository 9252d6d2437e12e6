//! The conversation with the model within one turn. It ends in words, whatever the model does.

use countersign_models::{BadCall, Event, Message, Model, Prompt, ToolCall, ToolResult};
use futures_util::StreamExt;
use serde_json::Map;

use super::{Budget, Stop, calls::Calls, model_failure};
use crate::{
    door::Connection,
    limits,
    line::{Failure, Line, Lines},
};

/// Said when the model keeps asking for tools, or for calls that cannot be made.
const GIVE_UP: &str = "I could not finish that. Whatever I prepared stands on the right; please ask again in smaller steps.";
/// Said when the model said nothing.
const NOTHING_SAID: &str = "I have no answer to that. Please ask in other words.";
/// Said when the provider's filter stopped the model.
const DECLINED: &str =
    "I can't help with that. I can look at your accounts, cards and payments with you.";
/// Told to the model when its reply was cut.
const CUT: &str = "Your last message reached its length limit and was cut. No tool call in it was made. Go on in fewer words, or make the call again, whole.";

/// A call as the model wrote it.
enum Wish {
    Good(ToolCall),
    Bad(BadCall),
}

/// How one reply of the model ended.
enum Ended {
    Whole,
    CutShort,
    Declined,
}

pub(super) struct Talk<'t> {
    connection: &'t Connection,
    lines: &'t Lines,
    turn: &'t str,
    prompt: Prompt,
    budget: &'t mut Budget,
    calls: Calls,
    said_bytes: usize,
}

impl<'t> Talk<'t> {
    pub(super) fn new(
        connection: &'t Connection,
        lines: &'t Lines,
        turn: &'t str,
        prompt: Prompt,
        budget: &'t mut Budget,
    ) -> Self {
        Self {
            connection,
            lines,
            turn,
            prompt,
            budget,
            calls: Calls::default(),
            said_bytes: 0,
        }
    }

    pub(super) async fn run(mut self, model: &dyn Model) -> Result<(), Stop> {
        let mut cuts = 0;
        for _ in 0..limits::ROUNDS_MAX {
            let (text, wishes, ended) = self.ask(model).await?;
            match ended {
                Ended::Declined => return self.say(DECLINED.to_owned()).await,
                Ended::CutShort => {
                    cuts += 1;
                    if cuts > limits::CUTS_MAX {
                        break;
                    }
                    self.prompt.messages.push(Message::Assistant {
                        text,
                        calls: Vec::new(),
                    });
                    self.prompt.messages.push(Message::Notice(CUT.to_owned()));
                    continue;
                }
                Ended::Whole if wishes.is_empty() => {
                    if self.said_bytes == 0 {
                        self.say(NOTHING_SAID.to_owned()).await?;
                    }
                    return Ok(());
                }
                Ended::Whole => {}
            }
            self.grant(text, wishes).await?;
            if self.calls.are_enough() {
                break;
            }
        }
        let (calls, bad_calls) = self.calls.counts();
        tracing::warn!(
            turn = self.turn,
            calls,
            bad_calls,
            "The model did not come to an end"
        );
        self.say(GIVE_UP.to_owned()).await
    }

    /// Makes the calls of one reply and puts every answer under its own id.
    async fn grant(&mut self, text: String, wishes: Vec<Wish>) -> Result<(), Stop> {
        let calls = wishes
            .iter()
            .map(|wish| match wish {
                Wish::Good(call) => call.clone(),
                Wish::Bad(call) => ToolCall {
                    id: call.id.clone(),
                    tool: call.tool.clone(),
                    arguments: Map::new(),
                },
            })
            .collect();
        self.prompt
            .messages
            .push(Message::Assistant { text, calls });
        // One after the other: two requests at once would race for the same place on the panel.
        for wish in wishes {
            let (call_id, tool, answered) = match wish {
                Wish::Bad(call) => (call.id, call.tool, self.calls.is_bad()),
                Wish::Good(call) => {
                    let answered = self
                        .calls
                        .make(&call, &self.prompt, self.connection, self.lines, self.turn)
                        .await?;
                    (call.id, call.tool, answered)
                }
            };
            self.prompt.messages.push(Message::Result(ToolResult {
                call_id,
                tool,
                answer: answered.answer,
                flagged: answered.flagged,
            }));
        }
        Ok(())
    }

    /// One reply of the model, its words passed on as they come.
    async fn ask(&mut self, model: &dyn Model) -> Result<(String, Vec<Wish>, Ended), Stop> {
        if !self.budget.admits(&self.prompt, model) {
            return Err(Stop::Failed(Failure::Budget));
        }
        let mut said = String::new();
        let mut wishes = Vec::new();
        let prompt = self.prompt.clone();
        let mut events = model
            .reply(&prompt)
            .await
            .map_err(|error| model_failure(&error))?;
        let ended = loop {
            match events.next().await {
                Some(Ok(Event::Text(piece))) => {
                    said.push_str(&piece);
                    self.say(piece).await?;
                }
                Some(Ok(Event::Call(call))) => wishes.push(Wish::Good(call)),
                Some(Ok(Event::BadCall(call))) => wishes.push(Wish::Bad(call)),
                Some(Ok(Event::Usage(usage))) => self.budget.settle(Some(usage)),
                Some(Ok(Event::Done)) => break Ended::Whole,
                Some(Ok(Event::CutShort)) => break Ended::CutShort,
                Some(Ok(Event::Declined)) => break Ended::Declined,
                Some(Err(error)) => return Err(model_failure(&error)),
                // A reply that breaks off is no reply, and its calls are not made.
                None => return Err(Stop::Failed(Failure::ModelUnavailable)),
            }
        };
        Ok((said, wishes, ended))
    }

    async fn say(&mut self, text: String) -> Result<(), Stop> {
        self.budget.said(text.len());
        self.said_bytes += text.len();
        if self.said_bytes > limits::REPLY_BYTES_MAX {
            return Err(Stop::Failed(Failure::Budget));
        }
        Ok(self.lines.send(&Line::Text { text }).await?)
    }
}
