//! Changing limits on the panel: lower at once, higher by a Confirm and after a day.

use serde_json::Value;

use crate::bank::{Bank, Visitor};

async fn changes(ada: &Visitor<'_>, limit: &str, value: &str) -> reqwest::Response {
    let currency = if limit == "undo_seconds" { "" } else { "EUR" };
    ada.bank
        .http
        .post(format!("{}/limits", ada.bank.origin))
        .header("origin", &ada.bank.origin)
        .header("sec-fetch-site", "same-origin")
        .header("cookie", &ada.cookie)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(
            form_urlencoded::Serializer::new(String::new())
                .append_pair("limit", limit)
                .append_pair("currency", currency)
                .append_pair("value", value)
                .finish(),
        )
        .send()
        .await
        .expect("answer")
}

async fn limit(bank: &Bank, column: &str) -> i64 {
    let sql = format!(
        "SELECT {column}_minor_units FROM bank.customer_limit JOIN bank.customer USING (customer_id) WHERE display_name = 'Ada' AND currency = 'EUR'"
    );
    sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
        .fetch_one(&mut bank.admin().await)
        .await
        .unwrap()
}

async fn card(ada: &Visitor<'_>) -> Value {
    let cards: Value = ada.get("/api/cards").await.json().await.unwrap();
    cards["cards"][0].clone()
}

#[tokio::test]
async fn lowering_is_at_once_and_raising_waits_for_a_press_and_a_day() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    assert_eq!(changes(&ada, "per_day", "500").await.status(), 200);
    assert_eq!(limit(&bank, "per_day").await, 50_000);
    for wrong in ["", "-1", "1e3", "20,00", "999999999"] {
        assert_eq!(changes(&ada, "per_day", wrong).await.status(), 200);
        assert_eq!(limit(&bank, "per_day").await, 50_000, "{wrong}");
    }
    assert_eq!(changes(&ada, "nothing", "1").await.status(), 404);

    let asked = changes(&ada, "per_day", "2000.00").await;
    assert_eq!(asked.headers()["location"], "/#waiting");
    assert_eq!(
        limit(&bank, "per_day").await,
        50_000,
        "nothing is raised by typing"
    );
    let shown = card(&ada).await;
    assert_eq!(shown["kind"], "limit_change");
    assert_eq!(shown["button"], "Raise my limit to 2,000.00 EUR");
    // A second wish takes the place of the first.
    changes(&ada, "per_day", "1000.00").await;
    let shown = card(&ada).await;
    assert_eq!(shown["button"], "Raise my limit to 1,000.00 EUR");
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.pending_action WHERE state = 'pending'")
            .await,
        1
    );
    assert_eq!(ada.presses(&shown, "").await.status(), 200);
    assert_eq!(limit(&bank, "per_day").await, 50_000, "it cools off");
    assert!(ada.page("/limits").await.contains("1,000.00 EUR"));

    // While it cools off it can be stopped; and a lower wish stops it too.
    let action = shown["action"].as_str().unwrap();
    let stopped = ada
        .post(&format!("/limits/{action}/stop"), &serde_json::json!({}))
        .await;
    assert_eq!(stopped.status(), 303);
    changes(&ada, "per_day", "1500.00").await;
    assert_eq!(ada.presses(&card(&ada).await, "").await.status(), 200);
    bank.database.set_clock_ahead(86_300).await.unwrap();
    let fresh = bank.sign_in("Ada").await;
    changes(&fresh, "per_day", "400.00").await;
    changes(&fresh, "per_day", "800.00").await;
    assert_eq!(fresh.presses(&card(&fresh).await, "").await.status(), 200);
    bank.database
        .set_clock_ahead(86_300 + 86_401)
        .await
        .unwrap();
    bank.waits_for(
        "SELECT count(*) FROM bank.limit_change WHERE outcome = 'applied'",
        1,
    )
    .await;
    assert_eq!(limit(&bank, "per_day").await, 80_000);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.limit_change WHERE outcome = 'stopped'")
            .await,
        2
    );
    assert!(
        bank.count("SELECT count(*) FROM bank.notice WHERE kind = 'changed'")
            .await
            >= 3
    );
}

