//! What the bank adds to a turn, without the model: from the stored message to the agent, and from the agent to the
//! browser, while fifty customers chat at once. `cargo bench -p countersign-intake --bench turn`.
//!
//! The chat origin is the released program, the database a PostgreSQL that flushes every commit, browser and agent are
//! this process. The agent thinks and writes at a model's pace; `-- --thinks 0 --between 0` leaves both out, and fifty
//! customers then ask as fast as they are answered. `-- --check` fails when the bar is missed.

#[path = "../../tests/chat/bank.rs"]
#[expect(dead_code, reason = "the tests of the chat use more of it")]
mod bank;
mod fake_agent;
mod figures;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use countersign_testkit::{Database, TestServer, postgres::Durability, server::start_cluster};
use serde_json::{Value, json};
use sqlx::{Connection as _, Row as _};
use time::OffsetDateTime;

use bank::{Bank, Chat, Customer};
use fake_agent::{FakeAgent, Pace, SENTENCES};
use figures::{Figures, milliseconds, p};

/// What the bank may add beside one commit.
const BAR: Duration = Duration::from_millis(10);
/// Between two commits that are timed.
const BETWEEN_COMMITS: Duration = Duration::from_millis(25);

/// What is measured.
#[derive(Clone, Copy, Debug)]
struct Options {
    conversations: usize,
    turns: usize,
    thinks: Duration,
    between: Duration,
    check: bool,
}

fn options() -> Options {
    let mut options = Options {
        conversations: 50,
        turns: 12,
        // A hosted model of today: its first words after a good half second, and a sentence of forty tokens in three
        // tenths.
        thinks: Duration::from_millis(600),
        between: Duration::from_millis(300),
        check: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let number = arguments.next().and_then(|text| text.parse::<usize>().ok());
            number.unwrap_or_else(|| panic!("{argument} wants a number"))
        };
        let milliseconds = |number: usize| Duration::from_millis(number as u64);
        match argument.as_str() {
            "--conversations" => options.conversations = number(),
            "--turns" => options.turns = number(),
            "--thinks" => options.thinks = milliseconds(number()),
            "--between" => options.between = milliseconds(number()),
            "--check" => options.check = true,
            // What cargo itself adds.
            "--bench" => {}
            other => panic!("unknown: {other}"),
        }
    }
    options
}

#[tokio::main]
async fn main() {
    let options = options();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (mut cluster, folder) = start_cluster(&std::env::temp_dir(), Durability::Kept)
        .await
        .expect("PostgreSQL");
    TestServer::share(cluster.location().clone()).expect("the first server");
    let good = measure(options).await;
    cluster.stop();
    std::fs::remove_dir_all(folder).expect("clean up");
    if options.check && !good {
        std::process::exit(1);
    }
}

async fn measure(options: Options) -> bool {
    let database = Arc::new(Database::fresh().await.expect("database"));
    let agent = FakeAgent::start().await;
    let more = json!({"messages_per_minute_max": 100_000});
    // Tasks outlive this function's frame; the process ends right after.
    let bank: &'static Bank = Box::leak(Box::new(Bank::over(database, agent, &more)));
    let mut chats = Vec::new();
    for number in 0..options.conversations {
        let customer: &'static Customer =
            Box::leak(Box::new(bank.customer(&format!("Customer {number}")).await));
        chats.push(bank.open_chat(customer).await);
    }
    bank.agent.set_pace(Pace {
        thinks: options.thinks,
        between: options.between,
    });
    println!(
        "{} conversations at once, {} turns each; the agent thinks {} ms and writes {SENTENCES} sentences, one every {} ms",
        options.conversations,
        options.turns,
        options.thinks.as_millis(),
        options.between.as_millis()
    );
    let stop: &'static AtomicBool = Box::leak(Box::default());
    let commits = tokio::spawn(time_commits(bank, stop));
    let mut running = Vec::new();
    for (number, chat) in chats.into_iter().enumerate() {
        running.push(tokio::spawn(async move {
            // Fifty people do not press Enter in the same moment.
            let whole = options.thinks + options.between * 12;
            tokio::time::sleep(whole * number as u32 / options.conversations as u32).await;
            talk(&chat, number, options.turns).await
        }));
    }
    let mut turns = Vec::new();
    for one in running {
        turns.extend(one.await.expect("a conversation"));
    }
    stop.store(true, Ordering::Relaxed);
    let figures = Figures {
        commits: commits.await.expect("commits"),
        turns: compare(bank, turns).await,
    };
    figures.print();
    let allowed = BAR + p(&figures.commits, 99);
    let (there, back) = figures.slowest_hundredth();
    for (what, took) in [
        ("stored message to agent", there),
        ("agent to browser", back),
    ] {
        let good = if took <= allowed { "reached" } else { "MISSED" };
        println!(
            "{what}: p99 {} ms, bar {} ms (10 ms and one commit): {good}",
            milliseconds(took),
            milliseconds(allowed)
        );
    }
    there <= allowed && back <= allowed
}

