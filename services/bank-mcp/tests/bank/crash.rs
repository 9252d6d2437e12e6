//! Ends of the bank server at every step of a request: it is there once or not at all, and the same request again is the same one.
//!
//! A step is reached without any help of the server: another session holds what its next statement needs, so that it waits exactly
//! there, and the process is ended then.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::{
    bank::Bank,
    door::Turn,
    process::{Served, exchange},
};

/// The tables that a request writes, in its order; at the end its commit.
const STEPS: [&str; 9] = [
    "used_request",
    "customer_lock",
    "pending_action",
    "pending_version",
    "pending_line",
    "event_head",
    "bank_event",
    COMMIT,
    ANSWERED,
];
const COMMIT: &str = "commit";
const ANSWERED: &str = "answered";
/// The number that a commit of this test waits for.
const COMMIT_GATE: i64 = 4_243;
/// How many seeds each step is tried with.
const SEEDS_VARIABLE: &str = "COUNTERSIGN_CRASH_SEEDS";

const PREPARE: &str = "CREATE FUNCTION public.wait_at_commit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
     $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4243); RETURN NULL; END $$;
   CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON bank.pending_action DEFERRABLE INITIALLY DEFERRED
     FOR EACH ROW EXECUTE FUNCTION public.wait_at_commit()";
const WAITS: &str = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'bank_mcp' AND datname = current_database() AND wait_event_type = 'Lock'";
const BUSY: &str = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'bank_mcp' AND datname = current_database()
     AND (state LIKE 'idle in%' OR state = 'active')";
const OPEN: &str = "SELECT count(*) FROM bank.pending_action WHERE state = 'pending'";
const EVENTS: &str = "SELECT count(*) FROM bank.bank_event WHERE kind = 'request_created'";
const BOB: &str = "SELECT 'pye_' || replace(payee_id::text, '-', '') FROM bank.payee JOIN bank.customer USING (customer_id)
     WHERE name = 'Bob Smith' AND display_name = 'Ada'";

/// Keeps the server's next statement waiting, where there is one to keep.
async fn closes(bank: &Bank, step: &str) -> Option<PgConnection> {
    let mut held = bank.admin().await;
    let gate = match step {
        ANSWERED => return None,
        COMMIT => format!("SELECT pg_advisory_lock({COMMIT_GATE})"),
        "customer_lock" => "BEGIN; SELECT * FROM bank.customer_lock FOR UPDATE".to_owned(),
        table => format!("BEGIN; LOCK TABLE bank.{table} IN SHARE ROW EXCLUSIVE MODE"),
    };
    held.execute(AssertSqlSafe(gate)).await.expect("close");
    Some(held)
}

async fn becomes(bank: &Bank, count: &'static str, wanted: impl Fn(i64) -> bool) -> bool {
    for _ in 0..400 {
        if wanted(bank.count(count).await) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

/// What the tool said, out of an HTTP answer.
fn said(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    let start = body.find('{').expect("JSON");
    let body: Value = serde_json::Deserializer::from_str(&body[start..])
        .into_iter()
        .next()
        .expect("one")
        .expect("JSON");
    body["result"]["structuredContent"].clone()
}

async fn round(bank: &Bank, step: &str, seed: u64) {
    let what = format!("{step}, seed {seed}");
    let before = (bank.count(OPEN).await, bank.count(EVENTS).await);
    let ada: Turn = bank.turn("Ada", "Send 20 to Bob").await;
    let bob: String = sqlx::query_scalar(BOB)
        .fetch_one(&mut bank.admin().await)
        .await
        .expect("Bob");
    let pays = json!({"payments": [{"payee": bob, "amount": "20.00"}]});
    let served = Served::start(bank);
    let gate = closes(bank, step).await;
    let (address, request) = (
        served.address().to_owned(),
        served.request(&ada, "request_transfer", &pays, true),
    );
    let call = tokio::task::spawn_blocking(move || exchange(&address, &request));
    if gate.is_some() {
        assert!(
            becomes(bank, WAITS, |waiting| waiting > 0).await,
            "{what}: the step was not reached"
        );
        tokio::time::sleep(Duration::from_millis((seed * 37) % 90)).await;
    } else {
        assert!(becomes(bank, OPEN, |open| open > before.0).await, "{what}");
    }
    served.crashes();
    let answer = call.await.expect("no panic");
    if let Some(held) = gate {
        assert_eq!(answer, "", "{what}");
        let _ = held.close().await;
    }
    assert!(becomes(bank, BUSY, |busy| busy == 0).await, "{what}");
    let made = bank.count(OPEN).await - before.0;
    assert_eq!(
        made,
        i64::from([COMMIT, ANSWERED].contains(&step)),
        "{what}"
    );
    assert_eq!(bank.count(EVENTS).await - before.1, made, "{what}");

    // The model may ask again in the same turn: one request, under one id.
    let served = Served::start(bank);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let request = served.request(&ada, "request_transfer", &pays, true);
        let address = served.address().to_owned();
        let answer = tokio::task::spawn_blocking(move || exchange(&address, &request))
            .await
            .expect("no panic");
        ids.push(
            said(&answer)["action"]
                .as_str()
                .unwrap_or_else(|| panic!("{what}: {answer}"))
                .to_owned(),
        );
    }
    assert_eq!(ids[0], ids[1], "{what}");
    assert_eq!(bank.count(OPEN).await - before.0, 1, "{what}");
    assert_eq!(bank.count(EVENTS).await - before.1, 1, "{what}");
    bank.admin()
        .await
        .execute("UPDATE bank.pending_action SET state = 'cancelled', reason = 'cancelled' WHERE state = 'pending'")
        .await
        .expect("cancel");
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_it_ends_a_request_is_there_once_or_not_at_all() {
    let bank = Bank::demo().await;
    bank.admin().await.execute(PREPARE).await.expect("prepare");
    let seeds: u64 =
        std::env::var(SEEDS_VARIABLE).map_or(1, |text| text.parse().expect("a number"));
    for seed in 0..seeds {
        for step in STEPS {
            round(&bank, step, seed).await;
        }
    }
    println!("{} ends of the bank server: 0 lost, 0 doubled", seeds * 9);
}
