//! Who may open a chat, and for how long.

use serde_json::{Value, json};

use crate::bank::{Bank, problem};

#[tokio::test]
async fn a_code_opens_one_chat_for_its_own_customer() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    assert_eq!(chat.opened["customer_name"], "Ada");
    assert_eq!(chat.opened["history"], json!([]));
    let code = bank.code(&ada).await;
    assert_eq!(bank.redeem(&code).await.status(), 200);
    assert_eq!(
        problem(bank.redeem(&code).await).await,
        (401, "not_signed_in".to_owned())
    );
}

#[tokio::test]
async fn two_redeems_of_one_code_at_once_give_one_session() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    for _ in 0..5 {
        let code = bank.code(&ada).await;
        let (one, other) = tokio::join!(bank.redeem(&code), bank.redeem(&code));
        let mut statuses = [one.status().as_u16(), other.status().as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401]);
    }
}

#[tokio::test]
async fn a_wrong_a_late_and_an_orphaned_code_open_nothing() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    for wrong in [
        "",
        "x",
        &"0".repeat(64),
        &"0".repeat(4000),
        "a\0b",
        "' OR 1=1 --",
    ] {
        assert_eq!(
            problem(bank.redeem(wrong).await).await,
            (401, "not_signed_in".to_owned()),
            "{wrong:?}"
        );
    }
    let late = bank.code(&ada).await;
    bank.database.set_clock_ahead(61).await.expect("clock");
    assert_eq!(bank.redeem(&late).await.status(), 401);
    bank.database.set_clock_ahead(0).await.expect("clock");
    let orphaned = bank.code(&ada).await;
    let mut panel = bank.as_role("panel", ada.panel_secret.expose()).await;
    sqlx::query("SELECT bank.end_panel_session()")
        .execute(&mut panel)
        .await
        .expect("sign out");
    assert_eq!(bank.redeem(&orphaned).await.status(), 401);
    for body in [
        json!({}),
        json!({"code": 1}),
        json!({"code": "a", "customer": ada.id}),
        json!(null),
    ] {
        let response = bank.post("/redeem", &body).send().await.expect("answer");
        assert_eq!(
            problem(response).await,
            (422, "invalid_body".to_owned()),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_reloaded_page_finds_the_conversation_again() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    chat.say("Send 20 to Bob").await;
    let again = bank.open_chat(&ada).await;
    assert_eq!(again.conversation, chat.conversation);
    let history = again.opened["history"].as_array().expect("history");
    assert_eq!(history[0]["role"], "customer");
    assert_eq!(history[0]["text"], "Send 20 to Bob");
    assert_eq!(history[1]["role"], "assistant");
    assert_eq!(history[1]["text"], "ok");
    assert_eq!(history[1]["reply_to"], history[0]["id"]);
    let read: Value = bank
        .http
        .get(format!("{}/history", bank.origin))
        .bearer_auth(&again.bearer)
        .send()
        .await
        .expect("answer")
        .json()
        .await
        .expect("json");
    assert_eq!(read["history"], again.opened["history"]);
    // After half a day the page begins anew; the old words ground nothing there.
    bank.database
        .set_clock_ahead(13 * 3600)
        .await
        .expect("clock");
    let mut admin = bank.admin().await;
    sqlx::query("UPDATE bank.session_grant SET expires_at = expires_at + interval '14 hours' WHERE audience = 'panel'")
        .execute(&mut admin)
        .await
        .expect("longer session");
    let later = bank.open_chat(&ada).await;
    assert_ne!(later.conversation, chat.conversation);
    assert_eq!(later.opened["history"], json!([]));
}

#[tokio::test]
async fn nobody_reads_another_customers_conversation() {
    let bank = Bank::start().await;
    let (ada, kabir) = (bank.customer("Ada").await, bank.customer("Kabir").await);
    let chat = bank.open_chat(&ada).await;
    chat.say("my secret").await;
    let other = bank.open_chat(&kabir).await;
    let read = |conversation: &str| {
        bank.http
            .get(format!(
                "{}/history?conversation={conversation}",
                bank.origin
            ))
            .bearer_auth(&other.bearer)
            .send()
    };
    let refused = read(&chat.conversation).await.expect("answer");
    assert_eq!(problem(refused).await, (404, "not_found".to_owned()));
    let missing = read("con_00000000000000000000000000000000")
        .await
        .expect("answer");
    assert_eq!(problem(missing).await, (404, "not_found".to_owned()));
    let bad = read("con_1").await.expect("answer");
    assert_eq!(problem(bad).await, (400, "invalid_query".to_owned()));
}

#[tokio::test]
async fn without_a_live_bearer_nothing_is_answered() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    let message = chat.message("hello");
    let wrong = "0".repeat(64);
    for bearer in [
        None,
        Some("x"),
        Some(wrong.as_str()),
        Some(ada.panel_secret.expose()),
    ] {
        for path in ["/messages", "/conversations"] {
            let mut request = bank.post(
                path,
                if path == "/messages" {
                    &message
                } else {
                    &Value::Null
                },
            );
            if let Some(bearer) = bearer {
                request = request.bearer_auth(bearer);
            }
            let response = request.send().await.expect("answer");
            assert_eq!(
                problem(response).await,
                (401, "not_signed_in".to_owned()),
                "{path}"
            );
        }
    }
    // A bearer in a cookie is no bearer.
    let cookie = bank
        .post("/messages", &message)
        .header(
            "cookie",
            format!("bearer={0}; Authorization=Bearer {0}", chat.bearer),
        )
        .send()
        .await
        .expect("answer");
    assert_eq!(cookie.status(), 401);
    let mut panel = bank.as_role("panel", ada.panel_secret.expose()).await;
    sqlx::query("SELECT bank.end_panel_session()")
        .execute(&mut panel)
        .await
        .expect("sign out");
    assert_eq!(
        problem(chat.send(&message).await).await,
        (401, "not_signed_in".to_owned())
    );
    assert_eq!(bank.count("SELECT count(*) FROM bank.utterance").await, 0);
}
