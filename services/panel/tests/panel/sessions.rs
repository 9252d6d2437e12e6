//! Signing in, the chat's code, the demo's picker, signing out.

use countersign_domain::Secret;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::bank::{Bank, cookie_of, problem};

#[tokio::test]
async fn a_token_signs_in_once() {
    let bank = Bank::start().await;
    let token = bank.token("Ada").await;
    let answer = bank.log_in(&token).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in [
        "__Host-countersign-panel=",
        "; Secure",
        "; HttpOnly",
        "; SameSite=Strict",
        "; Path=/",
    ] {
        assert!(cookie.contains(part), "{part}");
    }
    assert_eq!(problem(bank.log_in(&token).await).await.0, 401);
    let wrong = Secret::new("0".repeat(64));
    assert_eq!(problem(bank.log_in(&wrong).await).await.0, 401);
    let page = bank
        .get("/")
        .header("cookie", cookie_of(&answer))
        .send()
        .await
        .unwrap();
    assert!(page.text().await.unwrap().contains("Waiting for you"));
}

#[tokio::test]
async fn a_late_token_signs_nobody_in() {
    let bank = Bank::start().await;
    let token = bank.token("Ada").await;
    bank.database.set_clock_ahead(61).await.unwrap();
    assert_eq!(problem(bank.log_in(&token).await).await.0, 401);
}

#[tokio::test]
async fn without_a_session_there_is_nothing() {
    let bank = Bank::start().await;
    let home = bank.get("/").send().await.unwrap().text().await.unwrap();
    assert!(home.contains("You are not signed in"));
    assert!(!home.contains("Kabir"), "no picker without a session");
    let act = format!("act_{}", "0".repeat(32));
    for path in [
        "/accounts",
        "/activity",
        "/receipts",
        "/limits",
        "/api/cards",
        "/api/events",
    ] {
        assert_eq!(bank.get(path).send().await.unwrap().status(), 401, "{path}");
    }
    for (path, body) in [
        ("/chat-code".to_owned(), json!({})),
        ("/logout".to_owned(), json!({})),
        (
            "/demo/switch".to_owned(),
            json!({"customer": format!("cus_{}", "0".repeat(32))}),
        ),
        (
            format!("/api/actions/{act}/confirm"),
            json!({"version": 1, "confirm_hash": "00", "nonce": "", "note": ""}),
        ),
        (format!("/api/actions/{act}/cancel"), json!({"version": 1})),
    ] {
        assert_eq!(
            bank.post(&path, &body).send().await.unwrap().status(),
            401,
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_secret_of_another_audience_is_no_panel_session() {
    let bank = Bank::start().await;
    let secret = Secret::from_random([5; 32]);
    sqlx::query(
        "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, audience, expires_at)
         SELECT gen_random_uuid(), $1, customer_id, 'intake', bank.bank_clock() + interval '1 hour'
           FROM bank.customer WHERE display_name = 'Ada'",
    )
    .bind(secret.hash().as_slice())
    .execute(&mut bank.admin().await)
    .await
    .unwrap();
    let cookie = format!("__Host-countersign-panel={}", secret.expose());
    let answer = bank
        .get("/accounts")
        .header("cookie", cookie)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 401);
}

#[tokio::test]
async fn signing_in_again_and_signing_out_end_the_session() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let token = bank.token("Ada").await;
    let again = ada.post("/login", &json!({"token": token.expose()})).await;
    assert_eq!(again.status(), StatusCode::NO_CONTENT);
    assert_eq!(
        ada.get("/accounts").await.status(),
        401,
        "the older session ended"
    );

    let ada = crate::bank::Visitor {
        cookie: cookie_of(&again),
        ..ada
    };
    assert_eq!(ada.get("/accounts").await.status(), 200);
    let out = ada.post("/logout", &json!({})).await;
    assert_eq!(out.status(), StatusCode::SEE_OTHER);
    assert!(
        out.headers()["set-cookie"]
            .to_str()
            .unwrap()
            .contains("Max-Age=0")
    );
    assert_eq!(ada.get("/accounts").await.status(), 401);
}

#[tokio::test]
async fn a_chat_code_is_redeemed_once_and_dies_with_the_session() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let code = || async {
        let answer: Value = ada
            .post("/chat-code", &json!({}))
            .await
            .json()
            .await
            .unwrap();
        answer["code"].as_str().unwrap().to_owned()
    };
    let redeem = async |code: &str| -> Option<String> {
        sqlx::query_scalar(
            "SELECT display_name FROM bank.redeem_chat_code($1, sha256(convert_to($1, 'UTF8')))",
        )
        .bind(code)
        .fetch_optional(&mut bank.database.login("intake").await.unwrap())
        .await
        .unwrap()
    };
    let (first, second) = (code().await, code().await);
    assert_eq!(redeem(&first).await.as_deref(), Some("Ada"));
    assert_eq!(redeem(&first).await, None);
    ada.post("/logout", &json!({})).await;
    assert_eq!(redeem(&second).await, None);
}

#[tokio::test]
async fn a_frame_that_reloads_in_a_loop_gets_no_more_codes() {
    let bank = Bank::start().await;
    let (ada, kabir) = (bank.sign_in("Ada").await, bank.sign_in("Kabir").await);
    for _ in 0..10 {
        assert_eq!(ada.post("/chat-code", &json!({})).await.status(), 200);
    }
    assert_eq!(
        problem(ada.post("/chat-code", &json!({})).await).await.0,
        429
    );
    assert_eq!(
        kabir.post("/chat-code", &json!({})).await.status(),
        200,
        "a cap of each customer's own"
    );
}

#[tokio::test]
async fn the_picker_offers_the_demo_s_customers_and_nobody_else() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let id = async |name: &'static str| {
        let text: String = sqlx::query_scalar("SELECT 'cus_' || replace(customer_id::text, '-', '') FROM bank.customer WHERE display_name = $1")
            .bind(name)
            .fetch_one(&mut bank.admin().await)
            .await
            .unwrap();
        text
    };
    let noor = ada
        .post("/demo/switch", &json!({"customer": id("Noor").await}))
        .await;
    assert_eq!(problem(noor).await.0, 404);
    let kabir = ada
        .post("/demo/switch", &json!({"customer": id("Kabir").await}))
        .await;
    assert_eq!(kabir.status(), StatusCode::NO_CONTENT);
    assert_eq!(
        ada.get("/accounts").await.status(),
        401,
        "the session before ended"
    );
    let page = bank
        .get("/")
        .header("cookie", cookie_of(&kabir))
        .send()
        .await
        .unwrap();
    assert!(page.text().await.unwrap().contains("selected>Kabir"));
}

#[tokio::test]
async fn outside_the_demo_there_is_no_picker() {
    let bank = Bank::without_demo().await;
    let ada = bank.sign_in("Ada").await;
    assert!(!ada.page("/").await.contains("demo-customer"));
    let body = json!({"customer": format!("cus_{}", "0".repeat(32))});
    assert_eq!(problem(ada.post("/demo/switch", &body).await).await.0, 404);
}
