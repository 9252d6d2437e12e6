//! The second channel, "this was not me", and the stop.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};

use crate::bank::{Asked, Bank, Visitor, problem};

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// What a receiver of the bank heard, and how often it refuses before it listens.
#[derive(Clone, Default)]
struct Receiver {
    heard: Arc<Mutex<Vec<Value>>>,
    refusals: Arc<Mutex<usize>>,
}

impl Receiver {
    async fn open() -> (Self, String) {
        let this = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!(
            "http://127.0.0.1:{}/notices",
            listener.local_addr().unwrap().port()
        );
        let router = Router::new()
            .route("/notices", post(hear))
            .with_state(this.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (this, url)
    }

    fn kinds(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        heard
            .iter()
            .map(|one| one["kind"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The newest notice of a kind, once it arrived.
    async fn next(&self, kind: &str) -> Value {
        for _ in 0..100 {
            let found = self
                .heard
                .lock()
                .unwrap()
                .iter()
                .rev()
                .find(|one| one["kind"] == kind)
                .cloned();
            if let Some(found) = found {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("no notice of {kind}: {:?}", self.kinds());
    }
}

async fn hear(State(receiver): State<Receiver>, headers: HeaderMap, body: String) -> StatusCode {
    let signed = headers["countersign-signature"].to_str().unwrap();
    let (time, tag) = signed
        .strip_prefix("t=")
        .unwrap()
        .split_once(",v1=")
        .unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(KEY.as_bytes()).unwrap();
    mac.update(format!("{time}.{body}").as_bytes());
    assert_eq!(
        hex::encode(mac.finalize().into_bytes()),
        tag,
        "signed by the bank"
    );
    {
        let mut refusals = receiver.refusals.lock().unwrap();
        if *refusals > 0 {
            *refusals -= 1;
            return StatusCode::INTERNAL_SERVER_ERROR;
        }
    }
    receiver
        .heard
        .lock()
        .unwrap()
        .push(serde_json::from_str(&body).unwrap());
    StatusCode::NO_CONTENT
}

async fn bank_with_webhook(url: &str) -> Bank {
    let bank = Bank::with(|config, _| {
        config["notices"] = json!({"webhook": {"url": url, "key": KEY}});
    })
    .await;
    bank.plant("UPDATE bank.setting SET notice_channels = '{webhook}'")
        .await;
    bank
}

async fn sends(ada: &Visitor<'_>, euros: i64) -> Asked {
    ada.writes(&format!("Send {euros} to Bob")).await;
    let asked = ada.is_asked(Some("Bob Smith"), Some(euros * 100)).await;
    let card = ada.card(&asked).await;
    assert_eq!(ada.presses(&card, "").await.status(), 200);
    asked
}

#[tokio::test]
async fn what_happens_is_told_in_order_and_again_where_it_was_not_heard() {
    let (receiver, url) = Receiver::open().await;
    *receiver.refusals.lock().unwrap() = 1;
    let bank = bank_with_webhook(&url).await;
    let ada = bank.sign_in("Ada").await;
    let asked = sends(&ada, 20).await;
    let undo = format!("/api/actions/{}/undo", asked.text());
    assert_eq!(ada.post(&undo, &json!({"version": 1})).await.status(), 200);
    bank.waits_for(
        "SELECT count(*) FROM bank.outbox WHERE failed_with = 'receiver_refused'",
        1,
    )
    .await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(
        receiver.kinds(),
        [] as [&str; 0],
        "the later ones wait for the first"
    );
    // Its time comes again; the rest follows in order, each in a turn of its own.
    bank.database.set_clock_ahead(12).await.unwrap();
    bank.waits_for("SELECT count(*) FROM bank.outbox WHERE state <> 'sent'", 0)
        .await;
    assert_eq!(receiver.kinds(), ["login", "confirmed", "undone"]);
    let told = receiver.next("confirmed").await;
    let text = told["text"].as_str().unwrap();
    let code: String =
        sqlx::query_scalar("SELECT short_code FROM bank.notice WHERE kind = 'confirmed'")
            .fetch_one(&mut bank.admin().await)
            .await
            .unwrap();
    assert!(
        text.contains("Send 20.00 EUR to Bob Smith") && text.contains(&code),
        "{text}"
    );
    let page = ada.page(&format!("/receipts/{}", asked.text())).await;
    assert!(page.contains(&code), "the same code as on the receipt");
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.outbox WHERE not_me_secret IS NOT NULL")
            .await,
        0,
        "sent words are forgotten"
    );
    // Nobody hears it for good: it is given up, and the next one has its turn.
    *receiver.refusals.lock().unwrap() = 1;
    bank.plant("UPDATE bank.outbox SET attempts = 0").await;
    sends(&ada, 21).await;
    bank.plant("UPDATE bank.outbox SET attempts = 12 WHERE state = 'waiting'")
        .await;
    bank.waits_for(
        "SELECT count(*) FROM bank.outbox WHERE state = 'waiting'",
        0,
    )
    .await;

    let list = ada.page("/notices").await;
    for said in [
        "Somebody signed in",
        "A payment was undone",
        "This was not me",
    ] {
        assert!(list.contains(said), "{said}");
    }
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.notice WHERE read_at IS NULL")
            .await,
        0
    );
    let kabir = bank.sign_in("Kabir").await;
    assert!(!kabir.page("/notices").await.contains("Bob Smith"));
}

#[tokio::test]
async fn the_link_of_a_notice_stops_what_leaves_and_does_nothing_else() {
    let (receiver, url) = Receiver::open().await;
    let bank = bank_with_webhook(&url).await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    sends(&ada, 20).await;
    let link = receiver.next("confirmed").await["not_me"]
        .as_str()
        .unwrap()
        .to_owned();
    let (page, word) = link.split_once("#stop-").unwrap();
    assert_eq!(page, format!("{}/not-me", bank.origin));
    // A program that opens the link stops nothing, and the page knows nothing.
    let opened = bank.http.get(page).send().await.unwrap();
    assert_eq!(opened.status(), 200);
    assert!(opened.headers().get("set-cookie").is_none());
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.payment_freeze").await,
        0
    );

    for wrong in ["0".repeat(64), "x".to_owned(), format!("{word}0")] {
        let answer = bank
            .post("/api/not-me", &json!({"word": wrong}))
            .send()
            .await
            .unwrap();
        assert_eq!(problem(answer).await.0, 404, "{wrong}");
    }
    let foreign = bank
        .post("/api/not-me", &json!({"word": word}))
        .header("origin", "https://evil.example");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    let answer = bank
        .post("/api/not-me", &json!({"word": word}))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    assert!(
        answer.headers().get("set-cookie").is_none(),
        "it is no login"
    );
    assert_eq!(
        ada.balance().await,
        before,
        "what could be undone was undone"
    );
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.undo WHERE how = 'not_me'")
            .await,
        1
    );
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.bank_event WHERE kind = 'frozen'")
            .await,
        1
    );
    let again: Value = bank
        .post("/api/not-me", &json!({"word": word}))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert!(
        again["message"].as_str().unwrap().contains("already"),
        "{again}"
    );

    // Nothing can be confirmed, on a new card or past the page.
    ada.writes("Send 25 to Bob").await;
    let asked = ada.is_asked(Some("Bob Smith"), Some(2_500)).await;
    let card = ada.card(&asked).await;
    assert!(
        card["confirm_hash"].is_null() && card["message"].as_str().unwrap().contains("stopped"),
        "{card}"
    );
    bank.plant("UPDATE bank.payment_freeze SET lifted_at = bank.bank_clock()")
        .await;
    let card = ada.card(&asked).await;
    bank.plant("UPDATE bank.payment_freeze SET lifted_at = NULL")
        .await;
    assert_eq!(problem(ada.step("confirm", &card, "").await).await.0, 409);
    let direct: String = in_session(&bank, &ada, &card).await;
    assert_eq!(direct, "frozen", "the database itself says so");
    assert_eq!(ada.balance().await, before);

    // The session that was open does not lift it; a fresh one does, and the used link stops nothing more.
    let lifted = ada.post("/safety/unfreeze", &json!({})).await;
    assert_eq!(lifted.headers()["location"], "/safety?sign_in=true");
    assert!(
        ada.page("/safety?sign_in=true")
            .await
            .contains("sign in once more")
    );
    let fresh = bank.sign_in("Ada").await;
    let lifted = fresh.post("/safety/unfreeze", &json!({})).await;
    assert_eq!(lifted.headers()["location"], "/safety");
    let used = bank
        .post("/api/not-me", &json!({"word": word}))
        .send()
        .await
        .unwrap();
    assert_eq!(problem(used).await.0, 404);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.payment_freeze WHERE lifted_at IS NULL")
            .await,
        0
    );
}

