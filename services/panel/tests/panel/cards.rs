//! From the card to the money: what a press does, and everything it must not do.

use countersign_receipts::{LogKeyFile, LogSigner, Receipt};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::bank::{Bank, problem};

#[tokio::test]
async fn a_press_moves_the_money_once_and_gives_a_receipt() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (_, card) = ada.sees_twenty_to_bob().await;
    assert_eq!(card["button"], "Send 20.00 EUR to Bob Smith");
    assert_eq!(card["you_wrote"]["text"], "Send 20 to Bob");
    assert_eq!(ada.balance().await, before, "drawing a card moves nothing");

    let answer = ada.presses(&card, "Rent").await;
    assert_eq!(answer.status(), StatusCode::OK);
    let confirmed: Value = answer.json().await.unwrap();
    assert_eq!(ada.balance().await, before - 2_000);
    assert_eq!(confirmed["outcome"], "confirmed");

    // The same again, in one step or two and whatever the nonce: the same answer, nothing more.
    let mut again = card.clone();
    again["nonce"] = json!("another");
    for card in [&card, &again] {
        let answer: Value = ada
            .step("confirm", card, "Rent")
            .await
            .json()
            .await
            .unwrap();
        assert_eq!(answer, confirmed);
    }
    assert_eq!(ada.balance().await, before - 2_000);
    assert_eq!(bank.executions().await, 1);

    let path = confirmed["receipt"].as_str().unwrap();
    let page = ada.page(path).await;
    for shown in [
        "Bob Smith",
        "20.00 EUR",
        "Rent",
        confirmed["short_code"].as_str().unwrap(),
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(ada.page("/receipts").await.contains(path));
    let file = ada.get(&format!("{path}.json")).await;
    assert!(
        file.headers()["content-disposition"]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
    let receipt = Receipt::read(&file.text().await.unwrap()).unwrap();
    let (payload, _) = receipt.verify(&log_key().verifier()).unwrap();
    assert_eq!(payload["confirm_hash"], card["confirm_hash"]);

    let kabir = bank.sign_in("Kabir").await;
    assert_eq!(kabir.get(path).await.status(), 404);
    assert_eq!(
        problem(kabir.get(&format!("{path}.json")).await).await.0,
        404
    );
}

pub fn log_key() -> LogSigner {
    let file: LogKeyFile = serde_json::from_value(json!({
        "key_id": "log-test", "pkcs8_pem": crate::bank::LOG_KEY_PEM,
    }))
    .unwrap();
    LogSigner::new(crate::bank::LOG_ORIGIN, &file).unwrap()
}

#[tokio::test]
async fn many_presses_at_once_are_one_payment_with_one_answer() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (_, card) = ada.sees_twenty_to_bob().await;
    let presses = (0..8).map(|_| ada.step("confirm", &card, ""));
    let mut answers = Vec::new();
    for answer in futures_util::future::join_all(presses).await {
        assert_eq!(answer.status(), StatusCode::OK);
        answers.push(answer.json::<Value>().await.unwrap());
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    assert_eq!(ada.balance().await, before - 2_000);
    assert_eq!(bank.executions().await, 1);
}

#[tokio::test]
async fn a_card_that_is_not_the_one_shown_is_refused_with_the_card_as_it_is() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (_, card) = ada.sees_twenty_to_bob().await;

    let mut flipped = card.clone();
    let hash = card["confirm_hash"].as_str().unwrap();
    let other = if hash.starts_with('0') { "1" } else { "0" };
    flipped["confirm_hash"] = json!(format!("{other}{}", &hash[1..]));
    let mut version = card.clone();
    version["version"] = json!(2);
    let mut nonce = card.clone();
    nonce["nonce"] = json!("0".repeat(64));
    for (what, changed) in [("hash", &flipped), ("version", &version), ("nonce", &nonce)] {
        let (status, code, body) = problem(ada.step("confirm", changed, "").await).await;
        assert_eq!((status, code.as_str()), (409, "stale_card"), "{what}");
        assert_eq!(body["card"]["confirm_hash"], card["confirm_hash"], "{what}");
        assert_ne!(
            body["card"]["nonce"], changed["nonce"],
            "{what}: a showing of its own"
        );
    }
    for bad in ["", "zz", &hash[1..], &format!("{hash}00")] {
        let mut broken = card.clone();
        broken["confirm_hash"] = json!(bad);
        assert_eq!(
            ada.step("confirm", &broken, "").await.status(),
            422,
            "{bad:?}"
        );
    }
    // What the bank knows changed between the showing and the press.
    sqlx::query("UPDATE bank.payee SET name = 'Bob Smyth' WHERE name = 'Bob Smith'")
        .execute(&mut bank.admin().await)
        .await
        .unwrap();
    let (status, code, body) = problem(ada.step("confirm", &card, "").await).await;
    assert_eq!((status, code.as_str()), (409, "stale_card"));
    assert_eq!(body["card"]["button"], "Send 20.00 EUR to Bob Smyth");
    assert_eq!(ada.balance().await, before);
    assert_eq!(bank.executions().await, 0);
}

