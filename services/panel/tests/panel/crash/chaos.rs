//! What else goes wrong around a Confirm: no connection free, a deadlock, a clock that jumps.

use std::time::Duration;

use reqwest::StatusCode;
use sqlx::Executor;

use super::place::{books_are_right, close};
use crate::bank::{Bank, problem};

/// More presses than the panel has connections.
const PRESSES: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_no_connection_free_a_press_is_told_busy_and_the_next_counts() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (asked, card) = ada.sees_twenty_to_bob().await;
    let mut held = bank.admin().await;
    held.execute("BEGIN; SELECT * FROM bank.customer_lock FOR UPDATE")
        .await
        .expect("hold the lock");
    // Some wait for the lock, the others for a connection.
    let presses = (0..PRESSES).map(|_| ada.step("confirm", &card, ""));
    for answer in futures_util::future::join_all(presses).await {
        let (status, code, _) = problem(answer).await;
        assert_eq!((status, code.as_str()), (503, "busy"));
    }
    assert_eq!(bank.executions().await, 0);
    close(held).await;
    let answer = ada.step("confirm", &card, "").await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(ada.balance().await, before - 2_000);
    books_are_right(&bank, &ada, &asked, "no connection free").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_ends_with_one_of_two_and_the_press_counts_once() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let lock = "SELECT * FROM bank.customer_lock l JOIN bank.customer c USING (customer_id) WHERE c.display_name = 'Ada' FOR UPDATE OF l";
    // Whoever waits longer than this looks for a circle: now the panel, now the stranger.
    for stranger_s_patience in ["10s", "100ms"] {
        let (asked, card) = ada.sees_twenty_to_bob().await;
        let mut stranger = bank.admin().await;
        stranger
            .execute(sqlx::AssertSqlSafe(format!(
                "SET deadlock_timeout = '{stranger_s_patience}'; BEGIN; SELECT * FROM bank.event_head FOR UPDATE"
            )))
            .await
            .expect("hold the chain's head");
        let (answer, _) = tokio::join!(ada.step("confirm", &card, ""), async {
            tokio::time::sleep(Duration::from_millis(150)).await;
            let circle = stranger.execute(lock).await;
            close(stranger).await;
            circle.is_ok()
        });
        let status = answer.status();
        if status != StatusCode::OK {
            let (status, code, _) = problem(answer).await;
            assert_eq!(
                (status, code.as_str()),
                (503, "busy"),
                "{stranger_s_patience}"
            );
        }
        for _ in 0..2 {
            assert_eq!(
                ada.step("confirm", &card, "").await.status(),
                StatusCode::OK
            );
        }
        books_are_right(&bank, &ada, &asked, stranger_s_patience).await;
    }
    assert_eq!(bank.executions().await, 2);
    assert_eq!(ada.balance().await, before - 4_000);
}

#[tokio::test]
async fn a_clock_that_jumps_neither_doubles_nor_loses_a_press() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let mut expected = 0;
    for (shown_at, pressed_at, runs) in [
        (0, -300, true),
        (-300, 0, true),
        (0, 3_600, false),
        (3_600, 3_590, true),
    ] {
        bank.database
            .set_clock_ahead(shown_at)
            .await
            .expect("clock");
        let (_, card) = ada.sees_twenty_to_bob().await;
        bank.database
            .set_clock_ahead(pressed_at)
            .await
            .expect("clock");
        for _ in 0..2 {
            let answer = ada.step("confirm", &card, "").await;
            assert_eq!(
                answer.status() == StatusCode::OK,
                runs,
                "{shown_at} {pressed_at}: {}",
                answer.text().await.unwrap_or_default()
            );
        }
        expected += i64::from(runs);
        assert_eq!(bank.executions().await, expected, "{shown_at} {pressed_at}");
    }
    assert_eq!(ada.balance().await, before - 2_000 * expected);
}
