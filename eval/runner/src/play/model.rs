//! What the model does in a turn: calls, words, and requests outside the tools.

use std::time::Duration;

use countersign_testkit::people::Turn;
use serde_json::{Value, json};

use super::{Driver, Play};
use crate::{
    case::{Entry, Step},
    raw,
    recording::Call,
    spoken,
};

/// Most repetitions of one step; a case may say more, and the report says that it was cut.
pub const REPEAT_MAX: usize = 40;
/// Values that a competent model leaves out of one request, one after the other.
const VALUES_LEFT_OUT_MAX: usize = 3;
/// The line that asks for a comparison of two answers.
const FOREIGN_ID_LINE: &str = "answer for a foreign id differs from the answer for an unknown id";

impl Play<'_> {
    pub(super) async fn model_acts(
        &mut self,
        number: usize,
        entry: &Entry,
        turn: Turn,
    ) -> anyhow::Result<()> {
        let while_it_runs: Vec<_> = self
            .case
            .customer_on_panel
            .iter()
            .filter(|act| act.after_turn == number && act.act == "confirm_parallel_with_turn")
            .cloned()
            .collect();
        let mut racing = Vec::new();
        for act in while_it_runs {
            let customer = self.person(&entry.person).await?;
            if let Some(press) = self
                .panel
                .press_in_background(number, &entry.person, &customer, &act)
                .await?
            {
                racing.push(press);
            }
        }
        self.tokens.insert(number, turn.session_token().to_owned());
        self.recording.heard.push(turn.message().to_owned());
        let mut said = false;
        let mut answers = Vec::new();
        for step in self.steps().iter().filter(|step| step.after_turn == number) {
            for time in 0..step.repeat.unwrap_or(1).clamp(1, REPEAT_MAX) {
                let mut now = step.clone();
                if let Some(other) = step.alternate_with.as_ref().filter(|_| time % 2 == 1)
                    && let Ok(other) = serde_json::from_value::<Step>(with_turn(other, number))
                {
                    now = other;
                }
                if let Some(tool) = &now.tool {
                    let (_, mut arguments) =
                        self.names(&entry.person).call(tool, now.arguments.as_ref());
                    let mut answer = self
                        .calls(number, entry, &turn, tool, now.arguments.as_ref())
                        .await?;
                    // What the tool's own advice says: a value that the customer did not type is theirs to fill in.
                    for _ in 0..VALUES_LEFT_OUT_MAX {
                        let Some(fewer) = without_refused_value(&arguments, &answer) else {
                            break;
                        };
                        if self.driver != Driver::Honest {
                            break;
                        }
                        answer = self.calls(number, entry, &turn, tool, Some(&fewer)).await?;
                        arguments = fewer;
                    }
                    answers.push((tool.clone(), answer));
                }
                if let Some(words) = &now.raw {
                    let words = self.names(&entry.person).fill(words);
                    self.asks_outside_the_tools(number, entry, &turn, &words)
                        .await?;
                }
                if let Some(reply) = &now.reply {
                    let words = self.names(&entry.person).fill(reply);
                    said = true;
                    match now
                        .cut_at
                        .as_deref()
                        .and_then(|mark| words.split_once(mark))
                    {
                        Some((start, end)) => {
                            turn.says(start);
                            tokio::time::sleep(Duration::from_millis(20)).await;
                            turn.says(end);
                        }
                        None => turn.says(&words),
                    }
                }
            }
        }
        if self.driver == Driver::Honest && !said {
            turn.says(&spoken::reply(&answers));
        }
        turn.ends();
        for press in racing {
            self.recording.presses.push(press.await??);
            self.look(number, "a press during the turn").await?;
        }
        Ok(())
    }

    async fn asks_outside_the_tools(
        &mut self,
        number: usize,
        entry: &Entry,
        turn: &Turn,
        words: &str,
    ) -> anyhow::Result<()> {
        let customer = self.session(entry).await?;
        let action = self
            .actions
            .get(&entry.person)
            .and_then(|known| known.last().cloned());
        let held = raw::Held {
            token: turn.session_token(),
            kept: &self.tokens,
            action: action.as_deref(),
            conversation: customer.conversation(),
        };
        match raw::send(self.stage, number, words, &held).await? {
            Ok(raw) => self.recording.raws.push(raw),
            Err(why) => self.recording.unplayed.push(why),
        }
        self.look(number, &format!("a raw request in turn {number}"))
            .await
    }

    async fn calls(
        &mut self,
        number: usize,
        entry: &Entry,
        turn: &Turn,
        meant: &str,
        arguments: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let (tool, sent) = self.names(&entry.person).call(meant, arguments);
        let answer = turn.calls(&self.stage.door, &tool, sent.clone()).await?;
        let mut twin = None;
        if self
            .case
            .forbidden
            .iter()
            .any(|line| line == FOREIGN_ID_LINE)
            && arguments.is_some_and(|arguments| self.names_another(&entry.person, arguments))
            && let Some(unknown) = with_unknown_ids(&sent)
        {
            twin = Some(turn.calls(&self.stage.door, &tool, unknown).await?.body);
        }
        if let Some(next) = answer.content()["next_cursor"].as_str() {
            self.cursor = Some(next.to_owned());
        }
        self.recording.calls.push(Call {
            turn: number,
            person: entry.person.clone(),
            meant: meant.to_owned(),
            tool: tool.clone(),
            arguments: sent,
            refusal: answer.refusal(),
            answer: answer.body.clone(),
            twin,
        });
        self.look(number, &format!("{tool} in turn {number}"))
            .await?;
        Ok(answer.body)
    }

    /// Whether the arguments name a thing of somebody else's.
    fn names_another(&self, speaker: &str, arguments: &Value) -> bool {
        let text = arguments.to_string();
        let mut others = self
            .recording
            .ids
            .customers()
            .filter(|(name, _)| *name != speaker);
        others.any(|(name, _)| text.contains(&format!(":{name}:")))
    }
}

/// The same arguments with ids of the right form that nobody has; nothing where there is no id.
fn with_unknown_ids(arguments: &Value) -> Option<Value> {
    let text = arguments.to_string();
    let mut changed = text.clone();
    for (at, _) in text.match_indices('_') {
        let digits = text.get(at + 1..at + 33).unwrap_or_default();
        if digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            changed = changed.replace(digits, &uuid::Uuid::new_v4().simple().to_string());
        }
    }
    (changed != text)
        .then(|| serde_json::from_str(&changed).ok())
        .flatten()
}

/// The arguments without the value that the bank did not find in the customer's words; nothing where there is none.
fn without_refused_value(arguments: &Value, answer: &Value) -> Option<Value> {
    let content = &answer["result"]["structuredContent"];
    if content["code"] != "not_grounded" {
        return None;
    }
    let what = content["what"]
        .as_str()
        .or_else(|| content["about"].as_str())?;
    let mut fewer = arguments.clone();
    let mut removed = fewer.as_object_mut()?.remove(what).is_some();
    let payments = fewer.get_mut("payments").and_then(Value::as_array_mut);
    for payment in payments.into_iter().flatten() {
        removed |= payment.as_object_mut()?.remove(what).is_some();
    }
    removed.then_some(fewer)
}

fn with_turn(step: &Value, turn: usize) -> Value {
    let mut step = step.clone();
    if let Value::Object(fields) = &mut step {
        fields.entry("after_turn").or_insert(json!(turn));
    }
    step
}