#[tokio::test]
async fn what_is_over_or_somebody_else_s_is_not_confirmed() {
    let bank = Bank::start().await;
    let (ada, kabir) = (bank.sign_in("Ada").await, bank.sign_in("Kabir").await);
    let before = ada.balance().await;
    let (first, old_card) = ada.sees_twenty_to_bob().await;

    let (status, code, _) = problem(kabir.step("confirm", &old_card, "").await).await;
    assert_eq!((status, code.as_str()), (404, "not_found"));
    let (status, ..) = problem(
        kabir
            .post(
                &format!("/api/actions/{}/cancel", first.text()),
                &json!({"version": 1}),
            )
            .await,
    )
    .await;
    assert_eq!(status, 404);

    ada.writes("no, 30 to Bob").await;
    let second = ada
        .supersedes(Some(&first), Some("Bob Smith"), Some(3_000))
        .await;
    let (status, code, body) = problem(ada.step("confirm", &old_card, "").await).await;
    assert_eq!((status, code.as_str()), (409, "not_open"));
    assert_eq!(body["card"]["state"], "superseded");
    assert_eq!(body["card"]["superseded_by"], second.text().as_str());

    let card = ada.card(&second).await;
    let path = format!("/api/actions/{}/cancel", second.text());
    let cancelled: Value = ada
        .post(&path, &json!({"version": 1}))
        .await
        .json()
        .await
        .unwrap();
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(
        ada.post(&path, &json!({"version": 1})).await.status(),
        200,
        "no is no, again"
    );
    assert_eq!(
        problem(ada.step("confirm", &card, "").await).await.1,
        "not_open"
    );
    for unknown in [
        format!("act_{}", "0".repeat(32)),
        "act_1".to_owned(),
        "x".to_owned(),
    ] {
        let answer = ada
            .post(
                &format!("/api/actions/{unknown}/cancel"),
                &json!({"version": 1}),
            )
            .await;
        assert_eq!(problem(answer).await.0, 404, "{unknown}");
    }
    assert_eq!(ada.balance().await, before);
}

#[tokio::test]
async fn after_its_time_a_card_moves_nothing() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (asked, card) = ada.sees_twenty_to_bob().await;
    bank.database.set_clock_ahead(601).await.unwrap();
    let answer = ada.step("confirm", &card, "").await;
    // The sweeper may have been there first; both say that it is over.
    assert!(
        matches!(answer.status().as_u16(), 409 | 410),
        "{}",
        answer.status()
    );
    assert_eq!(ada.balance().await, before);
    let state = async || ada.card(&asked).await["state"].clone();
    for _ in 0..40 {
        if state().await == "expired" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(state().await, "expired");
}

#[tokio::test]
async fn what_is_over_is_not_changed_any_more() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    ada.writes("Send some money to Bob").await;
    let late = ada.is_asked(Some("Bob Smith"), None).await;
    let kabir = bank.sign_in("Kabir").await;
    kabir.writes("Send some money").await;
    let over = kabir.is_asked(None, None).await;
    let cancel = format!("/api/actions/{}/cancel", over.text());
    assert_eq!(
        kabir.post(&cancel, &json!({"version": 1})).await.status(),
        200
    );
    for (visitor, asked, seconds) in [(&kabir, &over, 0), (&ada, &late, 601)] {
        bank.database.set_clock_ahead(seconds).await.unwrap();
        for (change, body) in [
            (
                "fill",
                json!({"version": 1, "slot": "amount", "line": 1, "value": "25.50"}),
            ),
            ("keep", json!({"version": 1})),
            ("drop", json!({"version": 1, "line": 1})),
        ] {
            let path = format!("/api/actions/{}/{change}", asked.text());
            let (status, code, _) = problem(visitor.post(&path, &body).await).await;
            // The sweeper may have been there first; both say that it is over.
            assert!(
                matches!(
                    (status, code.as_str()),
                    (409, "not_open") | (410, "expired")
                ),
                "{change}: {status} {code}"
            );
        }
        assert_eq!(visitor.card(asked).await["version"], 1);
    }
}

