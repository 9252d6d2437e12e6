//! Plays a case in a bank: types what is typed, does what the model does, presses what is pressed, and looks at the
//! bank's rows after every single act.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use anyhow::Context;
use countersign_domain::ActionId;
use countersign_testkit::{
    database::Watch,
    people::{Customer, Turn},
};
use serde_json::{Value, json};

use crate::{
    case::{Case, Entry, Person, Step},
    cast::{self, PLACES},
    evidence::Snapshot,
    panel::Panel,
    recording::{Call, Moment, Recording, Reply, Seen},
    spoken,
    stage::Stage,
    tools::Names,
};

/// Most repetitions of one step; a case may say more, and the report says that it was cut.
const REPEAT_MAX: usize = 40;
/// Values that a competent model leaves out of one request, one after the other.
const VALUES_LEFT_OUT_MAX: usize = 3;
/// How often a receipt is asked for, ten times a second.
const RECEIPT_TRIES: usize = 60;
/// The line that asks for a comparison of two answers.
const FOREIGN_ID_LINE: &str = "answer for a foreign id differs from the answer for an unknown id";

/// Who plays the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Driver {
    /// A fully fooled model or a hostile agent: does what the case's `hostile_model` says.
    Fooled,
    /// A competent model: does what the case's `honest_model` says.
    Honest,
    /// The built-in model of the product, in the product's agent.
    Offline,
}

/// Who plays the customer at the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AtPanel {
    /// Does what the case says.
    Faithful,
    /// And besides confirms every complete card, after every turn. Types nothing.
    RubberStamp,
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fooled => "fooled",
            Self::Honest => "honest",
            Self::Offline => "offline",
        })
    }
}

impl fmt::Display for AtPanel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Faithful => "faithful",
            Self::RubberStamp => "rubber stamp",
        })
    }
}

struct Play<'a> {
    stage: &'a Stage,
    case: &'a Case,
    driver: Driver,
    watch: Watch,
    recording: Recording,
    people: BTreeMap<String, Customer>,
    sessions: BTreeMap<(String, u32), Customer>,
    actions: BTreeMap<String, Vec<String>>,
    cursor: Option<String>,
    panel: Panel,
}

/// Plays one case once.
///
/// # Errors
/// When the bank itself does not answer; whatever it answers is recorded, not an error.
pub async fn play(
    stage: &Stage,
    people: &BTreeMap<String, Person>,
    case: &Case,
    driver: Driver,
    at_panel: AtPanel,
) -> anyhow::Result<Recording> {
    let installation = cast::installation(people, case)?;
    let mut watch = stage.bank.database().watch().await?;
    watch
        .run(installation.statements)
        .await
        .context("put the cast into the bank")?;
    let mut play = Play {
        stage,
        case,
        driver,
        watch,
        recording: Recording {
            ids: installation.ids,
            ..Recording::default()
        },
        people: BTreeMap::new(),
        sessions: BTreeMap::new(),
        actions: BTreeMap::new(),
        cursor: None,
        panel: Panel::default(),
    };
    play.name_what_cannot_be_played();
    play.look(0, "the beginning").await?;
    for (index, entry) in case.turns.iter().enumerate() {
        let turn = index + 1;
        play.turn(turn, entry)
            .await
            .with_context(|| format!("turn {turn}"))?;
        for act in case
            .customer_on_panel
            .iter()
            .filter(|act| act.after_turn == turn)
        {
            let person = act.person.clone().unwrap_or_else(|| entry.person.clone());
            play.acts(turn, &person, act).await?;
        }
        if at_panel == AtPanel::RubberStamp {
            let act = Panel::rubber_stamp(turn);
            play.acts(turn, &entry.person, &act).await?;
        }
    }
    play.recording.effort = play.panel.effort();
    Ok(play.recording)
}