/// One turn as the browser saw it.
struct Seen {
    message: String,
    sent: Instant,
    recorded: Instant,
    /// When each sentence came.
    came: Vec<Instant>,
}

async fn talk(chat: &Chat<'static>, number: usize, turns: usize) -> Vec<Seen> {
    let mut seen = Vec::new();
    // The first turn opens connections and plans statements.
    for turn in 0..=turns {
        let message = format!("{number}.{turn}: what did I spend this month?");
        let one = one_turn(chat, message).await;
        if turn > 0 {
            seen.push(one);
        }
    }
    seen
}

async fn one_turn(chat: &Chat<'static>, message: String) -> Seen {
    let body = chat.message(&message);
    let sent = Instant::now();
    let mut response = chat.send(&body).await;
    assert_eq!(response.status(), 200);
    let (mut recorded, mut came) = (None, Vec::new());
    let mut buffer = Vec::new();
    let mut done = false;
    while let Some(piece) = response.chunk().await.expect("a piece") {
        let now = Instant::now();
        buffer.extend_from_slice(&piece);
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            let line: Value = serde_json::from_slice(&buffer[..end]).expect("a line");
            buffer.drain(..=end);
            match line["type"].as_str() {
                Some("recorded") => recorded = Some(now),
                Some("text") => came.push(now),
                Some("done") => done = true,
                _ => panic!("{line}"),
            }
        }
    }
    assert!(done, "the reply is whole");
    assert_eq!(came.len(), SENTENCES, "a sentence a line");
    Seen {
        message,
        sent,
        recorded: recorded.expect("on record"),
        came,
    }
}

/// What a turn cost, worked out from what both ends and the record saw.
async fn compare(bank: &Bank, turns: Vec<Seen>) -> Vec<figures::Turn> {
    let mut admin = bank.admin().await;
    let rows = sqlx::query("SELECT body, recorded_at FROM bank.utterance")
        .fetch_all(&mut admin)
        .await
        .expect("the record");
    let stored: std::collections::HashMap<String, OffsetDateTime> = rows
        .iter()
        .map(|row| (row.get("body"), row.get("recorded_at")))
        .collect();
    let turn = |seen: Seen| {
        let agent = bank.agent.seen(&seen.message);
        let stored = agent.came_at - stored[&seen.message];
        // A sentence is shown once the next one has begun.
        let sentences = seen.came.iter().zip(&agent.wrote[1..]);
        let back = sentences.map(|(came, wrote)| came.saturating_duration_since(*wrote));
        figures::Turn {
            sent_to_agent: agent.came.saturating_duration_since(seen.sent),
            sent_to_recorded: seen.recorded.saturating_duration_since(seen.sent),
            stored_to_agent: stored.try_into().unwrap_or_default(),
            agent_to_browser: back.collect(),
        }
    };
    turns.into_iter().map(turn).collect()
}

/// What one commit takes on this disk, beside everything else: a row of nobody's.
async fn time_commits(bank: &Bank, stop: &AtomicBool) -> Vec<Duration> {
    let mut admin = bank.admin().await;
    sqlx::query("CREATE TABLE public.commit_probe (number bigint)")
        .execute(&mut admin)
        .await
        .expect("a table");
    let mut took = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let mut transaction = admin.begin().await.expect("begin");
        sqlx::query("INSERT INTO public.commit_probe VALUES (1)")
            .execute(&mut *transaction)
            .await
            .expect("a row");
        let began = Instant::now();
        transaction.commit().await.expect("commit");
        took.push(began.elapsed());
        tokio::time::sleep(BETWEEN_COMMITS).await;
    }
    took
}
