//! Plays a case in a bank: types what is typed, does what the model does, presses what is pressed, and looks at the
//! bank's rows after every single act.

mod copier;
mod hands;
mod model;

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use anyhow::Context;
use countersign_domain::{ActionId, PayeeId};
use countersign_testkit::{database::Watch, people::Customer};
use serde_json::{Value, json};

use crate::{
    case::{Case, Entry, Person, Step},
    cast::{self, PLACES},
    evidence::Snapshot,
    panel::Panel,
    recording::{Moment, Recording, Reply, Seen},
    stage::Stage,
    tools::Names,
};

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
    /// And besides picks and types on the panel whatever the chat says, after every turn, and confirms it.
    Copier,
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
            Self::Copier => "copier",
        })
    }
}

/// One playing, entry by entry.
pub struct Play<'a> {
    stage: &'a Stage,
    case: Case,
    driver: Driver,
    watch: Watch,
    recording: Recording,
    people: BTreeMap<String, Customer>,
    sessions: BTreeMap<(String, u32), Customer>,
    actions: BTreeMap<String, Vec<String>>,
    tokens: BTreeMap<usize, String>,
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
    let mut play = Play::begin(stage, people, case, driver).await?;
    for (index, entry) in case.turns.iter().enumerate() {
        play.entry(index + 1, entry, at_panel).await?;
    }
    play.end().await
}

impl<'a> Play<'a> {
    /// Puts the case's people into the bank.
    ///
    /// # Errors
    /// When the cast cannot be read or the bank does not take it.
    pub async fn begin(
        stage: &'a Stage,
        people: &BTreeMap<String, Person>,
        case: &Case,
        driver: Driver,
    ) -> anyhow::Result<Self> {
        let installation = cast::installation(people, case)?;
        let mut watch = stage.bank.database().watch().await?;
        watch
            .run(installation.statements)
            .await
            .context("put the cast into the bank")?;
        let mut play = Self {
            stage,
            case: case.clone(),
            driver,
            watch,
            recording: Recording {
                ids: installation.ids,
                ..Recording::default()
            },
            people: BTreeMap::new(),
            sessions: BTreeMap::new(),
            actions: BTreeMap::new(),
            tokens: BTreeMap::new(),
            cursor: None,
            panel: Panel::default(),
        };
        play.name_what_cannot_be_played();
        play.look(0, "the beginning").await?;
        Ok(play)
    }

    /// Plays one entry: what is typed, what the model does, what is pressed.
    ///
    /// # Errors
    /// When the bank itself does not answer.
    pub async fn entry(
        &mut self,
        turn: usize,
        entry: &Entry,
        at_panel: AtPanel,
    ) -> anyhow::Result<()> {
        self.turn(turn, entry)
            .await
            .with_context(|| format!("turn {turn}"))?;
        let acts: Vec<_> = self
            .case
            .customer_on_panel
            .iter()
            .filter(|act| act.after_turn == turn)
            .cloned()
            .collect();
        for act in acts {
            let person = act.person.clone().unwrap_or_else(|| entry.person.clone());
            self.acts(turn, &person, &act).await?;
        }
        match at_panel {
            AtPanel::Faithful => {}
            AtPanel::RubberStamp => {
                let act = Panel::rubber_stamp(turn);
                self.acts(turn, &entry.person, &act).await?;
            }
            AtPanel::Copier => self.copies(turn, &entry.person).await?,
        }
        Ok(())
    }

    /// Ends the playing and hands over what it left behind.
    ///
    /// # Errors
    /// When a page that a line is about cannot be read.
    pub async fn end(mut self) -> anyhow::Result<Recording> {
        self.keep_pages().await?;
        self.recording.effort = self.panel.effort();
        self.recording.actions = std::mem::take(&mut self.actions);
        Ok(self.recording)
    }

    /// What has happened so far.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Gives a fooled model something more to do.
    pub fn adds(&mut self, step: Step) {
        self.case.hostile_model.push(step);
    }

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
            if step.repeat.is_some_and(|times| times > model::REPEAT_MAX) {
                unplayed.push(format!(
                    "a step repeated more than {} times: cut there",
                    model::REPEAT_MAX
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

    fn names<'n>(&'n self, speaker: &'n str) -> Names<'n> {
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
        // What was saved since has an id that a model may name.
        let people: Vec<_> = self
            .recording
            .ids
            .customers()
            .map(|(name, id)| (name.to_owned(), id))
            .collect();
        for (person, id) in people {
            for row in rows.payees.iter().filter(|row| row.customer == id.uuid()) {
                let name = format!("payee_id:{person}:{}", row.name);
                if self.recording.ids.thing(&name).is_none() {
                    let payee = PayeeId::from_uuid(row.payee).to_string();
                    self.recording
                        .ids
                        .keep("payee_id", &person, &row.name, payee);
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
        self.recording
            .conversations
            .insert(entry.session, customer.conversation().to_owned());
        self.sessions.insert(key, customer.clone());
        Ok(customer)
    }

    async fn turn(&mut self, number: usize, entry: &Entry) -> anyhow::Result<()> {
        let customer = self.session(entry).await?;
        let says = self.names(&entry.person).fill(&entry.says);
        self.recording
            .typed
            .push((entry.person.clone(), says.clone()));
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
        let cards = customer.cards().await?;
        self.panel.shows(number, &entry.person, &cards);
        for card in cards {
            self.recording.cards.push(Seen {
                turn: number,
                person: entry.person.clone(),
                card,
            });
        }
        // After the cards, which leave their showing in the log.
        self.look(number, &format!("turn {number}")).await
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
                        "text" | "foreign" => {
                            reply.text += line["text"].as_str().unwrap_or_default();
                        }
                        "nothing_done" | "corrected" => reply.corrected = true,
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