#[tokio::test]
async fn a_note_is_one_visible_line() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let (_, card) = ada.sees_twenty_to_bob().await;
    for note in ["a\nb".to_owned(), "a\u{202e}b".to_owned(), "é".repeat(201)] {
        for step in ["prepare", "confirm"] {
            let (status, code, _) = problem(ada.step(step, &card, &note).await).await;
            assert_eq!((status, code.as_str()), (422, "invalid_value"), "{step}");
        }
    }
    let first: Value = ada
        .step("prepare", &card, "Rent")
        .await
        .json()
        .await
        .unwrap();
    let second: Value = ada
        .step("prepare", &card, "rent")
        .await
        .json()
        .await
        .unwrap();
    assert_ne!(
        first["challenge"], second["challenge"],
        "the challenge binds the note"
    );
    assert_eq!(ada.presses(&card, &"é".repeat(200)).await.status(), 200);
}

#[tokio::test]
async fn an_open_slot_makes_a_new_version_that_waits_for_its_own_press() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    ada.writes("Send some money to Bob").await;
    let asked = ada.is_asked(Some("Bob Smith"), None).await;
    let card = ada.card(&asked).await;
    assert_eq!(card["confirm_hash"], Value::Null);
    assert_eq!(card["open_slots"][0]["slot"], "amount");
    let path = format!("/api/actions/{}/fill", asked.text());
    let fill = |version: i64, value: &'static str| {
        let body = json!({"version": version, "slot": "amount", "line": 1, "value": value});
        let (ada, path) = (&ada, &path);
        async move { ada.post(path, &body).await }
    };
    for bad in ["", "0", "-5", "1e3", "5.123", "20,00", "٥"] {
        let (status, code, _) = problem(fill(1, bad).await).await;
        assert_eq!((status, code.as_str()), (422, "invalid_value"), "{bad:?}");
    }
    let filled: Value = fill(1, "25.50").await.json().await.unwrap();
    assert_eq!(filled["version"], 2);
    assert_eq!(filled["button"], "Send 25.50 EUR to Bob Smith");
    assert_eq!(
        problem(fill(2, "99").await).await.1,
        "stale_card",
        "a filled slot is never edited"
    );
    assert_eq!(problem(fill(1, "99").await).await.1, "stale_card");
    assert_eq!(ada.balance().await, before);
    assert_eq!(ada.presses(&filled, "").await.status(), 200);
    assert_eq!(ada.balance().await, before - 2_550);
}

#[tokio::test]
async fn a_later_no_takes_the_button_away_until_the_customer_keeps_it() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (asked, card) = ada.sees_twenty_to_bob().await;
    ada.writes("no, stop").await;
    assert_eq!(
        problem(ada.step("confirm", &card, "").await).await.1,
        "stale_card"
    );
    let asking = ada.card(&asked).await;
    let said = asking["asks_again"]["text"].as_str().unwrap();
    assert!("no, stop".contains(said) && !said.is_empty(), "{said}");
    assert_eq!(asking["confirm_hash"], Value::Null);
    let path = format!("/api/actions/{}/keep", asked.text());
    assert_eq!(
        problem(ada.post(&path, &json!({"version": 7})).await)
            .await
            .1,
        "stale_card"
    );
    let kept: Value = ada
        .post(&path, &json!({"version": 1}))
        .await
        .json()
        .await
        .unwrap();
    assert_eq!(kept["version"], 2);
    assert_ne!(kept["confirm_hash"], card["confirm_hash"]);
    assert_eq!(
        problem(ada.step("confirm", &card, "").await).await.1,
        "stale_card"
    );
    assert_eq!(ada.balance().await, before);
    assert_eq!(ada.presses(&kept, "").await.status(), 200);
    assert_eq!(ada.balance().await, before - 2_000);
}

#[tokio::test]
async fn what_the_bank_cannot_do_says_so_and_moves_nothing() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (_, card) = ada.sees_twenty_to_bob().await;
    // The money went elsewhere between the showing and the press.
    sqlx::query(
        "UPDATE bank.account_balance b SET balance_minor_units = 100 FROM bank.account a, bank.customer c
          WHERE a.account_id = b.account_id AND a.is_default AND c.customer_id = a.customer_id AND c.display_name = 'Ada'",
    )
    .execute(&mut bank.admin().await)
    .await
    .unwrap();
    let (status, _, body) = problem(ada.step("confirm", &card, "").await).await;
    assert!(matches!(status, 409 | 422), "{body}");
    let said = body["detail"].as_str().unwrap().to_owned()
        + body["card"]["message"].as_str().unwrap_or("");
    assert!(said.contains("Nothing was sent"), "{said}");
    assert_eq!(ada.balance().await, 100);
    assert!(before > 2_000);
}
