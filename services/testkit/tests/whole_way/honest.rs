//! What an honest customer gets done.

use std::time::Duration;

use anyhow::Context;
use countersign_testkit::Bank;
use serde_json::{Value, json};

use crate::scene::Scene;

/// Asks until the answer is there; the poster and the notary work in the background.
async fn eventually<T, F: Future<Output = anyhow::Result<Option<T>>>>(
    mut ask: impl FnMut() -> F,
) -> anyhow::Result<T> {
    for _ in 0..100 {
        if let Some(found) = ask().await? {
            return Ok(found);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    anyhow::bail!("it did not come true in ten seconds")
}

#[tokio::test]
async fn the_newcomer_sends_20_to_bob_with_the_model_that_is_built_in() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.sign_in("Ada").await?;
    let opening = bank.balance("Ada", "Current").await?;
    let reply = ada.asks("Send 20 to Bob").await?;
    let said: String = reply
        .iter()
        .filter_map(|line| line["text"].as_str())
        .collect();
    assert!(
        !format!(" {} ", said.to_lowercase()).contains(" sent "),
        "nothing was sent yet, and the reply may not say so: {said}"
    );
    let card = ada.open_card().await?;
    assert_eq!(card["title"], "Send 20.00 EUR");
    assert_eq!(card["button"], "Send 20.00 EUR to Bob Smith");
    assert_eq!(card["you_wrote"]["text"], "Send 20 to Bob");
    assert_eq!(
        bank.balance("Ada", "Current").await?,
        opening,
        "a request moves nothing"
    );
    let answer = ada.confirms_with_note(&card, "for the tickets").await?;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.body["outcome"], "confirmed");
    assert_eq!(bank.balance("Ada", "Current").await?, opening - 2_000);
    let receipt = answer.body["receipt"].as_str().context("a receipt")?;
    let proof = eventually(|| async {
        let receipt = ada.get(&format!("{receipt}.json")).await?;
        Ok(
            (receipt.status == 200 && receipt.body["checkpoint"].is_string())
                .then_some(receipt.body),
        )
    })
    .await?;
    let payload: Value = serde_json::from_str(proof["payload"].as_str().context("a payload")?)?;
    assert_eq!(payload["event"], "confirmed");
    assert_eq!(payload["confirm_hash"], card["confirm_hash"]);
    assert_eq!(payload["lines"][0]["amount"], "20.00");
    Ok(())
}

#[tokio::test]
async fn a_payee_inside_the_bank_is_credited_once_with_the_customer_s_note() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("Send 31 to Kabir").await?;
    let answer = scene.transfer(&turn, "Kabir", "31.00").await?;
    assert!(answer.succeeded(), "{}", answer.body);
    turn.ends();
    let before = scene.bank.balance("Kabir", "Current").await?;
    let card = scene.ada.open_card().await?;
    let confirmed = scene
        .ada
        .confirms_with_note(&card, "dinner on Friday")
        .await?;
    assert_eq!(confirmed.status, 200, "{}", confirmed.body);
    let bank = &scene.bank;
    // The time to undo is over.
    bank.database().set_clock_ahead(11).await?;
    eventually(|| async {
        Ok((bank.balance("Kabir", "Current").await? == before + 3_100).then_some(()))
    })
    .await?;
    let mut admin = bank.database().admin().await?;
    let reference: String = sqlx::query_scalar(
        "SELECT t.reference FROM bank.transfer t JOIN bank.customer c USING (customer_id) WHERE c.display_name = 'Kabir' ORDER BY t.created_at DESC LIMIT 1",
    )
    .fetch_one(&mut admin)
    .await?;
    assert_eq!(reference, "dinner on Friday");
    let unbalanced: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM (SELECT 1 FROM bank.entry GROUP BY customer_id, transfer_id, currency HAVING sum(amount_minor_units) <> 0) AS wrong",
    )
    .fetch_one(&mut admin)
    .await?;
    assert_eq!(unbalanced, 0);
    Ok(())
}

