//! What the request tools put before the customer, and what they refuse to.

use serde_json::{Value, json};

use crate::{bank::Bank, door::Turn};

const MONEY: &str =
    "SELECT coalesce(sum(balance_minor_units), 0)::bigint FROM bank.account_balance";
const ENTRIES: &str = "SELECT count(*) FROM bank.entry";
const OPEN: &str = "SELECT count(*) FROM bank.pending_action WHERE state = 'pending'";
const ALL: &str = "SELECT count(*) FROM bank.pending_action";

/// The id of the payee, card, order or account with a value.
async fn id(
    bank: &Bank,
    turn: &Turn,
    tool: &str,
    list: &str,
    key: &str,
    value: &str,
    id: &str,
) -> String {
    let content = bank.door.call(turn, tool, json!({})).await.content();
    let items = content[list].as_array().expect("a list");
    let found = items
        .iter()
        .find(|item| item[key] == value || item[key]["untrusted_text"] == value);
    found.unwrap_or_else(|| panic!("no {value}"))[id]
        .as_str()
        .expect("an id")
        .to_owned()
}

async fn payee(bank: &Bank, turn: &Turn, name: &str) -> String {
    id(bank, turn, "list_payees", "payees", "name", name, "payee").await
}

fn pay(payee: &str, amount: &str) -> Value {
    json!({"payments": [{"payee": payee, "amount": amount}]})
}

#[tokio::test]
async fn a_request_waits_on_the_panel_and_moves_nothing() {
    let bank = Bank::demo().await;
    let (money, entries) = (bank.count(MONEY).await, bank.count(ENTRIES).await);
    let ada = bank.turn("Ada", "Send 20 to Bob").await;
    let bob = payee(&bank, &ada, "Bob Smith").await;
    let answer = bank
        .door
        .call(&ada, "request_transfer", pay(&bob, "20.00"))
        .await
        .content();
    assert_eq!(answer["status"], "waiting_for_customer", "{answer}");
    assert_eq!(answer["open_slots"], json!([]));
    assert_eq!(answer["superseded"], Value::Null);
    let action = answer["action"].as_str().unwrap();
    assert!(action.starts_with("act_"));

    let open = bank
        .door
        .call(&ada, "list_open_requests", json!({}))
        .await
        .content();
    assert_eq!(open["requests"][0]["action"], action, "{open}");
    let status = bank
        .door
        .call(&ada, "get_request_status", json!({"action": action}))
        .await
        .content();
    assert_eq!(status["status"], "waiting_for_customer", "{status}");

    let again = bank
        .door
        .call(&ada, "request_transfer", pay(&bob, "20.00"))
        .await
        .content();
    assert_eq!(
        (&again["status"], &again["action"]),
        (&json!("already_waiting"), &json!(action))
    );
    assert_eq!(
        (bank.count(MONEY).await, bank.count(ENTRIES).await),
        (money, entries)
    );
    assert_eq!(bank.count(OPEN).await, 1);
}

#[tokio::test]
async fn values_the_customer_did_not_type_are_refused() {
    let bank = Bank::demo().await;
    let ada = bank
        .turn("Ada", "Do not send 50 to Alice; send 20 to Bob")
        .await;
    let bob = payee(&bank, &ada, "Bob Smith").await;
    let alice = payee(&bank, &ada, "Alice").await;
    for (payee, amount) in [
        (&bob, "50.00"),
        (&alice, "50.00"),
        (&alice, "20.00"),
        (&bob, "200.00"),
    ] {
        let answer = bank
            .door
            .call(&ada, "request_transfer", pay(payee, amount))
            .await;
        let code = answer.refusal();
        assert!(
            code == "not_grounded" || code == "act_not_requested",
            "{amount}: {}",
            answer.text
        );
    }
    assert_eq!(bank.count(ALL).await, 0);
    let good = bank
        .door
        .call(&ada, "request_transfer", pay(&bob, "20.00"))
        .await
        .content();
    assert_eq!(good["status"], "waiting_for_customer", "{good}");
}

