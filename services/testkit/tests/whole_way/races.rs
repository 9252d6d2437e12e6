//! Two things at once, on the real database under the real lock.

use serde_json::{Value, json};

use crate::scene::Scene;

async fn executed_total(scene: &Scene) -> anyhow::Result<i64> {
    let mut admin = scene.bank.database().admin().await?;
    Ok(sqlx::query_scalar(
        "SELECT coalesce(sum(t.amount_minor_units), 0)::bigint FROM bank.transfer t JOIN bank.execution e USING (customer_id, action_id)
          WHERE t.origin_transfer_id IS NULL",
    )
    .fetch_one(&mut admin)
    .await?)
}

/// Raises Ada's limits and funds to what the story needs, in minor units of EUR.
async fn give_ada(scene: &Scene, limit: i64, sent: i64) -> anyhow::Result<()> {
    let customer = scene.bank.customer("Ada")?.id.uuid();
    let mut admin = scene.bank.database().admin().await?;
    sqlx::query(
        "UPDATE bank.customer_limit SET per_transfer_minor_units = $2, per_day_minor_units = $2, pending_total_minor_units = $2,
           first_payment_minor_units = $2 WHERE customer_id = $1 AND currency = 'EUR'",
    )
    .bind(customer)
    .bind(limit)
    .execute(&mut admin)
    .await?;
    sqlx::query("INSERT INTO bank.spent_day (customer_id, currency, day, spent_minor_units) VALUES ($1, 'EUR', bank.bank_day(), $2)
         ON CONFLICT (customer_id, currency, day) DO UPDATE SET spent_minor_units = EXCLUDED.spent_minor_units")
        .bind(customer)
        .bind(sent)
        .execute(&mut admin)
        .await?;
    sqlx::query(
        "UPDATE bank.account_balance b SET balance_minor_units = 99999999 FROM bank.account a
          WHERE a.customer_id = b.customer_id AND a.account_id = b.account_id AND a.customer_id = $1 AND a.is_default",
    )
    .bind(customer)
    .execute(&mut admin)
    .await?;
    Ok(())
}

#[tokio::test]
async fn a_correction_racing_an_old_confirm_never_runs_both() -> anyhow::Result<()> {
    let scene = Scene::begin_with_far_caps().await?;
    give_ada(&scene, 99_999_999, 0).await?;
    let (mut old_won, mut new_won) = (0, 0);
    for round in 0..40 {
        let (first, second) = (100 + round, 300 + round);
        let turn = scene.ada_says(&format!("Send {first} to Bob")).await?;
        let payee = scene.payee(&turn, "Bob").await?;
        let asked = scene.transfer(&turn, "Bob", &format!("{first}.00")).await?;
        assert!(asked.succeeded(), "{}", asked.body);
        turn.ends();
        let card = scene.ada.open_card().await?;
        let before = executed_total(&scene).await?;
        // The correction is recorded, and its request races the press on the old card.
        let turn = scene
            .ada_says(&format!("Actually, {second} to Bob"))
            .await?;
        let correction = json!({"payments": [{"payee": payee, "amount": format!("{second}.00")}]});
        let delay = std::time::Duration::from_micros(400 * (round % 8));
        let press = async {
            if round % 2 == 0 {
                tokio::time::sleep(delay).await;
            }
            scene.ada.confirms(&card).await
        };
        let request = async {
            if round % 2 == 1 {
                tokio::time::sleep(delay).await;
            }
            turn.calls(&scene.door, "request_transfer", correction)
                .await
        };
        let (pressed, asked) = tokio::join!(press, request);
        let (pressed, asked) = (pressed?, asked?);
        turn.ends();
        let executed = executed_total(&scene).await? - before;
        // The words already took the old pair back, so the old card never runs.
        assert!(
            executed == 0,
            "round {round}: {executed} ran, press {} {}",
            pressed.status,
            pressed.body
        );
        match (pressed.status, asked.succeeded()) {
            (409, true) => new_won += 1,
            (409 | 503, false) => old_won += 1,
            other => panic!("round {round}: {other:?} {}", pressed.body),
        }
        for card in scene.ada.cards().await? {
            if card["state"] == "pending" {
                scene.ada.cancels(&card).await?;
            }
        }
    }
    assert!(new_won > 0, "{new_won} {old_won}");
    Ok(())
}

#[tokio::test]
async fn a_supersede_racing_a_confirm_has_one_winner_in_both_orders() -> anyhow::Result<()> {
    let scene = Scene::begin_with_far_caps().await?;
    give_ada(&scene, 99_999_999, 0).await?;
    let (mut confirmed_first, mut superseded_first) = (0, 0);
    for round in 0..40u64 {
        let (first, second) = (100 + round, 300 + round);
        let turn = scene.ada_says(&format!("Send {first} to Bob")).await?;
        let bob = scene.payee(&turn, "Bob").await?;
        let alice = scene.payee(&turn, "Alice").await?;
        let asked = scene.transfer(&turn, "Bob", &format!("{first}.00")).await?;
        assert!(asked.succeeded(), "{} {bob}", asked.body);
        turn.ends();
        let card = scene.ada.open_card().await?;
        let before = executed_total(&scene).await?;
        // A second request that leaves the first pair standing in the words: only the lock decides.
        let turn = scene
            .ada_says(&format!("Also send {second} to Alice"))
            .await?;
        let other = json!({"payments": [{"payee": alice, "amount": format!("{second}.00")}]});
        let delay = std::time::Duration::from_micros(700 * (round % 10));
        let press = async {
            if round % 2 == 0 {
                tokio::time::sleep(delay).await;
            }
            scene.ada.confirms(&card).await
        };
        let request = async {
            if round % 2 == 1 {
                tokio::time::sleep(delay).await;
            }
            turn.calls(&scene.door, "request_transfer", other).await
        };
        let (pressed, asked) = tokio::join!(press, request);
        let (pressed, asked) = (pressed?, asked?);
        turn.ends();
        let executed = executed_total(&scene).await? - before;
        let first_minor = i64::try_from(first * 100)?;
        let open: Vec<Value> = scene
            .ada
            .cards()
            .await?
            .into_iter()
            .filter(|card| card["state"] == "pending")
            .collect();
        match pressed.status {
            200 => {
                confirmed_first += 1;
                assert_eq!(executed, first_minor, "round {round}");
                assert!(asked.succeeded(), "round {round}: {}", asked.body);
                assert!(
                    asked.content()["superseded"].is_null(),
                    "round {round}: {}",
                    asked.body
                );
            }
            409 => {
                superseded_first += 1;
                assert_eq!(executed, 0, "round {round}");
                assert!(asked.succeeded(), "round {round}: {}", asked.body);
            }
            other => panic!("round {round}: {other} {}", pressed.body),
        }
        assert_eq!(open.len(), 1, "round {round}: {open:?}");
        for card in open {
            scene.ada.cancels(&card).await?;
        }
    }
    println!("confirm first {confirmed_first}, supersede first {superseded_first}, both 0");
    assert!(
        confirmed_first > 0 && superseded_first > 0,
        "{confirmed_first} {superseded_first}"
    );
    Ok(())
}

#[tokio::test]
async fn no_interleaving_makes_more_executable_than_the_day_s_limit() -> anyhow::Result<()> {
    let scene = Scene::begin_with_far_caps().await?;
    give_ada(&scene, 10_000_000, 3_000_000).await?;
    let turn = scene.ada_says("Send 40000 to Bob").await?;
    let bob = scene.payee(&turn, "Bob").await?;
    assert!(scene.transfer(&turn, "Bob", "40000.00").await?.succeeded());
    turn.ends();
    let card = scene.ada.open_card().await?;
    let turn = scene.ada_says("Actually make it 45000").await?;
    let correction = json!({"payments": [{"payee": bob, "amount": "45000.00"}]});
    let (pressed, asked) = tokio::join!(
        scene.ada.confirms(&card),
        turn.calls(&scene.door, "request_transfer", correction)
    );
    let (pressed, asked) = (pressed?, asked?);
    turn.ends();
    for card in scene.ada.cards().await? {
        if !card["confirm_hash"].is_null() {
            scene.ada.confirms(&card).await?;
        }
    }
    let sent = 3_000_000 + executed_total(&scene).await?;
    assert!(
        sent <= 10_000_000,
        "{sent}: press {}, request {}",
        pressed.body,
        asked.body
    );

    // Whatever else is asked for now, no more than the limit ever leaves.
    for amount in [60000, 30000, 20000, 10000] {
        let turn = scene.ada_says(&format!("Send {amount} to Alice")).await?;
        let _ = scene
            .transfer(&turn, "Alice", &format!("{amount}.00"))
            .await?;
        turn.ends();
        for card in scene.ada.cards().await? {
            if !card["confirm_hash"].is_null() {
                scene.ada.confirms(&card).await?;
            }
        }
        let sent = 3_000_000 + executed_total(&scene).await?;
        assert!(sent <= 10_000_000, "{sent}");
    }
    Ok(())
}

#[tokio::test]
async fn two_confirms_at_once_spend_the_day_s_limit_once() -> anyhow::Result<()> {
    let scene = Scene::begin_with_far_caps().await?;
    let elsewhere = scene.ada.in_a_new_conversation().await?;
    for round in 0..12 {
        // 60 of 100 each, in two conversations: either may run, never both.
        give_ada(&scene, 10_000, 0).await?;
        widen_waiting(&scene).await?;
        let turn = scene.ada_says("Send 60 to Bob").await?;
        let asked = scene.transfer(&turn, "Bob", "60.00").await?;
        assert!(asked.succeeded(), "{}", asked.body);
        turn.ends();
        let reply = elsewhere.sends("Send 60 to Alice");
        let turn = scene.agent.turn("Send 60 to Alice").await?;
        let asked = scene.transfer(&turn, "Alice", "60.00").await?;
        assert!(asked.succeeded(), "{}", asked.body);
        turn.ends();
        reply.await??;
        let cards: Vec<Value> = scene
            .ada
            .cards()
            .await?
            .into_iter()
            .filter(|card| !card["confirm_hash"].is_null())
            .collect();
        assert_eq!(cards.len(), 2, "round {round}: {cards:?}");
        let before = executed_total(&scene).await?;
        let (one, other) =
            tokio::join!(scene.ada.confirms(&cards[0]), scene.ada.confirms(&cards[1]));
        let (one, other) = (one?, other?);
        let ran = [&one, &other]
            .iter()
            .filter(|answer| answer.status == 200)
            .count();
        assert_eq!(
            ran, 1,
            "round {round}: {} {} / {} {}",
            one.status, one.body, other.status, other.body
        );
        assert_eq!(
            executed_total(&scene).await? - before,
            6_000,
            "round {round}"
        );
        let told = if one.status == 200 { &other } else { &one };
        assert!(
            [409, 422].contains(&told.status),
            "round {round}: {} {}",
            told.status,
            told.body
        );
        for card in scene.ada.cards().await? {
            if card["state"] == "pending" {
                scene.ada.cancels(&card).await?;
            }
        }
    }
    Ok(())
}

/// Lets two requests wait that the day's limit does not let run.
async fn widen_waiting(scene: &Scene) -> anyhow::Result<()> {
    let customer = scene.bank.customer("Ada")?.id.uuid();
    let mut admin = scene.bank.database().admin().await?;
    sqlx::query("UPDATE bank.customer_limit SET pending_total_minor_units = 99999999 WHERE customer_id = $1")
        .bind(customer)
        .execute(&mut admin)
        .await?;
    Ok(())
}