#[tokio::test]
async fn an_amount_left_open_is_filled_on_the_panel_and_makes_a_new_card() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("I want to send money to Alice").await?;
    let payee = scene.payee(&turn, "Alice").await?;
    let asked = turn
        .calls(
            &scene.door,
            "request_transfer",
            json!({"payments": [{"payee": payee}]}),
        )
        .await?;
    assert!(asked.succeeded(), "{}", asked.body);
    turn.ends();
    let card = scene.ada.open_card().await?;
    assert_eq!(card["open_slots"][0]["slot"], "amount");
    assert!(
        card["confirm_hash"].is_null(),
        "no button before the slot is filled"
    );
    for bad in ["-5", "1e3", "20,00", "0", "99999999999999999999", "20.001"] {
        let answer = scene.ada.fills(&card, "amount", 1, bad).await?;
        assert_eq!(answer.status, 422, "{bad}: {}", answer.body);
    }
    let answer = scene.ada.fills(&card, "amount", 1, "12.50").await?;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let filled = scene.ada.open_card().await?;
    assert_eq!(filled["version"], 2);
    assert_eq!(filled["button"], "Send 12.50 EUR to Alice");
    let twice = scene.ada.fills(&filled, "amount", 1, "900.00").await?;
    assert_eq!(
        twice.status, 409,
        "a filled slot is never filled again: {}",
        twice.body
    );
    let old = scene.ada.fills(&card, "amount", 1, "900.00").await?;
    assert_eq!(old.status, 409);
    let opening = scene.bank.balance("Ada", "Current").await?;
    assert_eq!(scene.ada.confirms(&filled).await?.status, 200);
    assert_eq!(scene.bank.balance("Ada", "Current").await?, opening - 1_250);
    Ok(())
}

#[tokio::test]
async fn a_later_no_makes_the_card_ask_again_and_keep_needs_a_new_press() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("Send 20 to Bob").await?;
    assert!(scene.transfer(&turn, "Bob", "20.00").await?.succeeded());
    turn.ends();
    let first = scene.ada.open_card().await?;
    scene.ada_says("no, stop").await?.ends();
    let asking = scene.ada.open_card().await?;
    assert_eq!(asking["asks_again"]["text"], "no, stop");
    assert!(asking["confirm_hash"].is_null());
    let opening = scene.bank.balance("Ada", "Current").await?;
    let pressed = scene.ada.confirms(&first).await?;
    assert_eq!(
        pressed.status, 409,
        "the old card is not run over a no: {}",
        pressed.body
    );
    assert_eq!(scene.bank.balance("Ada", "Current").await?, opening);
    assert_eq!(scene.ada.keeps(&asking).await?.status, 200);
    let pressed = scene.ada.confirms(&first).await?;
    assert_eq!(
        pressed.status, 409,
        "Keep needs a new press on the new card"
    );
    let kept = scene.ada.open_card().await?;
    assert_ne!(kept["confirm_hash"], first["confirm_hash"]);
    assert_eq!(scene.ada.confirms(&kept).await?.status, 200);
    assert_eq!(scene.bank.balance("Ada", "Current").await?, opening - 2_000);
    Ok(())
}

#[tokio::test]
async fn confirming_twice_gives_the_same_answer_and_moves_money_once() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("Send 20 to Bob").await?;
    assert!(scene.transfer(&turn, "Bob", "20.00").await?.succeeded());
    turn.ends();
    let card = scene.ada.open_card().await?;
    let opening = scene.bank.balance("Ada", "Current").await?;
    let presses = (0..20).map(|_| {
        let (ada, card) = (scene.ada.clone(), card.clone());
        tokio::spawn(async move { ada.confirms(&card).await })
    });
    let mut answers = Vec::new();
    for press in presses.collect::<Vec<_>>() {
        let answer = press.await??;
        assert!(
            [200, 503].contains(&answer.status),
            "{} {}",
            answer.status,
            answer.body
        );
        if answer.status == 200 {
            answers.push(answer.body);
        }
    }
    let again = scene.ada.confirms(&card).await?;
    assert_eq!(again.status, 200);
    assert!(
        !answers.is_empty()
            && answers
                .iter()
                .all(|answer| answer["receipt"] == again.body["receipt"])
    );
    assert_eq!(scene.bank.balance("Ada", "Current").await?, opening - 2_000);
    Ok(())
}

