//! What the bank asks before money goes to somebody new: in real processes, with the account's true holder known to the bank.

use serde_json::{Value, json};

use crate::scene::Scene;

/// Saves a payee for Ada under a name, with an account that is Ilse's, and puts 1,000.00 EUR on Ada's account.
async fn plant(scene: &Scene, name: &str) -> anyhow::Result<()> {
    let customer = scene.bank.customer("Ada")?.id.uuid();
    let mut admin = scene.bank.database().admin().await?;
    sqlx::query(
        "DELETE FROM bank.payee WHERE customer_id = $1 AND name IN ('Ilse', 'City Electric')",
    )
    .bind(customer)
    .execute(&mut admin)
    .await?;
    sqlx::query(
        "INSERT INTO bank.payee (customer_id, payee_id, name, iban) SELECT $1, gen_random_uuid(), $2, a.iban
           FROM bank.account a JOIN bank.customer c USING (customer_id) WHERE c.display_name = 'Ilse' AND a.is_default",
    )
    .bind(customer)
    .bind(name)
    .execute(&mut admin)
    .await?;
    balance(scene, 100_000).await
}

async fn balance(scene: &Scene, minor_units: i64) -> anyhow::Result<()> {
    let customer = scene.bank.customer("Ada")?.id.uuid();
    let mut admin = scene.bank.database().admin().await?;
    sqlx::query(
        "UPDATE bank.account_balance b SET balance_minor_units = $2 FROM bank.account a
          WHERE a.account_id = b.account_id AND a.customer_id = $1 AND a.is_default",
    )
    .bind(customer)
    .bind(minor_units)
    .execute(&mut admin)
    .await?;
    Ok(())
}

async fn card(scene: &Scene, payee: &str, amount: &str) -> anyhow::Result<Value> {
    let turn = scene.ada_says(&format!("Send {amount} to {payee}")).await?;
    let asked = scene.transfer(&turn, payee, amount).await?;
    turn.ends();
    anyhow::ensure!(asked.succeeded(), "{}", asked.body);
    scene.ada.open_card().await
}

fn codes(card: &Value) -> Vec<&str> {
    let warnings = card["warnings"].as_array().map_or(&[][..], Vec::as_slice);
    warnings
        .iter()
        .filter_map(|warning| warning["code"].as_str())
        .collect()
}

fn slots(card: &Value) -> Vec<&str> {
    let slots = card["open_slots"].as_array().map_or(&[][..], Vec::as_slice);
    slots
        .iter()
        .filter_map(|slot| slot["slot"].as_str())
        .collect()
}

