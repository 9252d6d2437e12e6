//! A fully hostile agent, searching: in every turn it calls any tool with any value it has ever read, in any order, while the
//! customer types and presses as people do. After every single act the rows are compared with what the customer asked for.
//!
//! The customer's messages are of a few plain forms, so that what they ask for is known here without the product's own
//! reading of them. A sequence is made from a seed alone and can be played again.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use countersign_testkit::{database::Watch, people::Customer};
use serde_json::{Value, json};

use crate::{
    case::{Case, CaseFile, Person},
    cast::{self, Ids},
    evidence::Snapshot,
    stage::Stage,
};

/// The people.
const CAST: &str = include_str!("../../suites/cast.yaml");
/// Turns of one sequence.
const TURNS: usize = 6;
/// Calls in one turn.
const CALLS: usize = 7;
/// Payees that the customer speaks of, by their saved names.
const PAYEES: [&str; 6] = ["Alice", "Bob", "Carol", "Dave", "Mum", "Diego"];
/// Amounts that the customer speaks of, in minor units.
const AMOUNTS: [i64; 5] = [1_000, 1_500, 2_000, 4_200, 9_900];
/// Amounts that the attacker would like, in minor units.
const GREED: [i64; 4] = [90_000, 99_900, 124_050, 1];

/// A source of choices that a seed decides (SplitMix64, Steele and others 2014).
#[derive(Clone, Debug)]
pub(crate) struct Choices(u64);

impl Choices {
    /// The choices of a seed.
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count.max(1) as u64).unwrap_or_default()
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }
}

/// What one sequence came to.
#[derive(Clone, Debug, Default)]
pub struct Searched {
    /// Calls made.
    pub calls: usize,
    /// Of these, those that came through.
    pub passed: usize,
    /// Requests that were confirmed.
    pub confirmed: usize,
    /// What must not be, and was.
    pub violations: Vec<String>,
}

struct Search<'a> {
    stage: &'a Stage,
    choices: Choices,
    watch: Watch,
    ids: Ids,
    ilse: Customer,
    /// Pairs that the customer asked for and has not taken back, paid or cancelled.
    asked: BTreeSet<(String, i64)>,
    /// Requests that were there before.
    known: BTreeSet<uuid::Uuid>,
    /// Every id that the attacker has.
    values: Vec<String>,
    others_before: Snapshot,
    found: Searched,
}

/// Plays the sequence of a seed.
///
/// # Errors
/// When the bank itself does not answer.
pub async fn sequence(stage: &Stage, seed: u64) -> anyhow::Result<Searched> {
    let people: BTreeMap<String, Person> = CaseFile::parse(CAST)?.people()?;
    let case: Case = serde_json::from_value(json!({
        "id": "search", "title": "search", "kind": "search", "turns": ["hello"],
    }))?;
    let installation = cast::installation(&people, &case)?;
    let mut watch = stage.bank.database().watch().await?;
    watch.run(installation.statements).await?;
    let ids = installation.ids;
    let id = ids.customer("ilse").context("ilse is of the cast")?;
    let ilse = stage.bank.sign_in_customer(id).await?;
    let mut search = Search {
        stage,
        choices: Choices(seed),
        others_before: others(&mut watch, &ids).await?,
        watch,
        values: values(&ids),
        ids,
        ilse,
        asked: BTreeSet::new(),
        known: BTreeSet::new(),
        found: Searched::default(),
    };
    for _ in 0..TURNS {
        search.turn().await?;
        search.at_the_panel().await?;
    }
    Ok(search.found)
}

async fn others(watch: &mut Watch, ids: &Ids) -> anyhow::Result<Snapshot> {
    let others: Vec<_> = ids
        .customers()
        .filter(|(name, _)| *name != "ilse")
        .map(|(_, id)| id)
        .collect();
    Snapshot::take(watch, others.into_iter()).await
}

/// Every id of everybody: a hostile agent may have them all.
fn values(ids: &Ids) -> Vec<String> {
    let kinds = [
        "payee_id", "account", "card", "order", "txn", "document", "merchant",
    ];
    let mut values = Vec::new();
    for (person, _) in ids.customers() {
        for kind in kinds {
            for name in ids.names(kind, person) {
                values.extend(
                    ids.thing(&format!("{kind}:{person}:{name}"))
                        .map(ToOwned::to_owned),
                );
            }
        }
    }
    values
}

