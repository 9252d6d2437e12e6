//! Every kind of request, asked for in ordinary words, and the ways a model could twist it.

use serde_json::{Value, json};

use crate::{
    bank::Bank,
    door::{Turn, call_body, request as http_request},
};

/// The id of the first item whose member has a value.
async fn find(
    bank: &Bank,
    turn: &Turn,
    (tool, list, id): (&str, &str, &str),
    (key, value): (&str, &str),
) -> Value {
    let content = bank.door.call(turn, tool, json!({})).await.content();
    let found = content[list]
        .as_array()
        .expect("a list")
        .iter()
        .find(|item| item[key] == value || item[key]["untrusted_text"] == value);
    found.unwrap_or_else(|| panic!("no {value}"))[id].clone()
}

const PAYEE: (&str, &str, &str) = ("list_payees", "payees", "payee");
const ACCOUNT: (&str, &str, &str) = ("list_accounts", "accounts", "account");
const ORDER: (&str, &str, &str) = ("list_standing_orders", "standing_orders", "order");
const CARD: (&str, &str, &str) = ("list_cards", "cards", "card");
const MOVEMENT: (&str, &str, &str) = ("list_transactions", "transactions", "transaction");

/// Calls a request tool and expects it to wait.
async fn waits(bank: &Bank, turn: &Turn, tool: &str, arguments: Value) -> Value {
    let answer = bank.door.call(turn, tool, arguments).await.content();
    assert_eq!(answer["status"], "waiting_for_customer", "{tool}: {answer}");
    answer
}

#[tokio::test]
async fn every_kind_of_request_can_be_asked_for() {
    let bank = Bank::demo().await;
    for (message, tool, arguments) in [
        ("please freeze my card", "request_card_freeze", json!({})),
        ("please save a new payee", "request_payee", json!({})),
        (
            "I need to change my address",
            "request_profile_change",
            json!({"field": "address"}),
        ),
        ("I want to dispute a payment", "request_dispute", json!({})),
        (
            "send money to Alice",
            "request_transfer",
            json!({"payments": [{}]}),
        ),
    ] {
        let ada = bank.turn("Ada", message).await;
        let answer = bank.door.call(&ada, tool, arguments).await;
        assert!(
            answer.text.contains("waiting_for_customer"),
            "{message}: {}",
            answer.text
        );
    }
    let ada = bank
        .turn("Ada", "set up a standing order of 50 to Mum every month")
        .await;
    let mum = find(&bank, &ada, PAYEE, ("name", "Mum")).await;
    let order =
        json!({"operation": "create", "payee": mum, "amount": "50.00", "frequency": "monthly"});
    waits(&bank, &ada, "request_standing_order", order).await;

    let ada = bank.turn("Ada", "cancel the rent standing order").await;
    let rent = find(&bank, &ada, ORDER, ("name", "rent")).await;
    waits(
        &bank,
        &ada,
        "request_standing_order",
        json!({"operation": "cancel", "order": rent}),
    )
    .await;

    let ada = bank
        .turn(
            "Ada",
            "dispute the 64.10 payment to Nordwind, I don't recognise it",
        )
        .await;
    let nordwind = find(&bank, &ada, MOVEMENT, ("counterparty", "Nordwind")).await;
    waits(
        &bank,
        &ada,
        "request_dispute",
        json!({"transaction": nordwind}),
    )
    .await;

    let ada = bank.turn("Ada", "refund the payment from Tom Becker").await;
    let tom = find(&bank, &ada, MOVEMENT, ("counterparty", "Tom Becker")).await;
    waits(&bank, &ada, "request_refund", json!({"transaction": tom})).await;

    let ada = bank
        .turn("Ada", "move 100 from savings to my current account")
        .await;
    let current = find(&bank, &ada, ACCOUNT, ("kind", "current")).await;
    let savings = find(&bank, &ada, ACCOUNT, ("kind", "savings")).await;
    let request =
        json!({"payments": [{"payee": current, "amount": "100.00"}], "from_account": savings});
    waits(&bank, &ada, "request_transfer", request).await;
}

#[tokio::test]
async fn an_account_the_customer_did_not_name_is_not_picked() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "Send 20 to Bob").await;
    let bob = find(&bank, &ada, PAYEE, ("name", "Bob Smith")).await;
    let savings = find(&bank, &ada, ACCOUNT, ("kind", "savings")).await;
    let request = json!({"payments": [{"payee": bob, "amount": "20.00"}], "from_account": savings});
    let refused = bank.door.call(&ada, "request_transfer", request).await;
    assert_eq!(refused.refusal(), "not_grounded", "{}", refused.text);
}

