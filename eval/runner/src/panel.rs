//! The customer's hands on the panel: what is pressed and typed, over HTTP as the page does it.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::Context;
use countersign_domain::CustomerId;
use countersign_testkit::{database::Watch, people::Customer};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    case::Act,
    recording::{Effort, Press},
    sql::{literal, uuid_literal},
};

/// Longest real waiting that a case may ask for.
const WAIT_SECONDS_MAX: u64 = 2;

/// What an act led to, or why it could not be done here.
type Acted = Result<Vec<Press>, String>;

/// What stands on the screens of one playing.
#[derive(Debug, Default)]
pub struct Panel {
    tabs: BTreeMap<String, Vec<Value>>,
    /// What stood on each person's page after each entry.
    shown: Vec<(usize, String, Vec<Value>)>,
    note: String,
    effort: Effort,
}

impl Panel {
    /// The press of a customer who confirms whatever is complete.
    #[must_use]
    pub fn rubber_stamp(turn: usize) -> Act {
        Act {
            after_turn: turn,
            act: "confirm_if_open".to_owned(),
            value: None,
            tab: None,
            person: None,
        }
    }

    /// The cards on a person's page after an entry, before anything is pressed.
    pub fn shows(&mut self, turn: usize, person: &str, cards: &[Value]) {
        self.shown.push((turn, person.to_owned(), cards.to_vec()));
    }

    /// What stands on that screen. One that was never opened by name was opened with the page: a named one after this entry, and
    /// one that was not drawn again since, before it.
    fn screen(&self, at: &At<'_>, tab: &str, stale: bool) -> Option<Vec<Value>> {
        if let Some(cards) = self.tabs.get(tab) {
            return Some(cards.clone());
        }
        let own = self.shown.iter().rev();
        let mut own = own.filter(|(turn, person, cards)| {
            person == at.person
                && (!stale || *turn < at.turn || !tab.is_empty())
                && newest(cards, stale).is_some()
        });
        (stale || !tab.is_empty())
            .then(|| own.next().map(|(_, _, cards)| cards.clone()))
            .flatten()
    }