#[tokio::test]
async fn the_amount_above_which_a_passkey_is_asked_for_is_the_customer_s() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let page = ada.page("/limits").await;
    assert!(page.contains("Payments without a passkey"), "{page}");
    // Lower at once: the next card wants a passkey.
    let (_, card_before) = ada.sees_twenty_to_bob().await;
    assert!(card_before["step_up"].is_null(), "{card_before}");
    ada.presses(&card_before, "").await;
    assert_eq!(changes(&ada, "step_up_over", "19.99").await.status(), 200);
    assert_eq!(limit(&bank, "step_up_over").await, 1_999);
    let (asked, twenty) = ada.sees_twenty_to_bob().await;
    assert_eq!(twenty["step_up"], "not_enrolled", "{twenty}");
    let refused = ada.step("confirm", &twenty, "").await;
    assert_eq!(refused.status(), 403, "whoever leaves the passkey out");
    let cancel = format!("/api/actions/{}/cancel", asked.text());
    ada.post(&cancel, &serde_json::json!({"version": 1})).await;

    // Higher waits for a press, and that press wants the passkey itself.
    let asked = changes(&ada, "step_up_over", "100.00").await;
    assert_eq!(asked.headers()["location"], "/#waiting");
    let raise = card(&ada).await;
    assert_eq!(raise["button"], "Ask for my passkey only above 100.00 EUR");
    assert_eq!(raise["step_up"], "not_enrolled", "{raise}");
    assert_eq!(ada.step("confirm", &raise, "").await.status(), 403);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.limit_change").await,
        0,
        "no raise without a passkey"
    );
    assert_eq!(ada.presses(&raise, "").await.status(), 200);
    assert_eq!(limit(&bank, "step_up_over").await, 1_999, "it cools off");
    bank.database.set_clock_ahead(86_401).await.unwrap();
    bank.waits_for(
        "SELECT count(*) FROM bank.limit_change WHERE outcome = 'applied'",
        1,
    )
    .await;
    assert_eq!(limit(&bank, "step_up_over").await, 10_000);
}

#[tokio::test]
async fn a_raise_from_another_limit_than_the_card_said_does_nothing() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    changes(&ada, "per_day", "500").await;
    changes(&ada, "per_day", "600.00").await;
    let raise = card(&ada).await;
    bank.plant("UPDATE bank.customer_limit SET per_day_minor_units = 40000")
        .await;
    let pressed = ada.presses(&raise, "").await;
    assert_ne!(pressed.status(), 200, "what was confirmed is from 500.00");
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.limit_change").await,
        0
    );
}

#[tokio::test]
async fn a_shorter_time_to_undo_waits_like_a_raise_and_a_stop_holds_it_back() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let choice = "SELECT coalesce(sum(undo_seconds), -1)::bigint FROM bank.customer_choice";
    changes(&ada, "undo_seconds", "20").await;
    assert_eq!(bank.count(choice).await, 20);
    assert_eq!(
        changes(&ada, "undo_seconds", "0").await.headers()["location"],
        "/#waiting"
    );
    assert_eq!(ada.presses(&card(&ada).await, "").await.status(), 200);
    assert_eq!(bank.count(choice).await, 20);
    ada.post("/safety/freeze", &serde_json::json!({})).await;
    bank.database.set_clock_ahead(86_401).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1_200)).await;
    assert_eq!(
        bank.count(choice).await,
        20,
        "while payments are stopped nothing is raised"
    );
    bank.plant("UPDATE bank.payment_freeze SET lifted_at = bank.bank_clock()")
        .await;
    bank.waits_for(choice, 0).await;
}
