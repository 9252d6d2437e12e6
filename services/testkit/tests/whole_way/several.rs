//! Several payments on one card: what one press does, what dropping a line leaves, and that nothing brings it back.

use std::time::Duration;

use anyhow::Context;
use countersign_testkit::{Bank, people::ToolAnswer};
use serde_json::{Value, json};

use crate::scene::Scene;

/// Both payments of `Pay Alice … and Bob …`, as a model asks for them.
async fn asks_for_both(scene: &Scene, alice: &str, bob: &str) -> anyhow::Result<ToolAnswer> {
    let turn = scene
        .ada_says(&format!("Pay Alice {alice} and Bob {bob}"))
        .await?;
    let payments = json!({"payments": [
        {"payee": scene.payee(&turn, "Alice").await?, "amount": alice},
        {"payee": scene.payee(&turn, "Bob").await?, "amount": bob},
    ]});
    let answer = turn
        .calls(&scene.door, "request_transfer", payments)
        .await?;
    turn.ends();
    Ok(answer)
}

async fn both(scene: &Scene, alice: &str, bob: &str) -> anyhow::Result<Value> {
    let answer = asks_for_both(scene, alice, bob).await?;
    anyhow::ensure!(answer.succeeded(), "{}", answer.body);
    scene.ada.open_card().await
}

/// The amounts of an action's transfers, and how many entries any transfer of the bank has too many or too few for.
async fn moved(bank: &Bank) -> anyhow::Result<(Vec<i64>, i64)> {
    let mut admin = bank.database().admin().await?;
    let amounts = sqlx::query_scalar(
        "SELECT t.amount_minor_units FROM bank.transfer t JOIN bank.execution e USING (customer_id, action_id)
          WHERE t.origin_transfer_id IS NULL ORDER BY t.action_id, t.line_number",
    )
    .fetch_all(&mut admin)
    .await?;
    let unbalanced = sqlx::query_scalar(
        "SELECT count(*) FROM (SELECT 1 FROM bank.entry GROUP BY customer_id, transfer_id, currency HAVING sum(amount_minor_units) <> 0) AS wrong",
    )
    .fetch_one(&mut admin)
    .await?;
    Ok((amounts, unbalanced))
}

