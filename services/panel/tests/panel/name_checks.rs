//! Name checks over HTTP: the answer changes the card before the press, and no failure passes for a match.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
    routing::post,
};
use serde_json::{Value, json};

use crate::bank::{Asked, Bank, Visitor};

type Says = Arc<Mutex<(u16, &'static str, String)>>;

async fn service(says: Says) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "http://127.0.0.1:{}/check",
        listener.local_addr().unwrap().port()
    );
    let router = Router::new().route("/check", post(answer)).with_state(says);
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

async fn answer(State(says): State<Says>, headers: HeaderMap, body: String) -> impl IntoResponse {
    assert_eq!(headers["authorization"], "Bearer the-bank");
    let asked: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(asked["name"], "Bright Solar");
    assert_eq!(
        asked.as_object().unwrap().len(),
        2,
        "name and account, and nothing of the customer"
    );
    let (status, kind, body) = says.lock().unwrap().clone();
    if status == 0 {
        tokio::time::sleep(Duration::from_secs(20)).await;
    }
    (
        StatusCode::from_u16(status.max(200)).unwrap(),
        [(header::CONTENT_TYPE, kind)],
        body,
    )
}

fn says(body: &str) -> (u16, &'static str, String) {
    (200, "application/json", body.to_owned())
}

async fn open(says: &Says) -> Bank {
    let url = service(says.clone()).await;
    Bank::with(|config, _| {
        config["name_check"] = json!({"url": url, "key": "the-bank"});
    })
    .await
}

fn codes(card: &Value) -> Vec<String> {
    card["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["code"].as_str().unwrap().to_owned())
        .collect()
}

async fn asks(ada: &Visitor<'_>, euros: i64) -> Asked {
    ada.writes(&format!("Send {euros} to Bright Solar")).await;
    ada.is_asked(Some("Bright Solar"), Some(euros * 100)).await
}

/// The result that is kept, once there is one newer than `since`.
async fn kept(bank: &Bank, since: i64) -> String {
    for _ in 0..100 {
        let found: Option<String> = sqlx::query_scalar(
            "SELECT result FROM bank.name_check WHERE (extract(epoch FROM checked_at) * 1000)::bigint > $1",
        )
        .bind(since)
        .fetch_optional(&mut bank.admin().await)
        .await
        .unwrap();
        if let Some(found) = found {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("nothing was checked");
}

async fn now(bank: &Bank) -> i64 {
    bank.count("SELECT (extract(epoch FROM bank.bank_clock()) * 1000)::bigint")
        .await
}

#[tokio::test]
async fn an_answer_changes_the_card_and_only_a_whole_one_is_a_match() {
    let told: Says = Arc::new(Mutex::new(says(r#"{"result":"match"}"#)));
    let bank = open(&told).await;
    let ada = bank.sign_in("Ada").await;
    let asked = asks(&ada, 20).await;
    assert_eq!(kept(&bank, 0).await, "match");
    let card = ada.card(&asked).await;
    assert!(
        !codes(&card).iter().any(|code| code.starts_with("name_")),
        "{card}"
    );
    let mut hashes = vec![card["confirm_hash"].clone()];
    for (answer, wanted) in [
        (
            says(r#"{"result":"close","name":"Bright Solar Holding"}"#),
            "close",
        ),
        (says(r#"{"result":"no_match"}"#), "no_match"),
        (says(r#"{"result":"match","name":"x"}"#), "unavailable"),
        (
            says(&format!(r#"{{"result":"match"}}{}"#, " ".repeat(5_000))),
            "unavailable",
        ),
        (
            (200, "text/html", r#"{"result":"match"}"#.to_owned()),
            "unavailable",
        ),
        (
            (500, "application/json", r#"{"result":"match"}"#.to_owned()),
            "unavailable",
        ),
        (
            (302, "application/json", r#"{"result":"match"}"#.to_owned()),
            "unavailable",
        ),
        (
            (0, "application/json", r#"{"result":"match"}"#.to_owned()),
            "unavailable",
        ),
    ] {
        *told.lock().unwrap() = answer;
        let since = now(&bank).await;
        bank.plant("UPDATE bank.name_check SET checked_at = checked_at - interval '2 days'")
            .await;
        assert_eq!(kept(&bank, since).await, wanted);
        let card = ada.card(&asked).await;
        assert!(
            codes(&card).contains(&format!("name_{wanted}")),
            "{wanted}: {card}"
        );
        if wanted == "close" {
            assert!(
                card["warnings"]
                    .to_string()
                    .contains("Bright Solar Holding"),
                "{card}"
            );
        }
        hashes.push(card["confirm_hash"].clone());
    }
    assert!(
        hashes[1..].iter().all(|hash| hash != &hashes[0]),
        "another answer is another card"
    );
}

#[tokio::test]
async fn an_old_answer_counts_as_none_and_a_hold_waits_for_a_new_one() {
    let told: Says = Arc::new(Mutex::new(says(r#"{"result":"unavailable"}"#)));
    let bank = open(&told).await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    for (euros, answer, state) in [
        (130, r#"{"result":"no_match"}"#, "cancelled"),
        (131, r#"{"result":"match"}"#, "confirmed"),
    ] {
        *told.lock().unwrap() = says(r#"{"result":"unavailable"}"#);
        bank.plant("DELETE FROM bank.name_check").await;
        let asked = asks(&ada, euros).await;
        assert_eq!(kept(&bank, 0).await, "unavailable");
        // An answer of long ago is none.
        let card = ada.card(&asked).await;
        assert!(
            codes(&card).contains(&"held_name_unavailable".to_owned()),
            "{card}"
        );
        assert_eq!(ada.presses(&card, "").await.status(), 200);
        assert_eq!(ada.card(&asked).await["state"], "held");
        *told.lock().unwrap() = says(answer);
        bank.plant("UPDATE bank.name_check SET checked_at = checked_at - interval '2 minutes'")
            .await;
        for _ in 0..60 {
            if ada.card(&asked).await["state"] != "held" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(ada.card(&asked).await["state"], state, "{euros}");
    }
    assert_eq!(ada.balance().await, before - 13_100);
}