#[tokio::test]
async fn an_account_in_another_name_is_typed_and_explained_before_it_is_paid() -> anyhow::Result<()>
{
    let scene = Scene::begin().await?;
    let (ada, bank) = (&scene.ada, &scene.bank);
    plant(&scene, "City Electric").await?;
    let opening = bank.balance("Ada", "Current").await?;

    // The limit of a first payment is 250; in another name half of it.
    let over = card(&scene, "City Electric", "126").await?;
    assert!(over["confirm_hash"].is_null());
    assert!(
        over["message"].to_string().contains("in another name"),
        "{over}"
    );
    ada.cancels(&over).await?;

    let asked = card(&scene, "City Electric", "100").await?;
    assert_eq!(
        codes(&asked),
        [
            "first_payment",
            "name_no_match",
            "held_name_no_match",
            "passkey_new_payee",
            "passkey_name"
        ]
    );
    assert_eq!(slots(&asked), ["last_four", "purpose"]);
    assert!(asked["confirm_hash"].is_null());
    let mut admin = bank.database().admin().await?;
    let iban: String = sqlx::query_scalar(
        "SELECT a.iban FROM bank.account a JOIN bank.customer c USING (customer_id) WHERE c.display_name = 'Ilse' AND a.is_default",
    )
    .fetch_one(&mut admin)
    .await?;
    let end = &iban[iban.len() - 4..];
    assert!(
        !asked["rows"].to_string().contains(end),
        "it is not there to be copied: {asked}"
    );
    for wrong in ["0000", "", end.get(1..).unwrap_or_default()] {
        let answer = ada.fills(&asked, "last_four", 1, wrong).await?;
        assert_eq!(answer.status, 422, "{wrong}: {}", answer.body);
    }
    let typed = ada.fills(&asked, "last_four", 1, end).await?;
    assert_eq!(typed.status, 200, "{}", typed.body);
    assert_eq!(slots(&typed.body), ["purpose"]);
    assert_eq!(
        ada.fills(&typed.body, "purpose", 0, "a_gift").await?.status,
        422
    );
    let answered = ada.fills(&typed.body, "purpose", 0, "bill").await?;
    let complete = answered.body;
    let said = [
        "first_payment",
        "name_no_match",
        "purpose_bill",
        "held_name_no_match",
        "passkey_new_payee",
        "passkey_name",
    ];
    assert_eq!(codes(&complete), said);
    assert_ne!(complete["confirm_hash"], Value::Null, "{complete}");
    let confirmed = ada.confirms(&complete).await?;
    assert_eq!(confirmed.status, 200, "{}", confirmed.body);
    // The customer agreed; the bank waits a day. Here an operator lets it go.
    assert_eq!(confirmed.body["outcome"], "held");
    assert_eq!(bank.balance("Ada", "Current").await?, opening);
    sqlx::query("SELECT bank.allow_hold(customer_id, action_id, 'grace') FROM bank.hold")
        .execute(&mut admin)
        .await?;
    for _ in 0..50 {
        if bank.balance("Ada", "Current").await? != opening {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(bank.balance("Ada", "Current").await?, opening - 10_000);
    // What was shown stands in the record that was countersigned.
    let record: Vec<u8> =
        sqlx::query_scalar("SELECT record FROM bank.execution ORDER BY executed_at DESC LIMIT 1")
            .fetch_one(&mut admin)
            .await?;
    let record: Value = serde_json::from_slice(&record)?;
    assert_eq!(record["lines"][0]["name_check"], "no_match");
    assert_eq!(record["warnings"], json!(said));

    // A day has not passed: what went to them counts, and it is still half.
    let more = card(&scene, "City Electric", "26").await?;
    assert!(more["confirm_hash"].is_null());
    assert!(
        more["message"].to_string().contains("in another name"),
        "{more}"
    );
    ada.cancels(&more).await?;
    sqlx::query("UPDATE bank.payee_paid SET first_paid_at = bank.bank_clock() - interval '25 hours' WHERE payments_count = 1 AND first_paid_at > bank.bank_clock() - interval '1 hour'")
        .execute(&mut admin)
        .await?;
    let known = card(&scene, "City Electric", "260").await?;
    assert_eq!(
        codes(&known),
        ["name_no_match", "passkey_amount", "passkey_name"]
    );
    assert_ne!(known["confirm_hash"], Value::Null, "{known}");
    Ok(())
}

#[tokio::test]
async fn a_new_payee_in_the_right_name_is_asked_about_only_for_a_large_share() -> anyhow::Result<()>
{
    let scene = Scene::begin().await?;
    let (ada, bank) = (&scene.ada, &scene.bank);
    plant(&scene, "Ilse").await?;
    let small = card(&scene, "Ilse", "100").await?;
    assert_eq!(
        (codes(&small), slots(&small)),
        (vec!["first_payment", "passkey_new_payee"], vec![])
    );
    assert_ne!(small["confirm_hash"], Value::Null);
    // The same card after the account emptied is another card: half of it would go.
    balance(&scene, 19_999).await?;
    assert_eq!(ada.confirms(&small).await?.status, 409);
    let large = ada.open_card().await?;
    assert_eq!(
        codes(&large),
        [
            "first_payment",
            "large_share",
            "held_cooling_off",
            "passkey_new_payee"
        ]
    );
    assert_eq!(slots(&large), ["purpose"]);
    // Whoever was told what to answer is led out, and nothing is sent.
    let money = bank.money().await?;
    let out = ada
        .fills(&large, "purpose", 0, "told_what_to_answer")
        .await?;
    assert_eq!(out.status, 200, "{}", out.body);
    assert_eq!(out.body["state"], "cancelled");
    assert!(
        out.body["message"].to_string().contains("call the number"),
        "{}",
        out.body
    );
    assert_eq!(bank.money().await?, money);
    // What they had asked for is used up: a model does not offer it again.
    let turn = scene.ada_says("Thanks").await?;
    let again = scene.transfer(&turn, "Ilse", "100").await?;
    assert!(!again.succeeded(), "{}", again.body);
    turn.ends();
    // Two payments in a day count together at the bank's own check too.
    balance(&scene, 100_000).await?;
    for (amount, status) in [("200", 200), ("50", 200)] {
        let card = card(&scene, "Ilse", amount).await?;
        assert_eq!(ada.confirms(&card).await?.status, status, "{amount}");
    }
    let turn = scene.ada_says("Send 1 to Ilse").await?;
    let over = scene.transfer(&turn, "Ilse", "1").await?;
    assert_eq!(
        over.refusal().as_deref(),
        Some("limit_first_payment"),
        "{}",
        over.body
    );
    turn.ends();
    Ok(())
}