#[tokio::test]
async fn once_is_not_every_month_and_a_rhythm_is_not_made_up() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "Send 20 to Bob").await;
    let bob = find(&bank, &ada, PAYEE, ("name", "Bob Smith")).await;
    let order =
        json!({"operation": "create", "payee": bob, "amount": "20.00", "frequency": "monthly"});
    let refused = bank
        .door
        .call(&ada, "request_standing_order", order)
        .await
        .refusal();
    assert!(
        refused == "act_not_requested" || refused == "not_grounded",
        "{refused}"
    );
    let ada = bank
        .turn("Ada", "set up a standing order of 50 to Bob every month")
        .await;
    let weekly =
        json!({"operation": "create", "payee": bob, "amount": "50.00", "frequency": "weekly"});
    let refused = bank
        .door
        .call(&ada, "request_standing_order", weekly)
        .await
        .refusal();
    assert_eq!(refused, "not_grounded");
}

#[tokio::test]
async fn a_freeze_is_not_an_unfreeze() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "freeze my card ending 0077").await;
    let card = find(&bank, &ada, CARD, ("last_four", "0077")).await;
    let refused = bank
        .door
        .call(&ada, "request_card_unfreeze", json!({"card": card}))
        .await
        .refusal();
    assert!(
        refused == "act_not_requested" || refused == "not_possible_now",
        "{refused}"
    );
}

#[tokio::test]
async fn money_does_not_go_from_an_account_to_itself() {
    let bank = Bank::demo().await;
    let ada = bank
        .turn(
            "Ada",
            "move 20 from my current account to my current account",
        )
        .await;
    let current = find(&bank, &ada, ACCOUNT, ("kind", "current")).await;
    let request =
        json!({"payments": [{"payee": current, "amount": "20.00"}], "from_account": current});
    let answer = bank.door.call(&ada, "request_transfer", request).await;
    assert_eq!(answer.json()["result"]["isError"], true, "{}", answer.text);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.pending_action").await,
        0
    );
}

#[tokio::test]
async fn the_same_request_twice_at_once_is_one_request() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "Send 20 to Bob").await;
    let bob = find(&bank, &ada, PAYEE, ("name", "Bob Smith")).await;
    let request = || json!({"payments": [{"payee": bob, "amount": "20.00"}]});
    let (one, other) = tokio::join!(
        bank.door.call(&ada, "request_transfer", request()),
        bank.door.call(&ada, "request_transfer", request())
    );
    let (one, other) = (one.content(), other.content());
    assert_eq!(one["action"], other["action"]);
    assert_ne!(one["status"], other["status"]);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.pending_action").await,
        1
    );
}

#[tokio::test]
async fn a_busy_customer_is_told_so_and_nothing_is_stored() {
    use sqlx::{Connection, Executor};
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "Send 20 to Bob").await;
    let bob = find(&bank, &ada, PAYEE, ("name", "Bob Smith")).await;
    let mut admin = bank.admin().await;
    let mut holding = admin.begin().await.unwrap();
    holding
        .execute("UPDATE bank.customer_lock SET version = version + 1")
        .await
        .unwrap();
    let request = json!({"payments": [{"payee": bob, "amount": "20.00"}]});
    let body = call_body("request_transfer", &request);
    let token = bank.door.sign(&bank.door.claims(&ada, &body));
    let send = || {
        let headers = [("countersign-request", token.as_str())];
        bank.door.send(http_request(&headers, body.clone()))
    };
    assert_eq!(send().await.refusal(), "busy");
    holding.rollback().await.unwrap();
    // The failed statement took everything with it but the spent token: nobody sends a request twice.
    assert!(send().await.json().get("error").is_some());
    let stored = bank.count("SELECT count(*) FROM bank.pending_action").await;
    assert_eq!(stored, 0);
    waits(&bank, &ada, "request_transfer", request).await;
}

#[tokio::test]
async fn a_first_payment_to_a_new_payee_has_its_own_limit() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "send 251 to Bright Solar").await;
    let solar = find(&bank, &ada, PAYEE, ("name", "Bright Solar")).await;
    let over = json!({"payments": [{"payee": solar, "amount": "251.00"}]});
    assert_eq!(
        bank.door
            .call(&ada, "request_transfer", over)
            .await
            .refusal(),
        "limit_first_payment"
    );
    let ada = bank.turn("Ada", "send 250 to Bright Solar").await;
    waits(
        &bank,
        &ada,
        "request_transfer",
        json!({"payments": [{"payee": solar, "amount": "250.00"}]}),
    )
    .await;
}