    /// What the customer had to do so far.
    #[must_use]
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Does one act of a case.
    ///
    /// # Errors
    /// When the panel does not answer at all.
    pub async fn act(
        &mut self,
        turn: usize,
        person: &str,
        customer: &Customer,
        act: &Act,
        value: &str,
    ) -> anyhow::Result<Acted> {
        let tab = act.tab.clone().unwrap_or_default();
        let at = At {
            turn,
            person,
            customer,
            act: &act.act,
        };
        Ok(Ok(match act.act.as_str() {
            "open_tab" => {
                self.tabs.insert(tab, customer.cards().await?);
                Vec::new()
            }
            "confirm" | "confirm_newest" | "press" | "confirm_within" => {
                match self.card_for(&at, &tab, false).await? {
                    Some(card) => vec![self.confirm(&at, card).await?],
                    None => return Ok(Ok(Vec::new())),
                }
            }
            // A press that leaves out the passkey, as a page would that somebody has tampered with.
            "confirm_without_passkey" => match newest(&customer.cards().await?, true) {
                Some(card) => {
                    let began = Instant::now();
                    let body = json!({
                        "version": card["version"], "confirm_hash": card["confirm_hash"],
                        "nonce": card["nonce"], "note": "",
                    });
                    let answer = customer.act(&card, "confirm", body).await?;
                    vec![at.press(card, answer.status, answer.body, began)]
                }
                None => Vec::new(),
            },
            "confirm_stale" => match self.card_for(&at, &tab, true).await? {
                Some(card) => vec![self.confirm(&at, card).await?],
                None => return Ok(Err("confirm_stale: no card was on that screen".to_owned())),
            },
            "confirm_if_open" => match newest(&customer.cards().await?, true) {
                Some(card) => vec![self.confirm(&at, card).await?],
                None => Vec::new(),
            },
            "double_click_confirm" => match self.card_for(&at, &tab, false).await? {
                Some(card) => {
                    let (one, other) = tokio::join!(
                        confirm(&at, card.clone(), self.note.clone()),
                        confirm(&at, card, self.note.clone())
                    );
                    self.counted(vec![one?, other?])
                }
                None => Vec::new(),
            },
            "back_and_confirm" => match self.card_for(&at, &tab, false).await? {
                Some(card) => {
                    let first = confirm(&at, card.clone(), self.note.clone()).await?;
                    self.counted(vec![first, confirm(&at, card, self.note.clone()).await?])
                }
                None => Vec::new(),
            },
            "cancel" | "cancel_newest" | "keep" => match newest(&customer.cards().await?, false) {
                Some(card) => vec![plain(&at, card, act.act.trim_end_matches("_newest")).await?],
                None => Vec::new(),
            },
            "drop" | "drop_payment" => match newest(&customer.cards().await?, false) {
                Some(card) => vec![drop_line(&at, card, value).await?],
                None => Vec::new(),
            },
            "parallel" => return self.parallel(&at, value).await,
            "type_note" => {
                value.clone_into(&mut self.note);
                self.effort.typed += 1;
                Vec::new()
            }
            "pick_payee" | "pick" => self.fill(&at, &["payee"], value).await?,
            "pick_account" => self.fill(&at, &["from_account"], value).await?,
            "pick_card" => self.fill(&at, &["card"], value).await?,
            "pick_order" => self.fill(&at, &["order"], value).await?,
            "pick_transaction" => self.fill(&at, &["transaction"], value).await?,
            "pick_frequency" => self.fill(&at, &["frequency"], value).await?,
            "pick_reason" => self.fill(&at, &["dispute_reason"], value).await?,
            "type_amount" => self.fill(&at, &["amount"], value).await?,
            "type_payee_iban" => self.fill(&at, &["payee_iban"], value).await?,
            "type_payee_name" => self.fill(&at, &["payee_name"], value).await?,
            "type_dispute_details" => self.fill(&at, &["details"], value).await?,
            "type_value" | "type_address" => self.fill(&at, &["value"], value).await?,
            "wait" => {
                let seconds = value
                    .trim_end_matches('s')
                    .trim()
                    .parse()
                    .unwrap_or(WAIT_SECONDS_MAX + 1);
                if seconds > WAIT_SECONDS_MAX {
                    return Ok(Err(format!("wait {value:?}: longer than a run waits")));
                }
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                Vec::new()
            }
            "confirm_as" => {
                return Ok(Err(
                    "confirm_as needs the other person's page: use `as`".to_owned()
                ));
            }
            "drop_push" | "sees" | "look" | "nothing" => Vec::new(),
            "undo" => match customer.cards().await?.first() {
                Some(card) => vec![plain(&at, card.clone(), "undo").await?],
                None => Vec::new(),
            },
            "sign_out" | "log_out" => {
                let began = Instant::now();
                let answer = customer.post("/logout", json!({})).await?;
                vec![at.press(Value::Null, answer.status, answer.body, began)]
            }
            // A slot by its own name.
            other if other.starts_with("type_") || other.starts_with("pick_") => {
                let slot = other.split_once('_').map_or("", |(_, slot)| slot);
                self.fill(&at, &[slot], value).await?
            }
            other => return Ok(Err(format!("act {other:?} is not known"))),
        }))
    }

    /// Starts a press that runs while the turn goes on.
    ///
    /// # Errors
    /// When the cards cannot be read.
    pub async fn press_in_background(
        &mut self,
        turn: usize,
        person: &str,
        customer: &Customer,
        act: &Act,
    ) -> anyhow::Result<Option<JoinHandle<anyhow::Result<Press>>>> {
        let tab = act.tab.clone().unwrap_or_default();
        let at = At {
            turn,
            person,
            customer,
            act: &act.act,
        };
        let Some(card) = self.card_for(&at, &tab, false).await? else {
            return Ok(None);
        };
        let (person, customer, name, note) = (
            person.to_owned(),
            customer.clone(),
            act.act.clone(),
            self.note.clone(),
        );
        Ok(Some(tokio::spawn(async move {
            let at = At {
                turn,
                person: &person,
                customer: &customer,
                act: &name,
            };
            confirm(&at, card, note).await
        })))
    }

