//! Eight clients at once on the real processes, chat and panel: each records what it saw, and a judge that shares no code with the
//! services holds that against the ledger.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use countersign_history::{Answer, Call, Ledger, Seen, What, judge};
use countersign_testkit::{
    Bank, ledger,
    people::{Customer, PanelAnswer},
};
use serde_json::{Value, json};

/// How long the clients go on; another number of seconds in `HISTORY_SECONDS` for longer runs.
const SECONDS: u64 = 60;
/// Whose sessions the clients have: each customer is two of them.
const CLIENTS: [(&str, [&str; 2]); 8] = [
    ("Ada", ["Bob", "Kabir"]),
    ("Ada", ["Carol", "Noor"]),
    ("Kabir", ["Sam", "Ada"]),
    ("Kabir", ["Ilse", "Sam"]),
    ("Noor", ["Ada", "Ilse"]),
    ("Noor", ["Ilse", "Ada"]),
    ("Ilse", ["Bob", "Carol"]),
    ("Ilse", ["Alice", "Dave"]),
];
/// Longest pause of a client between two calls.
const PAUSE_MILLISECONDS: u64 = 60;

fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// One client: a session of a customer, and what it recorded.
struct Client {
    number: usize,
    id: String,
    payees: [&'static str; 2],
    customer: Customer,
    dice: Dice,
    cards: Vec<Value>,
    history: Vec<Call>,
}

impl Client {
    async fn goes_on_until(mut self, end: tokio::time::Instant) -> anyhow::Result<Vec<Call>> {
        let mut turn = 0;
        while tokio::time::Instant::now() < end {
            turn += 1;
            match self.dice.below(10) {
                // A session has one turn at a time; two sessions of a customer talk at once.
                0..=2 => {
                    let payee = self.payees[usize::try_from(self.dice.below(2))?];
                    let begins = if self.dice.below(4) == 0 {
                        "Also send"
                    } else {
                        "Send"
                    };
                    let cents = 100 + self.dice.below(400);
                    // Refused or not: what counts is what the cards then show.
                    let _ = self
                        .customer
                        .asks(&format!(
                            "{begins} {}.{:02} to {payee}",
                            cents / 100,
                            cents % 100
                        ))
                        .await;
                    self.looks().await?;
                }
                3..=6 => self.presses(turn).await?,
                7 => self.acts("cancel").await?,
                8 => self.acts("undo").await?,
                _ => self.looks().await?,
            }
            tokio::time::sleep(Duration::from_millis(self.dice.below(PAUSE_MILLISECONDS))).await;
        }
        self.looks().await?;
        Ok(self.history)
    }

    fn records(&mut self, start: i64, what: What, answer: Option<Answer>) {
        let (client, customer) = (self.number, self.id.clone());
        self.history.push(Call {
            client,
            customer,
            start,
            end: now(),
            what,
            answer,
        });
    }

    async fn looks(&mut self) -> anyhow::Result<()> {
        let start = now();
        self.cards = self.customer.cards().await?;
        let cards = self.cards.iter().map(seen).collect();
        self.records(
            start,
            What::Look,
            Some(Answer {
                status: 200,
                outcome: None,
                short_code: None,
                balance: None,
                cards,
            }),
        );
        Ok(())
    }

    /// Presses a card as it was last seen, however old that is; some presses are given up before their answer, some are made twice.
    async fn presses(&mut self, turn: usize) -> anyhow::Result<()> {
        let open: Vec<Value> = self
            .cards
            .iter()
            .filter(|card| !card["confirm_hash"].is_null())
            .cloned()
            .collect();
        let Some(card) = open.get(turn % open.len().max(1)).cloned() else {
            return self.looks().await;
        };
        let what = What::Confirm {
            action: text(&card, "action"),
            confirm_hash: text(&card, "confirm_hash"),
        };
        for _ in 0..1 + self.dice.below(2) {
            let start = now();
            let patience = if self.dice.below(8) == 0 {
                2 + self.dice.below(30)
            } else {
                30_000
            };
            let pressed = tokio::time::timeout(
                Duration::from_millis(patience),
                self.customer.confirms(&card),
            )
            .await;
            let answer = match pressed {
                Ok(Ok(answer)) => Some(answered(&answer)),
                // Nobody knows what came of it.
                Ok(Err(_)) | Err(_) => None,
            };
            self.records(start, what.clone(), answer);
        }
        Ok(())
    }

