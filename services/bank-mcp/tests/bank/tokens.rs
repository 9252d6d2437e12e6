//! One token, one call; one turn, one customer.

use serde_json::json;

use crate::{
    bank::Bank,
    door::{Turn, call_body, request},
};

#[tokio::test]
async fn a_token_runs_one_call_and_a_read_counts() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "how much do I have?").await;
    for body in [
        call_body("list_accounts", &json!({})),
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_vec(),
    ] {
        let token = bank.door.sign(&bank.door.claims(&ada, &body));
        let send = || {
            bank.door
                .send(request(&[("countersign-request", &token)], body.clone()))
        };
        let first = send().await;
        assert_eq!(first.status, 200, "{}", first.text);
        assert!(first.json().get("result").is_some(), "{}", first.text);
        let again = send().await;
        assert!(
            again.status == 401 || again.json().get("error").is_some(),
            "replayed: {}",
            again.text
        );
        assert!(!again.text.contains("1240.50"));
    }
}

#[tokio::test]
async fn of_two_calls_with_one_token_at_once_one_runs() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "how much do I have?").await;
    let body = call_body("list_accounts", &json!({}));
    for _ in 0..10 {
        let token = bank.door.sign(&bank.door.claims(&ada, &body));
        let send = || {
            bank.door
                .send(request(&[("countersign-request", &token)], body.clone()))
        };
        let (one, other) = tokio::join!(send(), send());
        let ran = [&one, &other]
            .iter()
            .filter(|answer| answer.json().get("result").is_some())
            .count();
        assert_eq!(ran, 1, "{} / {}", one.text, other.text);
    }
}

#[tokio::test]
async fn a_refused_call_has_used_its_token_too() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "hello").await;
    let body = call_body("get_balance", &json!({"account": "nonsense"}));
    let token = bank.door.sign(&bank.door.claims(&ada, &body));
    let send = || {
        bank.door
            .send(request(&[("countersign-request", &token)], body.clone()))
    };
    assert_eq!(send().await.refusal(), "invalid_argument");
    assert!(send().await.json().get("error").is_some());
}

#[tokio::test]
async fn an_ended_turn_reads_nothing_more() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "how much do I have?").await;
    assert!(
        bank.door
            .call(&ada, "list_accounts", json!({}))
            .await
            .text
            .contains("1240.50")
    );
    bank.end(&ada).await;
    assert_eq!(
        bank.door
            .call(&ada, "list_accounts", json!({}))
            .await
            .refusal(),
        "turn_ended"
    );
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(bank.door.post(&ada, list.to_vec()).await.status, 401);
}

#[tokio::test]
async fn a_secret_opens_only_the_customer_and_conversation_it_was_made_for() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "hello").await;
    let kabir = bank.turn("Kabir", "hello").await;
    let mixed = [
        Turn {
            customer: kabir.customer,
            ..ada.clone()
        },
        Turn {
            conversation: kabir.conversation,
            ..ada.clone()
        },
        Turn {
            secret: kabir.secret.clone(),
            ..ada.clone()
        },
        Turn::unknown(),
    ];
    for turn in mixed {
        let answer = bank.door.call(&turn, "list_accounts", json!({})).await;
        assert_eq!(answer.refusal(), "turn_ended");
        assert!(!answer.text.contains("balance"));
    }
}

#[tokio::test]
async fn a_panel_secret_is_worth_nothing_here() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "hello").await;
    sqlx::query("UPDATE bank.session_grant SET audience = 'panel' WHERE secret_hash = $1")
        .bind(ada.secret.hash().as_slice())
        .execute(&mut bank.admin().await)
        .await
        .unwrap();
    assert_eq!(
        bank.door
            .call(&ada, "list_accounts", json!({}))
            .await
            .refusal(),
        "turn_ended"
    );
}

#[tokio::test]
async fn a_token_used_at_one_replica_is_used_at_the_other() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "how much do I have?").await;
    let replica = bank.door.replica(bank.pool().await);
    let body = call_body("list_accounts", &json!({}));
    for _ in 0..10 {
        let token = bank.door.sign(&bank.door.claims(&ada, &body));
        let headers = [("countersign-request", token.as_str())];
        let (one, other) = tokio::join!(
            bank.door.send(request(&headers, body.clone())),
            replica.send(request(&headers, body.clone()))
        );
        let ran = [one, other]
            .iter()
            .filter(|answer| answer.text.contains("1240.50"))
            .count();
        assert_eq!(ran, 1);
    }
}