    /// `Bob to Robert`: the bank changes a payee's name under everybody.
    ///
    /// # Errors
    /// When the words name no payee.
    pub async fn rename(
        &self,
        watch: &mut Watch,
        customers: &[CustomerId],
        words: &str,
    ) -> anyhow::Result<()> {
        let (from, to) = words
            .split_once(" to ")
            .with_context(|| format!("operator_renames_payee {words:?}: say `old to new`"))?;
        let keys: Vec<String> = customers.iter().map(|id| uuid_literal(id.uuid())).collect();
        watch
            .run(format!(
                "UPDATE bank.payee SET name = {} WHERE name = {} AND customer_id IN ({})",
                literal(to.trim()),
                literal(from.trim()),
                keys.join(", ")
            ))
            .await
    }

    /// The card on that screen: as it was when the tab was opened where `stale`, as it is now otherwise.
    async fn card_for(&self, at: &At<'_>, tab: &str, stale: bool) -> anyhow::Result<Option<Value>> {
        let customer = at.customer;
        let displayed = self
            .screen(at, tab, stale)
            .map(|cards| newest(&cards, true));
        if stale {
            return Ok(displayed.flatten());
        }
        let now = customer.cards().await?;
        // A customer who wants to pay answers what the card asks about the payee first; see `confirm`.
        Ok(newest(&now, true)
            .or_else(|| newest(&now, false).filter(asks_about_the_payee_alone))
            .or_else(|| displayed.flatten()))
    }

    async fn confirm(&mut self, at: &At<'_>, card: Value) -> anyhow::Result<Press> {
        let card = self.answer_about_the_payee(at, card).await?;
        let press = confirm(at, card, std::mem::take(&mut self.note)).await?;
        Ok(self.counted(vec![press]).remove(0))
    }

    /// Fills what a new payee's card asks: why, and the end of the account that the customer knows.
    async fn answer_about_the_payee(
        &mut self,
        at: &At<'_>,
        mut card: Value,
    ) -> anyhow::Result<Value> {
        for _ in 0..4 {
            if !asks_about_the_payee_alone(&card) {
                return Ok(card);
            }
            let slot = card["open_slots"][0].clone();
            let value = match slot["choices"][0]["value"].as_str() {
                Some(choice) => choice.to_owned(),
                None => end_of_account(&card).unwrap_or_default(),
            };
            self.fill_slot(at, &card, &slot, &value).await?;
            match newest(&at.customer.cards().await?, false) {
                Some(next) => card = next,
                None => return Ok(card),
            }
        }
        Ok(card)
    }

    fn counted(&mut self, presses: Vec<Press>) -> Vec<Press> {
        let good = |press: &&Press| press.status == 200;
        self.effort.confirmations += usize::from(presses.iter().any(|press| good(&press)));
        presses
    }

    async fn parallel(&mut self, at: &At<'_>, words: &str) -> anyhow::Result<Acted> {
        let mut acts = Vec::new();
        for part in words.split(',') {
            let (act, tab) = part.trim().split_once(" in ").unwrap_or((part.trim(), ""));
            let card = self
                .screen(at, tab.trim(), false)
                .and_then(|cards| newest(&cards, false));
            let card = match card {
                Some(card) => Some(card),
                None => newest(&at.customer.cards().await?, false),
            };
            let Some(card) = card else {
                return Ok(Err(format!("parallel {words:?}: no card on that screen")));
            };
            let (person, customer) = (at.person.to_owned(), at.customer.clone());
            let (act, turn) = (act.to_owned(), at.turn);
            acts.push(tokio::spawn(async move {
                let at = At {
                    turn,
                    person: &person,
                    customer: &customer,
                    act: &act,
                };
                if act == "confirm" {
                    confirm(&at, card, String::new()).await
                } else {
                    plain(&at, card, &act).await
                }
            }));
        }
        let mut presses = Vec::new();
        for act in acts {
            presses.push(act.await??);
        }
        Ok(Ok(self.counted(presses)))
    }

