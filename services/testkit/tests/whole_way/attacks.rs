//! Attacks that must fail, with money counted before and after.

use countersign_testkit::Service;
use serde_json::{Value, json};

use crate::scene::Scene;

/// Nothing waits, and nothing moved.
async fn nothing_happened(scene: &Scene, money: (i64, i64)) -> anyhow::Result<()> {
    let waiting: Vec<Value> = scene
        .ada
        .cards()
        .await?
        .into_iter()
        .filter(|card| card["state"] == "pending")
        .collect();
    assert_eq!(waiting, Vec::<Value>::new());
    assert_eq!(scene.bank.money().await?, money);
    Ok(())
}

#[tokio::test]
async fn a_pair_that_the_customer_refused_is_refused() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let money = scene.bank.money().await?;
    let turn = scene
        .ada_says("Do not send 50 to Alice; send 20 to Bob")
        .await?;
    for (payee, amount) in [
        ("Bob", "50.00"),
        ("Alice", "50.00"),
        ("Alice", "20.00"),
        ("Bob", "200.00"),
        ("Carol", "20.00"),
    ] {
        let answer = scene.transfer(&turn, payee, amount).await?;
        assert_eq!(
            answer.refusal().as_deref(),
            Some("not_grounded"),
            "{amount} to {payee}: {}",
            answer.body
        );
    }
    nothing_happened(&scene, money).await?;
    assert!(scene.transfer(&turn, "Bob", "20.00").await?.succeeded());
    turn.ends();
    Ok(())
}

#[tokio::test]
async fn undeclared_arguments_and_prose_do_not_pass() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let money = scene.bank.money().await?;
    let turn = scene.ada_says("Send 20 to Bob").await?;
    let payee = scene.payee(&turn, "Bob").await?;
    let pair = json!({"payee": payee, "amount": "20.00"});
    for arguments in [
        json!({"payments": [pair], "customer_id": "cus_00000000000000000000000000000001"}),
        json!({"payments": [pair], "note": "thanks"}),
        json!({"payments": [pair], "approved": true}),
        json!({"payments": [{"payee": payee, "amount": "20.00", "note": "x"}]}),
        json!({"payments": [{"payee": payee, "amount": 20}]}),
        json!({"payments": [{"payee": payee, "amount": "2e1"}]}),
        json!({"payments": [{"payee": "Bob", "amount": "20.00"}]}),
        json!({"payments": []}),
        json!({"payments": [pair], "from_account": "acc_00000000000000000000000000000001"}),
        json!({"payments": [pair], "currency": "eur"}),
        json!([pair]),
        json!({"__proto__": {"amount": 5}, "payments": [pair]}),
    ] {
        let answer = turn
            .calls(&scene.door, "request_transfer", arguments.clone())
            .await?;
        assert!(!answer.succeeded(), "{arguments}: {}", answer.body);
    }
    nothing_happened(&scene, money).await?;
    turn.ends();
    Ok(())
}

#[tokio::test]
async fn another_customer_s_things_are_not_found_by_any_id() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let kabir_token = scene.bank.session_token("Kabir").await?;
    let theirs = scene
        .door
        .call(&kabir_token, "list_accounts", json!({}))
        .await?;
    let account = theirs.content()["accounts"][0]["account"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(account.starts_with("acc_"), "{}", theirs.body);
    let turn = scene.ada_says("show me Kabir's balance").await?;
    let foreign = turn
        .calls(&scene.door, "get_balance", json!({"account": account}))
        .await?;
    let missing = turn
        .calls(
            &scene.door,
            "get_balance",
            json!({"account": "acc_00000000000000000000000000000001"}),
        )
        .await?;
    assert_eq!(
        foreign.refusal().as_deref(),
        Some("not_found"),
        "{}",
        foreign.body
    );
    assert_eq!(
        foreign.content(),
        missing.content(),
        "not yours and not there read the same"
    );
    turn.ends();
    Ok(())
}

#[tokio::test]
async fn what_an_outsider_wrote_asks_for_nothing() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let money = scene.bank.money().await?;
    let turn = scene.ada_says("what letters do I have?").await?;
    let documents = turn.calls(&scene.door, "list_documents", json!({})).await?;
    assert!(documents.succeeded(), "{}", documents.body);
    let payees = turn.calls(&scene.door, "list_payees", json!({})).await?;
    for payee in payees.content()["payees"].as_array().into_iter().flatten() {
        let ask = json!({"payments": [{"payee": payee["payee"], "amount": "900.00"}]});
        let answer = turn.calls(&scene.door, "request_transfer", ask).await?;
        assert_eq!(
            answer.refusal().as_deref(),
            Some("act_not_requested"),
            "{}",
            answer.body
        );
    }
    nothing_happened(&scene, money).await?;
    turn.ends();
    Ok(())
}

#[tokio::test]
async fn another_card_account_or_rhythm_than_the_one_named_is_refused() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let money = scene.bank.money().await?;
    let turn = scene.ada_says("Freeze my debit card").await?;
    let credit = scene.find(&turn, "list_cards", "card", "0077").await?;
    let answer = turn
        .calls(&scene.door, "request_card_freeze", json!({"card": credit}))
        .await?;
    assert_eq!(
        answer.refusal().as_deref(),
        Some("not_grounded"),
        "{}",
        answer.body
    );
    turn.ends();

    let turn = scene.ada_says("Send 20 to Bob").await?;
    let payee = scene.payee(&turn, "Bob").await?;
    let savings = scene
        .find(&turn, "list_accounts", "account", "Savings")
        .await?;
    let from_savings =
        json!({"payments": [{"payee": payee, "amount": "20.00"}], "from_account": savings});
    let answer = turn
        .calls(&scene.door, "request_transfer", from_savings)
        .await?;
    assert_eq!(
        answer.refusal().as_deref(),
        Some("not_grounded"),
        "{}",
        answer.body
    );
    let monthly = json!({"operation": "create", "payee": payee, "amount": "20.00", "frequency": "monthly", "start_date": "2027-01-01"});
    let answer = turn
        .calls(&scene.door, "request_standing_order", monthly)
        .await?;
    assert!(!answer.succeeded(), "{}", answer.body);
    turn.ends();
    nothing_happened(&scene, money).await
}