#[tokio::test]
async fn two_payments_of_one_message_are_one_card_one_press_and_one_receipt() -> anyhow::Result<()>
{
    let bank = Bank::start().await?;
    let ada = bank.sign_in("Ada").await?;
    let opening = bank.balance("Ada", "Current").await?;
    ada.asks("Pay Alice 30 and Bob 45").await?;
    let card = ada.open_card().await?;
    assert_eq!(card["title"], "Send 75.00 EUR");
    assert_eq!(card["button"], "Send 75.00 EUR to 2 payees");
    assert_eq!(card["you_wrote"]["text"], "Pay Alice 30 and Bob 45");
    assert_eq!(card["payments"][1]["about"], "45.00 EUR to Bob Smith");
    assert_eq!(bank.balance("Ada", "Current").await?, opening);
    let answer = ada.confirms_with_note(&card, "for both of you").await?;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(bank.balance("Ada", "Current").await?, opening - 7_500);
    assert_eq!(moved(&bank).await?, (vec![3_000, 4_500], 0));
    // The second press of the same card is the same answer.
    let again = ada.confirms_with_note(&card, "for both of you").await?;
    assert_eq!((again.status, &again.body), (200, &answer.body));
    assert_eq!(bank.balance("Ada", "Current").await?, opening - 7_500);

    let receipt = answer.body["receipt"].as_str().context("a receipt")?;
    for _ in 0..100 {
        let proof = ada.get(&format!("{receipt}.json")).await?;
        if proof.status == 200 && proof.body["checkpoint"].is_string() {
            let payload = proof.body["payload"].as_str().context("a payload")?;
            let payload: Value = serde_json::from_str(payload)?;
            let amounts: Vec<&Value> = payload["lines"]
                .as_array()
                .context("lines")?
                .iter()
                .map(|line| &line["amount"])
                .collect();
            assert_eq!(amounts, ["30.00", "45.00"]);
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    anyhow::bail!("no receipt in ten seconds")
}

#[tokio::test]
async fn a_dropped_payment_makes_a_new_card_and_never_comes_back() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let (ada, bank) = (&scene.ada, &scene.bank);
    let money = bank.money().await?;
    let card = both(&scene, "30", "45").await?;
    for (line, version, status) in [(3, 1, 409), (0, 1, 409), (2, 2, 409), (2, 0, 409)] {
        let body = json!({"version": version, "line": line});
        let answer = ada.act(&card, "drop", body).await?;
        assert_eq!(answer.status, status, "{line} {version}: {}", answer.body);
    }
    let answer = ada.drops(&card, 2).await?;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let left = answer.body;
    assert_eq!(left["button"], "Send 30.00 EUR to Alice");
    assert_eq!(left["version"], 2);
    assert_ne!(left["confirm_hash"], card["confirm_hash"]);
    assert_eq!(left["payments"], json!([]));
    // The card with both is history, in whichever way its parts are mixed.
    let with = |name: &str, value: &Value| {
        let mut other = left.clone();
        other[name] = value.clone();
        other
    };
    for stale in [
        card.clone(),
        with("confirm_hash", &card["confirm_hash"]),
        with("version", &card["version"]),
        with("nonce", &card["nonce"]),
    ] {
        let answer = ada.confirms(&stale).await?;
        assert_eq!(answer.status, 409, "{}", answer.body);
    }
    // The line cannot be dropped twice, filled, or the last one taken away.
    assert_eq!(ada.drops(&card, 2).await?.status, 409);
    assert_eq!(ada.drops(&left, 2).await?.status, 409);
    assert_eq!(ada.drops(&left, 1).await?.status, 422);
    for slot in ["amount", "payee"] {
        let filled = ada.fills(&left, slot, 2, "45.00").await?;
        assert!([409, 422].contains(&filled.status), "{}", filled.body);
    }
    // A model brings nothing back: neither the line alone, nor both, nor after small talk.
    let turn = scene.ada_says("Thanks, that looks right").await?;
    let alice = scene.payee(&turn, "Alice").await?;
    let bob = scene.payee(&turn, "Bob").await?;
    for payments in [
        json!([{"payee": bob, "amount": "45"}]),
        json!([{"payee": bob}]),
        json!([{"payee": alice, "amount": "30"}, {"payee": bob, "amount": "45"}]),
    ] {
        let answer = turn
            .calls(
                &scene.door,
                "request_transfer",
                json!({"payments": payments}),
            )
            .await?;
        assert!(!answer.succeeded(), "{payments}: {}", answer.body);
    }
    turn.ends();
    assert_eq!(bank.money().await?, money, "nothing has moved");
    let now = ada.open_card().await?;
    assert_eq!(now["confirm_hash"], left["confirm_hash"]);
    let answer = ada.confirms(&now).await?;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(moved(bank).await?, (vec![3_000], 0));
    Ok(())
}

#[tokio::test]
async fn one_line_that_cannot_run_stops_all_of_them() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let (ada, bank) = (&scene.ada, &scene.bank);
    let customer = bank.customer("Ada")?.id.uuid();
    let mut admin = bank.database().admin().await?;
    let fund = "UPDATE bank.account_balance b SET balance_minor_units = 999999 FROM bank.account a
        WHERE a.account_id = b.account_id AND a.customer_id = $1 AND a.is_default";
    sqlx::query(fund).bind(customer).execute(&mut admin).await?;
    // 1,500 a transfer, 2,000 a day: each line of the first is within them.
    for (alice, bob, code) in [
        ("1200", "900", "limit_per_day"),
        ("1600", "10", "limit_per_transfer"),
    ] {
        let answer = asks_for_both(&scene, alice, bob).await?;
        assert_eq!(answer.refusal().as_deref(), Some(code), "{}", answer.body);
    }
    let money = bank.money().await?;
    for (change, undo, code) in [
        (
            // Bob's account turns out to be one of Ada's own: no payment to anybody.
            "INSERT INTO bank.account_directory (iban, customer_id, account_id) SELECT p.iban, a.customer_id, a.account_id
               FROM bank.payee p JOIN bank.account a USING (customer_id) WHERE customer_id = $1 AND p.name LIKE 'Bob%' AND a.is_default",
            "DELETE FROM bank.account_directory d USING bank.payee p WHERE p.customer_id = $1 AND p.name LIKE 'Bob%' AND d.iban = p.iban",
            "not_possible_now",
        ),
        (
            "INSERT INTO bank.spent_day (customer_id, currency, day, spent_minor_units) VALUES ($1, 'EUR', bank.bank_day(), 193000)",
            "DELETE FROM bank.spent_day WHERE customer_id = $1",
            "limit_per_day",
        ),
        (
            "UPDATE bank.account_balance b SET balance_minor_units = 4000 FROM bank.account a
              WHERE a.account_id = b.account_id AND a.customer_id = $1 AND a.is_default",
            fund,
            "insufficient_funds",
        ),
    ] {
        let card = both(&scene, "30", "45").await?;
        sqlx::query(change).bind(customer).execute(&mut admin).await?;
        let answer = ada.confirms(&card).await?;
        assert!(answer.status >= 400, "{code}: {}", answer.body);
        sqlx::query(undo).bind(customer).execute(&mut admin).await?;
        assert_eq!(moved(bank).await?, (vec![], 0), "{code}");
        assert_eq!(bank.money().await?, money, "{code}");
        let open = ada.cards().await?;
        for card in open.iter().filter(|card| card["state"] == "pending") {
            ada.cancels(card).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn dropping_a_line_and_pressing_confirm_at_once_have_one_winner() -> anyhow::Result<()> {
    let scene = Scene::begin_with_far_caps().await?;
    let (ada, bank) = (&scene.ada, &scene.bank);
    let (mut pressed_first, mut dropped_first) = (0, 0);
    for round in 0..30u64 {
        let card = both(&scene, "1", "2").await?;
        let before = moved(bank).await?.0.len();
        let delay = Duration::from_micros(500 * (round % 8));
        let press = async {
            if round % 2 == 0 {
                tokio::time::sleep(delay).await;
            }
            ada.confirms(&card).await
        };
        let drop = async {
            if round % 2 == 1 {
                tokio::time::sleep(delay).await;
            }
            ada.drops(&card, 2).await
        };
        let (pressed, dropped) = tokio::join!(press, drop);
        let (pressed, dropped) = (pressed?, dropped?);
        let ran = moved(bank).await?.0.len() - before;
        match (pressed.status, dropped.status) {
            (200, 409) => {
                pressed_first += 1;
                assert_eq!(ran, 2, "round {round}");
            }
            (409, 200) => {
                dropped_first += 1;
                assert_eq!(ran, 0, "round {round}");
                assert_eq!(pressed.body["card"]["version"], 2, "{}", pressed.body);
                assert!(ada.cancels(&dropped.body).await?.status < 300);
            }
            other => panic!("round {round}: {other:?} {} {}", pressed.body, dropped.body),
        }
    }
    println!("Confirm first {pressed_first}, drop first {dropped_first}");
    assert!(
        pressed_first > 0 && dropped_first > 0,
        "{pressed_first} {dropped_first}"
    );
    assert_eq!(moved(bank).await?.1, 0);
    Ok(())
}
