//! The conversation with the model within one turn. It ends in words, whatever the model does.

use countersign_models::{BadCall, Event, Message, Model, Prompt, ToolCall, ToolResult};
use futures_util::StreamExt;
use serde_json::Map;

use super::{Budget, Stop, calls::Calls, model_failure, tell};
use crate::{
    door::Connection,
    guard::{Guards, Outcome, Side},
    limits,
    line::{Failure, Line, Lines},
    words::Words,
};
use countersign_screening::guard::whole_sentences;

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
    guards: &'t Guards,
    words: &'static Words,
    calls: Calls,
    /// Words of the model that no guardrail has seen yet.
    unseen: String,
    said_bytes: usize,
}

impl<'t> Talk<'t> {
    pub(super) fn new(
        connection: &'t Connection,
        lines: &'t Lines,
        turn: &'t str,
        prompt: Prompt,
        budget: &'t mut Budget,
        guards: &'t Guards,
        words: &'static Words,
    ) -> Self {
        Self {
            connection,
            lines,
            turn,
            prompt,
            budget,
            guards,
            words,
            calls: Calls::default(),
            unseen: String::new(),
            said_bytes: 0,
        }
    }

    pub(super) async fn run(mut self, model: &dyn Model) -> Result<(), Stop> {
        let mut cuts = 0;
        for _ in 0..limits::ROUNDS_MAX {
            let (text, wishes, ended) = self.ask(model).await?;
            match ended {
                Ended::Declined => return self.say(self.words.declined.to_owned()).await,
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
                        self.say(self.words.nothing_said.to_owned()).await?;
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
        self.say(self.words.give_up.to_owned()).await
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
                    self.hear(&piece).await?;
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
        self.pass(self.unseen.len()).await?;
        Ok((said, wishes, ended))
    }

    /// Takes words of the model. They are passed on when the guardrails have seen as much as they need at once.
    async fn hear(&mut self, piece: &str) -> Result<(), Stop> {
        self.budget.said(piece.len());
        self.unseen.push_str(piece);
        if self.said_bytes + self.unseen.len() > limits::REPLY_BYTES_MAX {
            return Err(Stop::Failed(Failure::Budget));
        }
        if self.guards.want_whole_replies() {
            return Ok(());
        }
        self.pass(whole_sentences(&self.unseen)).await
    }

    /// Passes the first bytes of what waits through the guardrails and on.
    async fn pass(&mut self, bytes: usize) -> Result<(), Stop> {
        if bytes == 0 {
            return Ok(());
        }
        let rest = self.unseen.split_off(bytes);
        let words = std::mem::replace(&mut self.unseen, rest);
        let Outcome { text, hits } = self.guards.check(Side::Reply, &words).await;
        tell(self.lines, hits).await?;
        let Some(text) = text else {
            self.say(self.words.reply_stopped.to_owned()).await?;
            return Err(Stop::Over);
        };
        self.say(text).await
    }

    async fn say(&mut self, text: String) -> Result<(), Stop> {
        self.said_bytes += text.len();
        if self.said_bytes > limits::REPLY_BYTES_MAX {
            return Err(Stop::Failed(Failure::Budget));
        }
        Ok(self.lines.send(&Line::Text { text }).await?)
    }
}