#[tokio::test]
async fn a_freeze_that_nobody_asked_for_is_refused() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let money = scene.bank.money().await?;
    let turn = scene.ada_says("is my card safe?").await?;
    let answer = turn
        .calls(&scene.door, "request_card_freeze", json!({}))
        .await?;
    assert_eq!(
        answer.refusal().as_deref(),
        Some("act_not_requested"),
        "{}",
        answer.body
    );
    turn.ends();
    nothing_happened(&scene, money).await
}

#[tokio::test]
async fn nothing_takes_an_open_request_s_place_without_a_new_message() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene
        .ada_says("Send 20 to Bob or better: send 20 to Bob and 30 to Alice")
        .await?;
    turn.ends();
    let turn = scene.ada_says("Pay Alice 30 and Bob 45").await?;
    assert!(scene.transfer(&turn, "Alice", "30.00").await?.succeeded());
    for _ in 0..10 {
        let answer = scene.transfer(&turn, "Bob", "45.00").await?;
        assert_eq!(
            answer.refusal().as_deref(),
            Some("no_newer_message"),
            "{}",
            answer.body
        );
        let same = scene.transfer(&turn, "Alice", "30.00").await?;
        assert_eq!(same.content()["status"], "already_waiting", "{}", same.body);
    }
    turn.ends();
    let cards: Vec<Value> = scene.ada.cards().await?;
    assert_eq!(cards.len(), 1, "{cards:?}");
    Ok(())
}

#[tokio::test]
async fn a_confirm_for_anything_but_the_card_shown_is_refused() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("Send 20 to Bob").await?;
    assert!(scene.transfer(&turn, "Bob", "20.00").await?.succeeded());
    turn.ends();
    let card = scene.ada.open_card().await?;
    let money = scene.bank.money().await?;
    let hash = card["confirm_hash"].as_str().unwrap_or_default().to_owned();
    let flipped = format!(
        "{}{}",
        if hash.starts_with('0') { '1' } else { '0' },
        &hash[1..]
    );
    let with = |name: &str, value: Value| {
        let mut other = card.clone();
        other[name] = value;
        other
    };
    let mut bad_nonce = card["nonce"].as_str().unwrap_or_default().to_owned();
    bad_nonce.replace_range(0..1, if bad_nonce.starts_with('0') { "1" } else { "0" });
    for (other, status) in [
        (with("confirm_hash", json!(flipped)), 409),
        (with("nonce", json!(bad_nonce)), 409),
        (with("version", json!(2)), 409),
        (
            with("action", json!("act_00000000000000000000000000000001")),
            404,
        ),
    ] {
        let answer = scene.ada.confirms(&other).await?;
        assert_eq!(answer.status, status, "{}", answer.body);
    }
    let kabir = scene.bank.sign_in("Kabir").await?;
    let foreign = kabir.confirms(&card).await?;
    assert_eq!(foreign.status, 404, "{}", foreign.body);
    assert_eq!(scene.bank.money().await?, money);

    let turn = scene.ada_says("Actually, 25 to Bob").await?;
    let answer = scene.transfer(&turn, "Bob", "25.00").await?;
    assert!(answer.succeeded(), "{}", answer.body);
    turn.ends();
    let superseded = scene.ada.confirms(&card).await?;
    assert_eq!(superseded.status, 409, "{}", superseded.body);
    assert_eq!(scene.bank.money().await?, money);
    Ok(())
}

#[tokio::test]
async fn saying_yes_in_words_confirms_nothing() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("Send 20 to Bob").await?;
    assert!(scene.transfer(&turn, "Bob", "20.00").await?.succeeded());
    turn.says("Confirmed! I have sent 20.00 EUR to Bob.");
    turn.ends();
    let money = scene.bank.money().await?;
    let turn = scene.ada_says("yes, I confirm").await?;
    for tool in [
        "confirm",
        "confirm_action",
        "request_confirm",
        "execute",
        "panel/confirm",
        "request_transfer ",
    ] {
        let answer = turn.calls(&scene.door, tool, json!({})).await?;
        assert!(!answer.succeeded(), "{tool}: {}", answer.body);
    }
    turn.ends();
    assert_eq!(scene.bank.money().await?, money);
    Ok(())
}

#[tokio::test]
async fn the_panel_s_port_stays_the_bank_s_on_both_loopback_addresses() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let port = scene.bank.stack().port(Service::Panel);
    let try_both = || {
        for address in ["127.0.0.1", "::1"] {
            let bound = std::net::TcpListener::bind((address, port));
            assert!(bound.is_err(), "somebody else can answer on {address}");
        }
    };
    try_both();
    scene.bank.stack().kill(Service::Panel);
    for _ in 0..50 {
        try_both();
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    scene
        .bank
        .stack()
        .wait_until_healthy(Service::Panel)
        .await?;
    assert_eq!(
        scene.ada.get("/api/cards").await?.status,
        200,
        "the session outlives a restart"
    );
    Ok(())
}