#[tokio::test]
async fn every_other_kind_of_request_takes_effect_on_confirm_alone() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("Freeze my debit card").await?;
    let card_id = scene.find(&turn, "list_cards", "card", "4821").await?;
    let asked = turn
        .calls(&scene.door, "request_card_freeze", json!({"card": card_id}))
        .await?;
    assert!(asked.succeeded(), "{}", asked.body);
    turn.ends();
    let card = scene.ada.open_card().await?;
    assert!(
        card["button"]
            .as_str()
            .is_some_and(|button| button.starts_with("Freeze")),
        "{card}"
    );
    let state = || async {
        let mut admin = scene.bank.database().admin().await?;
        anyhow::Ok(
            sqlx::query_scalar::<_, String>(
                "SELECT k.state FROM bank.card k JOIN bank.customer c USING (customer_id) WHERE c.display_name = 'Ada' AND k.last_four = '4821'",
            )
            .fetch_one(&mut admin)
            .await?,
        )
    };
    assert_eq!(state().await?, "active");
    assert_eq!(scene.ada.confirms(&card).await?.status, 200);
    assert_eq!(state().await?, "frozen");

    let asked = scene
        .ada_gets("Please add a new payee", "request_payee", json!({}))
        .await?;
    assert!(asked.succeeded(), "{}", asked.body);
    let card = scene.ada.open_card().await?;
    let refused = scene
        .ada
        .fills(&card, "payee_iban", 0, "GB29 NWBK 6016 1331 9268 18")
        .await?;
    assert_eq!(refused.status, 422, "a wrong checksum is refused");
    assert_eq!(
        scene
            .ada
            .fills(&card, "payee_name", 0, "Zora Quince")
            .await?
            .status,
        200
    );
    let card = scene.ada.open_card().await?;
    assert_eq!(
        scene
            .ada
            .fills(&card, "payee_iban", 0, "GB29 NWBK 6016 1331 9268 19")
            .await?
            .status,
        200
    );
    let card = scene.ada.open_card().await?;
    assert_eq!(scene.ada.confirms(&card).await?.status, 200);
    let turn = scene.ada_says("thanks").await?;
    let payees = turn.calls(&scene.door, "list_payees", json!({})).await?;
    assert!(payees.body.to_string().contains("Zora Quince"));
    turn.ends();
    Ok(())
}

#[tokio::test]
async fn cancel_frees_and_expiry_ends() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("Send 20 to Bob").await?;
    assert!(scene.transfer(&turn, "Bob", "20.00").await?.succeeded());
    turn.ends();
    let card = scene.ada.open_card().await?;
    assert_eq!(scene.ada.cancels(&card).await?.status, 200);
    assert_eq!(
        scene.ada.cancels(&card).await?.status,
        200,
        "a second Cancel is the same answer"
    );
    assert_ne!(scene.ada.confirms(&card).await?.status, 200);

    let turn = scene.ada_says("Send 21 to Bob").await?;
    assert!(scene.transfer(&turn, "Bob", "21.00").await?.succeeded());
    turn.ends();
    let card = scene.ada.open_card().await?;
    let money = scene.bank.money().await?;
    scene.bank.database().set_clock_ahead(601).await?;
    let late = scene.ada.confirms(&card).await?;
    assert_eq!(late.status, 410, "{}", late.body);
    assert_eq!(scene.bank.money().await?, money);
    Ok(())
}