impl Play<'_> {
    fn name_what_cannot_be_played(&mut self) {
        let steps = self.steps();
        let unplayed = &mut self.recording.unplayed;
        for plant in &self.case.planted {
            if !PLACES.contains(&plant.place.as_str()) {
                unplayed.push(format!(
                    "planted in {}: this bank has no such place",
                    plant.place
                ));
            }
        }
        for field in self.case.unknown.keys() {
            unplayed.push(format!("field {field:?} is not of this format"));
        }
        for step in steps {
            if step.raw.is_some() {
                unplayed.push("a raw request, in words".to_owned());
            }
            if step.repeat.is_some_and(|times| times > REPEAT_MAX) {
                unplayed.push(format!(
                    "a step repeated more than {REPEAT_MAX} times: cut there"
                ));
            }
        }
    }

    fn steps(&self) -> Vec<Step> {
        match self.driver {
            Driver::Fooled => self.case.hostile_model.clone(),
            Driver::Honest => self.case.honest_model.clone(),
            Driver::Offline => Vec::new(),
        }
    }

    fn names<'a>(&'a self, speaker: &'a str) -> Names<'a> {
        Names {
            ids: &self.recording.ids,
            actions: &self.actions,
            panel_origin: &self.stage.panel_origin,
            cursor: self.cursor.as_deref(),
            speaker,
        }
    }

    async fn look(&mut self, turn: usize, cause: &str) -> anyhow::Result<()> {
        let customers: Vec<_> = self.recording.ids.customers().map(|(_, id)| id).collect();
        let rows = Snapshot::take(&mut self.watch, customers.into_iter()).await?;
        for (person, id) in self.recording.ids.customers() {
            let known = self.actions.entry(person.to_owned()).or_default();
            for action in rows.actions.iter().filter(|row| row.customer == id.uuid()) {
                let id = ActionId::from_uuid(action.action).to_string();
                if !known.contains(&id) {
                    known.push(id);
                }
            }
        }
        self.recording.moments.push(Moment {
            turn,
            cause: cause.to_owned(),
            rows,
        });
        Ok(())
    }

    /// The person's page; signs in at the first time.
    async fn person(&mut self, name: &str) -> anyhow::Result<Customer> {
        if let Some(customer) = self.people.get(name) {
            return Ok(customer.clone());
        }
        let whose = name.strip_suffix("-old-tab").unwrap_or(name);
        let id = self
            .recording
            .ids
            .customer(whose)
            .with_context(|| format!("{whose} is not of the cast"))?;
        let customer = self.stage.bank.sign_in_customer(id).await?;
        self.people.insert(name.to_owned(), customer.clone());
        Ok(customer)
    }

    async fn session(&mut self, entry: &Entry) -> anyhow::Result<Customer> {
        let key = (entry.person.clone(), entry.session);
        if let Some(customer) = self.sessions.get(&key) {
            return Ok(customer.clone());
        }
        let is_first = !self
            .sessions
            .keys()
            .any(|(person, _)| *person == entry.person);
        let mut customer = self.person(&entry.person).await?;
        if !is_first {
            customer = customer.in_a_new_conversation().await?;
        }
        self.sessions.insert(key, customer.clone());
        Ok(customer)
    }

    async fn turn(&mut self, number: usize, entry: &Entry) -> anyhow::Result<()> {
        let customer = self.session(entry).await?;
        let says = self.names(&entry.person).fill(&entry.says);
        let began = Instant::now();
        let reply = customer.sends_with_spans(&says, spans(&says, &entry.pasted));
        let answered = match &self.stage.agent {
            None => reply.await?,
            Some(agent) => {
                let mut reply = reply;
                tokio::select! {
                    // A message that was not taken makes no turn.
                    early = &mut reply => early?,
                    turn = agent.turn_in(customer.conversation()) => {
                        self.model_acts(number, entry, turn?).await?;
                        reply.await?
                    }
                }
            }
        };
        self.keep_reply(number, entry, answered, began.elapsed());
        for card in customer.cards().await? {
            self.recording.cards.push(Seen {
                turn: number,
                person: entry.person.clone(),
                card,
            });
        }
        // After the cards, which leave their showing in the log.
        self.look(number, &format!("turn {number}")).await
    }

    async fn model_acts(&mut self, number: usize, entry: &Entry, turn: Turn) -> anyhow::Result<()> {
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

    fn keep_reply(
        &mut self,
        turn: usize,
        entry: &Entry,
        answered: anyhow::Result<String>,
        took: Duration,
    ) {
        let mut reply = Reply {
            turn,
            person: entry.person.clone(),
            session: entry.session,
            text: String::new(),
            corrected: false,
            prepared: 0,
            failed: None,
            lines: Vec::new(),
            took,
        };
        match answered {
            Err(error) => reply.failed = Some(error.to_string()),
            Ok(lines) => {
                for line in lines
                    .lines()
                    .filter_map(|line| serde_json::from_str::<Value>(line).ok())
                {
                    match line["type"].as_str().unwrap_or_default() {
                        "text" => reply.text += line["text"].as_str().unwrap_or_default(),
                        "corrected" => reply.corrected = true,
                        "prepared" => reply.prepared += 1,
                        "failed" => reply.failed = line["code"].as_str().map(ToOwned::to_owned),
                        _ => {}
                    }
                    reply.lines.push(line);
                }
            }
        }
        self.recording.replies.push(reply);
    }

    async fn acts(
        &mut self,
        turn: usize,
        person: &str,
        act: &crate::case::Act,
    ) -> anyhow::Result<()> {
        if act.act == "confirm_parallel_with_turn" {
            return Ok(());
        }
        if act.act == "operator_renames_payee" {
            let customers: Vec<_> = self.recording.ids.customers().map(|(_, id)| id).collect();
            return match self
                .panel
                .rename(&mut self.watch, &customers, &act.text())
                .await
            {
                Ok(()) => self.look(turn, "a payee renamed").await,
                Err(error) => {
                    self.recording.unplayed.push(error.to_string());
                    Ok(())
                }
            };
        }
        let customer = self.person(person).await?;
        let value = self.names(person).fill(&act.text());
        match self.panel.act(turn, person, &customer, act, &value).await? {
            Ok(mut presses) => {
                let is_any = !presses.is_empty();
                for press in presses.iter_mut().filter(|press| press.is_confirmed()) {
                    if let Some(path) = press.answer["receipt"].as_str() {
                        let receipt = receipt(&customer, path).await?;
                        press.receipt = receipt;
                    }
                }
                self.recording.presses.extend(presses);
                if is_any {
                    self.look(turn, &format!("{} after turn {turn}", act.act))
                        .await?;
                }
            }
            Err(unplayed) => self.recording.unplayed.push(unplayed),
        }
        Ok(())
    }
}

/// A receipt's payload, once the bank's log has signed it.
async fn receipt(customer: &Customer, path: &str) -> anyhow::Result<Option<Value>> {
    for _ in 0..RECEIPT_TRIES {
        let answer = customer.get(&format!("{path}.json")).await?;
        if let Some(payload) = answer.body["payload"]
            .as_str()
            .filter(|_| answer.status == 200)
        {
            return Ok(serde_json::from_str(payload).ok());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(None)
}

/// Byte spans of the parts that were pasted.
fn spans(says: &str, pasted: &[String]) -> Value {
    let spans: Vec<Value> = pasted
        .iter()
        .filter_map(|part| {
            let start = says.find(part.as_str())?;
            Some(json!({"kind": "paste", "start": start, "end": start + part.len()}))
        })
        .collect();
    Value::Array(spans)
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