    async fn acts(&mut self, act: &str) -> anyhow::Result<()> {
        let place = self.dice.below(4);
        let Some(card) = self.cards.get(usize::try_from(place)?).cloned() else {
            return self.looks().await;
        };
        let action = text(&card, "action");
        let start = now();
        let answer = self
            .customer
            .act(&card, act, json!({"version": card["version"]}))
            .await?;
        let what = if act == "cancel" {
            What::Cancel { action }
        } else {
            What::Undo { action }
        };
        self.records(start, what, Some(answered(&answer)));
        Ok(())
    }
}

fn text(card: &Value, name: &str) -> String {
    card[name].as_str().unwrap_or_default().to_owned()
}

fn seen(card: &Value) -> Seen {
    Seen {
        action: text(card, "action"),
        state: text(card, "state"),
        undone: card["undone"].is_string(),
    }
}

fn answered(answer: &PanelAnswer) -> Answer {
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
            .parse()
            .ok()
    };
    Answer {
        status: answer.status,
        outcome: answer.body["outcome"].as_str().map(str::to_owned),
        short_code: answer.body["short_code"].as_str().map(str::to_owned),
        balance: answer.body["balance"].as_str().and_then(digits),
        cards: Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_eight_clients_saw_is_what_the_ledger_says() -> anyhow::Result<()> {
    let seconds = std::env::var("HISTORY_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SECONDS);
    let bank = Bank::start_busy().await?;
    let mut admin = bank.database().admin().await?;
    sqlx::query("UPDATE bank.customer_limit SET per_day_minor_units = 99999999, pending_total_minor_units = 99999999").execute(&mut admin).await?;
    // A short time to undo, so that much of it is posted while the clients go on.
    sqlx::query("UPDATE bank.setting SET undo_seconds = 3")
        .execute(&mut admin)
        .await?;
    let mut clients = tokio::task::JoinSet::new();
    let mut ready = Vec::new();
    for (number, (name, payees)) in CLIENTS.into_iter().enumerate() {
        let id = bank.customer(name)?.id.to_string();
        let customer = bank.sign_in(name).await?;
        let dice = Dice(0x1157 + number as u64);
        ready.push(Client {
            number,
            id,
            payees,
            customer,
            dice,
            cards: Vec::new(),
            history: Vec::new(),
        });
    }
    let end = tokio::time::Instant::now() + Duration::from_secs(seconds);
    for client in ready {
        clients.spawn(client.goes_on_until(end));
    }
    let mut history = Vec::new();
    while let Some(recorded) = clients.join_next().await {
        history.extend(recorded??);
    }
    history.sort_by_key(|call| call.start);

    // Everything comes to rest: what can be undone no longer is posted, and every event is in the log.
    for _ in 0..300 {
        let moving: i64 = sqlx::query_scalar(
            "SELECT (SELECT count(*) FROM bank.transfer WHERE state = 'reserved') + (SELECT count(*) FROM bank.bank_event WHERE leaf_index IS NULL)",
        )
        .fetch_one(&mut admin)
        .await?;
        if moving == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut export = Vec::new();
    ledger::export(&mut admin, &mut export).await?;
    let export = String::from_utf8(export)?;
    if let Ok(folder) = std::env::var("HISTORY_FOLDER") {
        keep(&folder, &history, &export)?;
    }
    let final_ledger = Ledger::read(&export)?;
    let confirmed = |call: &&Call| {
        matches!(call.what, What::Confirm { .. })
            && call
                .answer
                .as_ref()
                .is_some_and(|answer| answer.outcome.is_some())
    };
    println!(
        "{} calls in {seconds} seconds, {} acknowledged presses, {} receipts, {} undone, {} presses without an answer",
        history.len(),
        history.iter().filter(confirmed).count(),
        final_ledger.receipts.len(),
        final_ledger.undone.len(),
        history.iter().filter(|call| call.answer.is_none()).count()
    );
    assert_eq!(judge(&history, &final_ledger), Vec::<String>::new());
    assert!(final_ledger.receipts.len() >= 3, "somebody paid something");

    // The judge is awake: the same history with a lie in the ledger is not accepted.
    // It must be a payment that stands: what was undone has its entries and their reverse, which come to nothing twice as well.
    let paid = final_ledger
        .receipts
        .iter()
        .position(|receipt| {
            let undone = final_ledger
                .undone
                .iter()
                .any(|(action, _)| *action == receipt.action);
            !undone && !receipt.lines.is_empty()
        })
        .context("a payment that stands")?;
    let some = final_ledger.receipts.get(paid).context("it is there")?;
    let mut doubled = final_ledger.clone();
    let again: Vec<_> = doubled
        .legs
        .iter()
        .filter(|leg| some.lines.iter().any(|line| line.0 == leg.transfer))
        .cloned()
        .collect();
    doubled.legs.extend(again);
    assert!(!judge(&history, &doubled).is_empty(), "double entries");
    let mut lost = final_ledger.clone();
    lost.receipts.remove(paid);
    assert!(!judge(&history, &lost).is_empty(), "a lost Confirm");
    let mut unasked = history.clone();
    unasked.retain(
        |call| !matches!(&call.what, What::Confirm { action, .. } if *action == some.action),
    );
    assert!(
        !judge(&unasked, &final_ledger).is_empty(),
        "an execution that nobody pressed"
    );
    Ok(())
}

/// Leaves both files for whoever wants to look.
fn keep(folder: &str, history: &[Call], export: &str) -> anyhow::Result<()> {
    let lines: Vec<String> = history
        .iter()
        .map(serde_json::to_string)
        .collect::<Result<_, _>>()?;
    std::fs::create_dir_all(folder)?;
    std::fs::write(format!("{folder}/history.jsonl"), lines.join("\n"))?;
    std::fs::write(format!("{folder}/ledger.jsonl"), export)?;
    Ok(())
}
