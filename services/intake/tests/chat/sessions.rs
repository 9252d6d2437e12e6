//! Who may open a chat, and for how long.

use serde_json::{Value, json};

use crate::{
    bank::{Bank, lines, problem},
    fake_agent::{Part, done, text},
};

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
async fn conversations_are_listed_and_an_earlier_one_is_read() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let kabir = bank.customer("Kabir").await;
    bank.open_chat(&kabir).await.say("Kabir was here").await;
    let mut chat = bank.open_chat(&ada).await;
    bank.agent
        .will_answer(&[Part::Hold, text("You have 5."), done()]);
    let sent = chat.send(&chat.message("What is\nmy balance?")).await;
    bank.agent.turn_came().await;
    bank.looks_at("get_balance").await;
    bank.agent.go_on();
    lines(sent).await;
    let first = chat.conversation.clone();
    let begun: Value = bank
        .post("/conversations", &json!({}))
        .bearer_auth(&chat.bearer)
        .send()
        .await
        .expect("answer")
        .json()
        .await
        .expect("json");
    chat.conversation = begun["conversation"].as_str().expect("id").to_owned();
    let get = async |path: &str| -> Value {
        let answer = bank
            .http
            .get(format!("{}{path}", bank.origin))
            .header("origin", &bank.origin)
            .bearer_auth(&chat.bearer)
            .send()
            .await
            .expect("answer");
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.expect("json")
    };
    let list = get("/conversations").await;
    let listed: Vec<_> = list["conversations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            (
                one["conversation"].as_str(),
                one["begins"].as_str(),
                one["messages"].as_i64(),
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            (Some(chat.conversation.as_str()), Some(""), Some(0)),
            (Some(first.as_str()), Some("What is my balance?"), Some(1)),
        ]
    );
    let earlier = get(&format!("/history?conversation={first}")).await;
    assert_eq!(
        earlier["history"][1]["looked_at"],
        json!([{"tool": "get_balance", "receipt": "0a".repeat(32)}])
    );
    // Nothing was written in two of them: the older is not listed.
    bank.post("/conversations", &json!({}))
        .bearer_auth(&chat.bearer)
        .send()
        .await
        .expect("answer");
    let list = get("/conversations").await;
    assert_eq!(
        list["conversations"].as_array().map(Vec::len),
        Some(2),
        "{list}"
    );
}

#[tokio::test]
async fn the_chat_speaks_the_panels_language() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    assert_eq!(bank.open_chat(&ada).await.opened["language"], "en");
    sqlx::query("UPDATE bank.customer SET panel_language = 'ar'")
        .execute(&mut bank.admin().await)
        .await
        .expect("chosen");
    assert_eq!(bank.open_chat(&ada).await.opened["language"], "ar");
    for (path, lang) in [
        ("/?lang=ar", "ar"),
        ("/?lang=xx", "en"),
        ("/?lang=a&lang=b", "en"),
        ("/", "en"),
    ] {
        let page = bank.http.get(format!("{}{path}", bank.origin)).send();
        let html = page.await.expect("answer").text().await.expect("html");
        assert!(html.contains(&format!("<html lang=\"{lang}\"")), "{path}");
    }
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