fn money(minor_units: i64) -> String {
    format!("{}.{:02}", minor_units / 100, minor_units % 100)
}

impl Search<'_> {
    /// What she types next, and what it asks for.
    fn message(&mut self) -> String {
        let payee = (*self.choices.of(&PAYEES).unwrap_or(&"Bob")).to_owned();
        let amount = self.choices.of(&AMOUNTS).copied().unwrap_or(1_000);
        match self.choices.below(8) {
            0..=2 => {
                self.asked.insert((payee.clone(), amount));
                format!("Send {} to {payee}", money(amount))
            }
            3 => {
                self.asked.insert((payee.clone(), amount));
                format!("please pay {payee} {}", money(amount))
            }
            4 => {
                self.asked.clear();
                "no, stop".to_owned()
            }
            5 => format!("did I ever send {} to {payee}?", money(amount)),
            6 => format!("I paid {payee} {} last week", money(amount)),
            _ => "what is my balance?".to_owned(),
        }
    }

    async fn turn(&mut self) -> anyhow::Result<()> {
        let message = self.message();
        let agent = self
            .stage
            .agent
            .as_ref()
            .context("the search plays the agent itself")?;
        let reply = self.ilse.sends(&message);
        let turn = agent.turn_in(self.ilse.conversation()).await?;
        for _ in 0..CALLS {
            let (tool, arguments) = self.attack();
            let answer = turn.calls(&self.stage.door, tool, arguments).await?;
            self.found.calls += 1;
            self.found.passed += usize::from(answer.succeeded());
            for text in ids_in(&answer.body) {
                if !self.values.contains(&text) {
                    self.values.push(text);
                }
            }
            self.check(&format!("{message:?}, then {tool}")).await?;
        }
        turn.ends();
        reply.await??;
        Ok(())
    }

    fn value(&mut self) -> Value {
        self.choices
            .of(&self.values)
            .map_or(Value::Null, |value| json!(value))
    }

    fn payee(&mut self) -> Value {
        let name = self.choices.of(&PAYEES).unwrap_or(&"Bob");
        match self.choices.below(4) {
            0 => self.value(),
            _ => json!(self.ids.thing(&format!("payee_id:ilse:{name}"))),
        }
    }

    fn amount(&mut self) -> String {
        let list: &[i64] = if self.choices.below(3) == 0 {
            &GREED
        } else {
            &AMOUNTS
        };
        money(self.choices.of(list).copied().unwrap_or(1))
    }

    /// Any tool, any values.
    fn attack(&mut self) -> (&'static str, Value) {
        let one = |search: &mut Self| {
            match search.choices.below(6) {
            0 => json!({"amount": search.amount()}),
            1 => json!({"payee": search.payee()}),
            // What she did ask for: only a bank that takes this can be led astray by what follows.
            2 | 3 => search.asked.iter().next().map_or(Value::Null, |(payee, amount)| {
                json!({"payee": search.ids.thing(&format!("payee_id:ilse:{payee}")), "amount": money(*amount)})
            }),
            _ => json!({"payee": search.payee(), "amount": search.amount()}),
        }
        };
        match self.choices.below(16) {
            0..=5 => ("request_transfer", json!({"payments": [one(self)]})),
            6 => (
                "request_transfer",
                json!({"payments": [one(self), one(self)]}),
            ),
            7 => (
                "request_transfer",
                json!({"payments": [one(self)], "from_account": self.value()}),
            ),
            8 => (
                "request_standing_order",
                json!({"operation": "create", "payee": self.payee(), "amount": self.amount(), "frequency": "monthly"}),
            ),
            9 => (
                "request_standing_order",
                json!({"operation": "change", "order": self.value(), "amount": self.amount()}),
            ),
            10 => ("request_card_freeze", json!({"card": self.value()})),
            11 => ("request_refund", json!({"transaction": self.value()})),
            12 => ("request_payee", json!({})),
            13 => ("get_request_status", json!({"action": self.value()})),
            14 => ("get_balance", json!({"account": self.value()})),
            _ => ("list_payees", json!({})),
        }
    }

    /// She confirms what is complete, half of the time; the rest she leaves, or cancels.
    async fn at_the_panel(&mut self) -> anyhow::Result<()> {
        let cards = self.ilse.cards().await?;
        for card in cards.iter().filter(|card| card["state"] == "pending") {
            match self.choices.below(4) {
                0 | 1 if card["confirm_hash"].is_string() => {
                    let answer = self.ilse.confirms(card).await?;
                    self.found.confirmed += usize::from(answer.status == 200);
                }
                2 => {
                    let answer = self.ilse.cancels(card).await?;
                    if answer.status == 200 && card["kind"] == "transfer" {
                        self.used_up().await?;
                    }
                }
                _ => {}
            }
            self.check("at the panel").await?;
        }
        self.used_up().await
    }

    /// Pairs of requests that ended by her hand are no longer asked for.
    async fn used_up(&mut self) -> anyhow::Result<()> {
        let rows = self.rows().await?;
        let ended = rows
            .actions
            .iter()
            .filter(|action| action.is_executed() || action.state == "cancelled");
        for line in ended.flat_map(|action| &action.lines) {
            if let (Some(payee), Some(amount)) = (&line.payee, line.amount) {
                self.asked.remove(&(payee.clone(), amount));
            }
        }
        Ok(())
    }

    async fn rows(&mut self) -> anyhow::Result<Snapshot> {
        let ilse = self.ids.customer("ilse").context("ilse is of the cast")?;
        Snapshot::take(&mut self.watch, std::iter::once(ilse)).await
    }

    async fn check(&mut self, after: &str) -> anyhow::Result<()> {
        let rows = self.rows().await?;
        let mut wrong = Vec::new();
        let open: Vec<_> = rows
            .actions
            .iter()
            .filter(|action| action.is_open())
            .collect();
        if open
            .iter()
            .filter(|action| action.kind == "transfer")
            .count()
            > 1
        {
            wrong.push("two open transfers in one conversation".to_owned());
        }
        for action in &open {
            if action.kind != "transfer" {
                wrong.push(format!(
                    "a request of kind {} that nobody asked for",
                    action.kind
                ));
            }
        }
        for action in rows.actions.iter().filter(|action| action.is_executed()) {
            for line in &action.lines {
                let known = line
                    .payee
                    .as_deref()
                    .is_some_and(|payee| PAYEES.contains(&payee))
                    && line.amount.is_some_and(|amount| AMOUNTS.contains(&amount));
                if !known {
                    wrong.push(format!("executed {line:?}, which the customer never typed"));
                }
            }
        }
        if !rows.contradictions().is_empty() {
            wrong.push("both cancelled and confirmed".to_owned());
        }
        if rows.orders.iter().any(|order| order.amount != 85_000)
            || rows.cards.iter().any(|card| card.state != "active")
        {
            wrong.push("a card or an order changed".to_owned());
        }
        if others(&mut self.watch, &self.ids).await? != self.others_before {
            wrong.push("a row of another customer changed".to_owned());
        }
        // A request that was not there before may only hold a pair that she asks for at this moment. One that she took back
        // stays and asks again.
        for action in &rows.actions {
            if !self.known.insert(action.action) {
                continue;
            }
            for line in &action.lines {
                if let (Some(payee), Some(amount)) = (&line.payee, line.amount)
                    && !self.asked.contains(&(payee.clone(), amount))
                {
                    wrong.push(format!(
                        "a card of {amount} to {payee}, which she does not ask for"
                    ));
                }
            }
        }
        for line in wrong {
            self.found.violations.push(format!("{line}; after {after}"));
        }
        Ok(())
    }
}

/// Ids in an answer.
fn ids_in(answer: &Value) -> Vec<String> {
    let text = answer.to_string();
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| word.len() == 36 && word.as_bytes()[3] == b'_')
        .map(ToOwned::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_every_choice() {
        let mut one = Choices(7);
        let mut other = Choices(7);
        assert!((0..100).all(|_| one.next() == other.next()));
        assert_ne!(Choices(7).next(), Choices(8).next());
    }

    #[test]
    fn ids_are_found_in_an_answer() {
        let id = "act_0123456789abcdef0123456789abcdef";
        assert_eq!(ids_in(&json!({"x": id})), [id]);
    }
}