    async fn fill(
        &mut self,
        at: &At<'_>,
        slots: &[&str],
        value: &str,
    ) -> anyhow::Result<Vec<Press>> {
        let cards = at.customer.cards().await?;
        let open = cards.iter().filter(|card| card["state"] == "pending");
        for card in open {
            let slot = card["open_slots"].as_array().into_iter().flatten();
            let mut slot = slot;
            let slot = slot.find(|slot| slots.iter().any(|name| slot["slot"] == *name));
            let Some(slot) = slot else { continue };
            let choices = slot["choices"].as_array().into_iter().flatten();
            let choice = choices
                .filter(|choice| {
                    let label = choice["label"].as_str().unwrap_or_default();
                    label.to_lowercase().contains(&value.to_lowercase()) || choice["value"] == value
                })
                .find_map(|choice| choice["value"].as_str());
            let value = choice.unwrap_or(value).to_owned();
            return Ok(vec![self.fill_slot(at, card, slot, &value).await?]);
        }
        Ok(Vec::new())
    }

    async fn fill_slot(
        &mut self,
        at: &At<'_>,
        card: &Value,
        slot: &Value,
        value: &str,
    ) -> anyhow::Result<Press> {
        let name = slot["slot"].as_str().unwrap_or_default();
        let line = slot["line"]
            .as_i64()
            .and_then(|line| i16::try_from(line).ok())
            .unwrap_or_default();
        let began = Instant::now();
        let answer = at.customer.fills(card, name, line, value).await?;
        if slot["choices"].is_array() {
            self.effort.picks += 1;
        } else {
            self.effort.typed += 1;
        }
        Ok(at.press(card.clone(), answer.status, answer.body, began))
    }
}

struct At<'a> {
    turn: usize,
    person: &'a str,
    customer: &'a Customer,
    act: &'a str,
}

impl At<'_> {
    fn press(&self, card: Value, status: u16, answer: Value, began: Instant) -> Press {
        Press {
            turn: self.turn,
            person: self.person.to_owned(),
            act: self.act.to_owned(),
            status,
            answer,
            card,
            took: began.elapsed(),
            receipt: None,
        }
    }
}

async fn confirm(at: &At<'_>, card: Value, note: String) -> anyhow::Result<Press> {
    let began = Instant::now();
    let answer = at.customer.confirms_with_note(&card, &note).await?;
    Ok(at.press(card, answer.status, answer.body, began))
}

async fn plain(at: &At<'_>, card: Value, act: &str) -> anyhow::Result<Press> {
    let began = Instant::now();
    let answer = at
        .customer
        .act(&card, act, json!({"version": card["version"]}))
        .await?;
    Ok(at.press(card, answer.status, answer.body, began))
}

/// The line is named by its number or by the payee on it.
async fn drop_line(at: &At<'_>, card: Value, value: &str) -> anyhow::Result<Press> {
    let payments = card["payments"].as_array().into_iter().flatten();
    let named = payments
        .filter(|payment| {
            payment["about"]
                .as_str()
                .unwrap_or_default()
                .contains(value)
        })
        .find_map(|payment| payment["line"].as_i64());
    let line = named.or_else(|| value.parse().ok()).unwrap_or_default();
    let began = Instant::now();
    let answer = at
        .customer
        .drops(&card, i16::try_from(line).unwrap_or_default())
        .await?;
    Ok(at.press(card, answer.status, answer.body, began))
}

/// The newest card that waits, complete where that is asked for.
fn newest(cards: &[Value], complete: bool) -> Option<Value> {
    cards
        .iter()
        .find(|card| card["state"] == "pending" && (!complete || card["confirm_hash"].is_string()))
        .cloned()
}

/// Slots with which the bank makes sure of a new payee; whoever wants to pay answers them.
fn asks_about_the_payee_alone(card: &Value) -> bool {
    let slots = card["open_slots"].as_array().into_iter().flatten();
    let mut names = slots
        .map(|slot| slot["slot"].as_str().unwrap_or_default())
        .peekable();
    names.peek().is_some() && names.all(|name| matches!(name, "purpose" | "last_four"))
}

/// The last four characters of the account on the card: what the customer reads on the payee's own letter.
fn end_of_account(card: &Value) -> Option<String> {
    let rows = card["rows"].as_array()?;
    let text: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["value"].as_str())
        .collect();
    let account = text
        .iter()
        .rev()
        .find_map(|value| value.rsplit_once("·· "))?
        .1;
    Some(account.chars().take(4).collect())
}