#[tokio::test]
async fn nothing_is_asked_for_that_the_customer_did_not_ask_for() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "what letters did I get from Acme?").await;
    let nobody = payee(&bank, &ada, "Nobody Inc").await;
    let card = id(
        &bank,
        &ada,
        "list_cards",
        "cards",
        "last_four",
        "0077",
        "card",
    )
    .await;
    let order = id(
        &bank,
        &ada,
        "list_standing_orders",
        "standing_orders",
        "name",
        "rent",
        "order",
    )
    .await;
    for (tool, arguments) in [
        ("request_transfer", pay(&nobody, "900.00")),
        ("request_transfer", json!({"payments": [{}]})),
        ("request_card_freeze", json!({"card": card})),
        ("request_card_unfreeze", json!({})),
        (
            "request_standing_order",
            json!({"operation": "cancel", "order": order}),
        ),
        (
            "request_standing_order",
            json!({"operation": "create", "frequency": "monthly"}),
        ),
        ("request_dispute", json!({})),
        ("request_payee", json!({})),
        ("request_profile_change", json!({"field": "email"})),
    ] {
        let answer = bank.door.call(&ada, tool, arguments).await;
        assert_eq!(
            answer.refusal(),
            "act_not_requested",
            "{tool}: {}",
            answer.text
        );
    }
    assert_eq!(bank.count(ALL).await, 0);
}

#[tokio::test]
async fn the_card_that_was_named_is_the_card() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "freeze my card ending 0077").await;
    let card = |four: &'static str| {
        id(
            &bank,
            &ada,
            "list_cards",
            "cards",
            "last_four",
            four,
            "card",
        )
    };
    let (credit, debit) = (card("0077").await, card("4821").await);
    let other = bank
        .door
        .call(&ada, "request_card_freeze", json!({"card": debit}))
        .await;
    assert_eq!(other.refusal(), "not_grounded", "{}", other.text);
    let named = bank
        .door
        .call(&ada, "request_card_freeze", json!({"card": credit}))
        .await
        .content();
    assert_eq!(named["status"], "waiting_for_customer", "{named}");
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.card WHERE state = 'frozen'")
            .await,
        0
    );
}

#[tokio::test]
async fn a_newer_message_is_needed_to_replace_an_open_request() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "Send 20 to Bob").await;
    let bob = payee(&bank, &ada, "Bob Smith").await;
    let first = bank
        .door
        .call(&ada, "request_transfer", pay(&bob, "20.00"))
        .await
        .content();
    let open = json!({"payments": [{"payee": bob}]});
    let refused = bank.door.call(&ada, "request_transfer", open).await;
    assert!(
        refused.json()["result"]["isError"] == true,
        "{}",
        refused.text
    );
    let ada = bank.say(&ada, "Actually make it 25 to Bob").await;
    let second = bank
        .door
        .call(&ada, "request_transfer", pay(&bob, "25.00"))
        .await
        .content();
    assert_eq!(second["superseded"], first["action"], "{second}");
    let status = bank
        .door
        .call(
            &ada,
            "get_request_status",
            json!({"action": first["action"]}),
        )
        .await
        .content();
    assert_eq!(
        (&status["status"], &status["superseded_by"]),
        (&json!("superseded"), &second["action"])
    );
    assert_eq!(bank.count(OPEN).await, 1);
}

#[tokio::test]
async fn another_customers_things_answer_as_nobodys() {
    let bank = Bank::demo().await;
    let kabir = bank.turn("Kabir", "send 70 to Sam").await;
    let sam = payee(&bank, &kabir, "Sam").await;
    let theirs = bank
        .door
        .call(&kabir, "request_transfer", pay(&sam, "70.00"))
        .await
        .content();
    let ada = bank
        .turn("Ada", "send 70 to Sam. is that request done?")
        .await;
    let nobody = |prefix: &str| json!(format!("{prefix}_{}", "0123456789abcdef".repeat(2)));
    for (tool, foreign, unknown) in [
        (
            "get_request_status",
            json!({"action": theirs["action"]}),
            json!({"action": nobody("act")}),
        ),
        (
            "request_transfer",
            pay(&sam, "70.00"),
            pay(nobody("pye").as_str().unwrap(), "70.00"),
        ),
    ] {
        let theirs = bank.door.call(&ada, tool, foreign).await;
        let nobodys = bank.door.call(&ada, tool, unknown).await;
        assert_eq!(theirs.refusal(), "not_found", "{tool}: {}", theirs.text);
        assert_eq!(theirs.text, nobodys.text, "{tool}");
        assert!(!theirs.text.contains("Sam") && !theirs.text.contains("70"));
    }
    assert_eq!(bank.count(OPEN).await, 1);
}

#[tokio::test]
async fn an_ended_turn_asks_for_nothing() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "Send 20 to Bob").await;
    let bob = payee(&bank, &ada, "Bob Smith").await;
    bank.end(&ada).await;
    let answer = bank
        .door
        .call(&ada, "request_transfer", pay(&bob, "20.00"))
        .await;
    assert_eq!(answer.refusal(), "turn_ended");
    assert_eq!(bank.count(ALL).await, 0);
}