/// Confirms past the page, with the panel's own login.
async fn in_session(bank: &Bank, ada: &Visitor<'_>, card: &Value) -> String {
    let pool = crate::bank::pool(bank, "panel", 1).await;
    let mut transaction = countersign_store::session::begin(&pool, &ada.secret())
        .await
        .unwrap();
    let action = card["action"].as_str().unwrap().trim_start_matches("act_");
    sqlx::query_scalar("SELECT bank.confirm_action($1::uuid, 1, $2, decode($3, 'hex'), sha256('e'), '', '{}', ARRAY[gen_random_uuid()], '{}')")
        .bind(uuid::Uuid::parse_str(action).unwrap())
        .bind(card["nonce"].as_str().unwrap())
        .bind(card["confirm_hash"].as_str().unwrap())
        .fetch_one(&mut *transaction)
        .await
        .unwrap()
}

#[tokio::test]
async fn freeze_all_needs_no_model_and_a_notice_on_the_panel_does_the_same() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    sends(&ada, 20).await;
    assert!(
        ada.page("/").await.contains("+00 000 0100"),
        "the bank's number is on every page"
    );
    for _ in 0..2 {
        assert_eq!(ada.post("/safety/freeze", &json!({})).await.status(), 303);
    }
    assert_eq!(ada.balance().await, before);
    assert!(
        ada.page("/accounts")
            .await
            .contains("Your payments are stopped")
    );
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.payment_freeze").await,
        1
    );

    // It is lifted lately after a login that came after it.
    bank.database.set_clock_ahead(60).await.unwrap();
    let fresh = bank.sign_in("Ada").await;
    bank.database.set_clock_ahead(60 + 301).await.unwrap();
    let late = fresh.post("/safety/unfreeze", &json!({})).await;
    assert_eq!(late.headers()["location"], "/safety?sign_in=true");
    bank.database.set_clock_ahead(60 + 299).await.unwrap();
    let lately = fresh.post("/safety/unfreeze", &json!({})).await;
    assert_eq!(lately.headers()["location"], "/safety");
    bank.database.set_clock_ahead(0).await.unwrap();

    let kabir = bank.sign_in("Kabir").await;
    assert!(
        !kabir
            .page("/accounts")
            .await
            .contains("Your payments are stopped")
    );
    assert_eq!(
        kabir.post("/notices/9/not-me", &json!({})).await.status(),
        404,
        "not theirs is not there"
    );
    // A week later its word is worth nothing.
    let by_notice = "SELECT count(*) FROM bank.payment_freeze WHERE how = 'not_me'";
    for (until, stops) in [("- interval '1 second'", 0), ("+ interval '1 minute'", 1)] {
        bank.plant(&format!(
            "UPDATE bank.notice SET not_me_until = bank.bank_clock() {until}"
        ))
        .await;
        kabir.post("/notices/1/not-me", &json!({})).await;
        assert_eq!(bank.count(by_notice).await, stops, "{until}");
    }
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.payment_freeze WHERE how = 'not_me'")
            .await,
        1
    );
    assert_eq!(bank.get("/safety").send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn a_stop_ends_what_is_held() {
    let bank = Bank::start().await;
    bank.plant("INSERT INTO bank.operator_rule (rule_id, currency, above_minor_units, operator) VALUES (gen_random_uuid(), 'EUR', 1000, 'grace')")
        .await;
    let ada = bank.sign_in("Ada").await;
    let (asked, card) = ada.sees_twenty_to_bob().await;
    assert_eq!(ada.presses(&card, "").await.status(), 200);
    assert_eq!(ada.card(&asked).await["state"], "held");
    ada.post("/safety/freeze", &json!({})).await;
    assert_eq!(ada.card(&asked).await["state"], "cancelled");
}

/// A mail server that takes one letter and hands it out.
async fn mail_server() -> (u16, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let took = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        write
            .write_all(b"220 mail.example ESMTP\r\n")
            .await
            .unwrap();
        let mut letter = String::new();
        let mut in_letter = false;
        while let Ok(Some(line)) = lines.next_line().await {
            let answer: &[u8] = match line.as_str() {
                "." if in_letter => {
                    in_letter = false;
                    b"250 taken\r\n"
                }
                text if in_letter => {
                    letter.push_str(text);
                    letter.push('\n');
                    continue;
                }
                "DATA" => {
                    in_letter = true;
                    b"354 go on\r\n"
                }
                text if text.starts_with("QUIT") => break,
                text => {
                    letter.push_str(text);
                    letter.push('\n');
                    b"250 ok\r\n"
                }
            };
            write.write_all(answer).await.unwrap();
            if !in_letter && !letter.is_empty() && answer == b"250 taken\r\n" {
                break;
            }
        }
        letter
    });
    (port, took)
}

#[tokio::test]
async fn a_letter_goes_to_the_address_of_the_profile_and_carries_the_link() {
    let (port, took) = mail_server().await;
    let bank = Bank::with(|config, _| {
        config["notices"] = json!({"email": {"host": "127.0.0.1", "port": port, "tls": "none", "user": null, "password": null,
            "from": "Countersign Bank <no-reply@bank.example>"}});
    })
    .await;
    bank.plant("UPDATE bank.setting SET notice_channels = '{email}'")
        .await;
    bank.sign_in("Ada").await;
    let letter = tokio::time::timeout(Duration::from_secs(10), took)
        .await
        .unwrap()
        .unwrap();
    assert!(letter.contains("RCPT TO:<ada@mail.example>"), "{letter}");
    assert!(letter.contains("Subject: Somebody signed in"), "{letter}");
    assert!(
        letter
            .replace("=\n", "")
            .replace("=3D", "=")
            .contains("/not-me#stop-"),
        "{letter}"
    );
    bank.waits_for("SELECT count(*) FROM bank.outbox WHERE state = 'sent'", 1)
        .await;
}
