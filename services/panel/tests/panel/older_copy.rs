//! Failover to an older copy, or to another history: the panel remembers a head of the log that the database lost, and executes nothing
//! until a person of the bank accepts that.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bank::{Bank, Visitor, problem};

const WAITS: &str = "SELECT count(*) FROM bank.bank_event WHERE leaf_index IS NULL";
const HEADS: &str = "SELECT coalesce(max(tree_size), 0) FROM bank.log_checkpoint";

/// Pays Bob, and waits until the panel remembers a head that holds it.
async fn pays(bank: &Bank, ada: &Visitor<'_>) {
    let (_, card) = ada.sees_twenty_to_bob().await;
    assert_eq!(ada.presses(&card, "").await.status(), 200);
    bank.waits_for(WAITS, 0).await;
    for _ in 0..50 {
        let head = bank.count(HEADS).await;
        if remembered(bank) == Some(head) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the panel does not remember the newest head");
}

/// The size of the head that the panel keeps.
fn remembered(bank: &Bank) -> Option<i64> {
    let kept = std::fs::read(bank.state().join("log-head.json")).ok()?;
    let kept: Value = serde_json::from_slice(&kept).expect("whole");
    kept["size"].as_i64()
}

/// Nothing is executed, undone, posted or signed, and the page says why.
async fn executes_nothing(bank: &Bank, ada: &Visitor<'_>) {
    let before = (ada.balance().await, bank.executions().await);
    let heads = bank.count(HEADS).await;
    let (asked, card) = ada.sees_twenty_to_bob().await;
    for step in ["confirm", "confirm", "prepare"] {
        let (status, code, body) = problem(ada.step(step, &card, "").await).await;
        assert_eq!((status, code.as_str()), (503, "older_copy"), "{step}");
        assert!(
            body["detail"]
                .as_str()
                .expect("words")
                .contains("older copy"),
            "{body}"
        );
    }
    assert_eq!((ada.balance().await, bank.executions().await), before);
    let page = ada.page("/").await;
    assert!(page.contains("id=\"older-copy\""), "{page}");
    // Longer than a turn of the notary and of the poster.
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(bank.count(HEADS).await, heads, "no head is signed");
    assert_ne!(
        bank.count(WAITS).await,
        0,
        "though there is something to sign"
    );
    // No is no, whatever database it is said to.
    let cancel = format!("/api/actions/{}/cancel", asked.text());
    let cancelled = ada.post(&cancel, &json!({"version": 1})).await;
    assert_eq!(cancelled.status(), 200);
}

/// A person of the bank accepts the gap.
async fn is_accepted(bank: &Bank) {
    let accepted = "SELECT count(*) FILTER (WHERE bank.accept_gap(id, 'grace')) FROM bank.waiting_for_operator() WHERE what = 'gap'";
    assert_eq!(bank.count(accepted).await, 1);
    assert_eq!(bank.count(accepted).await, 0, "once");
}

async fn executes_again(bank: &Bank, ada: &Visitor<'_>) {
    bank.waits_for(WAITS, 0).await;
    pays(bank, ada).await;
    assert!(!ada.page("/").await.contains("id=\"older-copy\""));
    let event: Vec<u8> = sqlx::query_scalar(
        "SELECT payload FROM bank.log_event WHERE kind = 'gap_accepted' AND leaf_index IS NOT NULL",
    )
    .fetch_one(&mut bank.admin().await)
    .await
    .expect("the acceptance stands in the log");
    let event: Value = serde_json::from_slice(&event).expect("JSON");
    assert_eq!(event["operator"], "grace", "{event}");
}

#[tokio::test]
async fn over_an_older_copy_nothing_is_executed_until_a_person_of_the_bank_accepts_it() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    pays(&bank, &ada).await;
    let copy = bank.database.keep_copy().await.expect("a copy");
    let balance = ada.balance().await;
    pays(&bank, &ada).await;
    let known = remembered(&bank);
    assert_eq!(ada.balance().await, balance - 2_000);

    // While it runs, and after a start of its own.
    bank.database.falls_back_to(&copy).await.expect("failover");
    assert_eq!(ada.balance().await, balance, "the last payment is lost");
    executes_nothing(&bank, &ada).await;
    bank.crashes();
    bank.comes_back();
    executes_nothing(&bank, &ada).await;
    assert_eq!(remembered(&bank), known, "what is remembered stays");

    is_accepted(&bank).await;
    executes_again(&bank, &ada).await;
    let event = bank
        .count("SELECT (convert_from(payload, 'UTF8')::jsonb ->> 'remembered_size')::bigint FROM bank.log_event")
        .await;
    assert_eq!(Some(event), known);
}

#[tokio::test]
async fn a_copy_that_went_on_by_itself_is_another_history() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let copy = bank.database.keep_copy().await.expect("a copy");
    pays(&bank, &ada).await;
    let known = remembered(&bank).expect("a head");
    bank.crashes();
    bank.database.falls_back_to(&copy).await.expect("failover");
    // A panel that remembers nothing takes the copy as it is, and outgrows what was lost.
    let (kept, aside) = (
        bank.state().join("log-head.json"),
        bank.state().join("aside"),
    );
    std::fs::rename(&kept, &aside).expect("forget");
    bank.comes_back();
    for _ in 0..3 {
        pays(&bank, &ada).await;
    }
    assert!(bank.count(HEADS).await > known);
    bank.crashes();
    std::fs::rename(&aside, &kept).expect("remember");
    bank.comes_back();
    executes_nothing(&bank, &ada).await;
    is_accepted(&bank).await;
    executes_again(&bank, &ada).await;
}

#[tokio::test]
async fn nothing_is_undone_over_an_older_copy_and_no_service_accepts_one() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    bank.plant("UPDATE bank.setting SET undo_seconds = 60, undo_seconds_max = 60")
        .await;
    let (asked, card) = ada.sees_twenty_to_bob().await;
    assert_eq!(ada.presses(&card, "").await.status(), 200);
    let copy = bank.database.keep_copy().await.expect("a copy");
    pays(&bank, &ada).await;
    bank.database.falls_back_to(&copy).await.expect("failover");
    let before = ada.balance().await;
    let undo = format!("/api/actions/{}/undo", asked.text());
    let (status, code, _) = problem(ada.post(&undo, &json!({"version": 1})).await).await;
    assert_eq!((status, code.as_str()), (503, "older_copy"));
    assert_eq!(ada.balance().await, before);
    for service in ["panel", "notary", "poster", "bank_mcp", "dashboard"] {
        let mut login = bank.database.login(service).await.unwrap();
        let refused = sqlx::query("SELECT bank.accept_gap(gen_random_uuid(), 'grace')")
            .execute(&mut login)
            .await
            .expect_err(service);
        let code = refused
            .as_database_error()
            .and_then(|it| it.code().map(|code| code.into_owned()));
        assert_eq!(code.as_deref(), Some("42501"), "{service}");
    }
}
