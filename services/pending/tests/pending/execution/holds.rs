//! What is held runs as it was confirmed, in its time, or not at all.

use countersign_domain::ActionState;

use crate::support::{Bank, Card, Customer, Planted, code_of};

const A_DAY: i64 = 24 * 3_600;

async fn is_held(ada: &Customer<'_>) -> Card {
    let request = Planted::transfer(ada.account("Current")).to(ada.payee("Bob"), 2_000);
    let action = ada.plants(request).await;
    let card = Card {
        hold: Some("cooling_off"),
        ..ada.looks_at(action).await
    };
    assert_eq!(ada.tries_confirm(&card).await, Ok("held".to_owned()));
    card
}

/// What the bank answers when the panel lets a hold go; `refusal` is what the panel found changed.
async fn release(ada: &Customer<'_>, card: &Card, refusal: Option<&str>) -> Result<String, String> {
    let mut panel = ada.panel().await;
    let answer = sqlx::query_scalar(
        "SELECT bank.release_hold($1, $2, false, $3, ARRAY[gen_random_uuid()], '{}')",
    )
    .bind(card.action.uuid())
    .bind(card.hash())
    .bind(refusal)
    .fetch_one(&mut *panel)
    .await
    .map_err(|error| code_of(&error))?;
    panel.commit().await.map_err(|error| code_of(&error))?;
    Ok(answer)
}

fn answer(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

#[tokio::test]
async fn a_hold_goes_in_its_time_as_it_was_confirmed_and_once() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let card = is_held(&ada).await;
    assert_eq!(release(&ada, &card, None).await, answer("not_yet"));
    bank.wait_until_seconds(A_DAY + 60).await;
    let other = Card {
        record: r#"{"v":2}"#,
        ..card.clone()
    };
    assert_eq!(release(&ada, &other, None).await, answer("not_held"));
    assert_eq!(ada.balance("Current").await, 500_000);
    assert_eq!(release(&ada, &card, None).await, answer("executed"));
    assert_eq!(release(&ada, &card, None).await, answer("not_held"));
    assert_eq!(ada.balance("Current").await, 498_000);
    let done = "SELECT count(*) FROM bank.execution e JOIN bank.hold h USING (customer_id, action_id) WHERE e.confirm_hash = h.confirm_hash";
    assert_eq!(bank.count(done).await, 1);
}

#[tokio::test]
async fn a_hold_that_may_not_go_is_cancelled_with_its_reason() {
    let bank = Bank::open().await;
    for (what, refusal, code) in [
        ("SELECT $1::uuid", Some("changed"), "changed"),
        (
            "INSERT INTO bank.payment_freeze (customer_id, freeze_id, how, frozen_at) VALUES ($1, gen_random_uuid(), 'freeze', bank.bank_clock())",
            None,
            "frozen",
        ),
        (
            "UPDATE bank.customer_limit SET per_transfer_minor_units = 1999 WHERE customer_id = $1",
            None,
            "limit_per_transfer",
        ),
        (
            "UPDATE bank.account_balance SET balance_minor_units = 1999 WHERE customer_id = $1",
            None,
            "insufficient_funds",
        ),
    ] {
        bank.wait_until_seconds(0).await;
        let ada = bank.customer("Ada").await;
        let card = is_held(&ada).await;
        bank.plant(what, &[ada.id.uuid()]).await;
        bank.wait_until_seconds(A_DAY + 60).await;
        assert_eq!(release(&ada, &card, refusal).await, answer(code));
        assert_eq!(ada.state(card.action).await, ActionState::Cancelled);
    }
    assert_eq!(bank.count("SELECT count(*) FROM bank.execution").await, 0);
}

#[tokio::test]
async fn what_was_cancelled_or_ran_out_does_not_go() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let cancelled = is_held(&ada).await;
    let forgotten = is_held(&ada).await;
    ada.cancels(cancelled.action).await;
    bank.wait_until_seconds(A_DAY + 60).await;
    assert_eq!(release(&ada, &cancelled, None).await, answer("not_held"));
    bank.wait_until_seconds(5 * A_DAY).await;
    assert_eq!(release(&ada, &forgotten, None).await, answer("expired"));
    assert_eq!(ada.state(forgotten.action).await, ActionState::Expired);
    assert_eq!(bank.count("SELECT count(*) FROM bank.execution").await, 0);
}

#[tokio::test]
async fn the_first_word_of_an_operator_stands() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let card = is_held(&ada).await;
    let allow = async || -> Result<bool, String> {
        sqlx::query_scalar("SELECT bank.allow_hold($1, $2, 'olga')")
            .bind(ada.id.uuid())
            .bind(card.action.uuid())
            .fetch_one(bank.superuser())
            .await
            .map_err(|error| code_of(&error))
    };
    assert_eq!(allow().await, Ok(true));
    assert_eq!(allow().await, Ok(false));
    assert_eq!(
        release(&ada, &card, None).await,
        answer("executed"),
        "at once"
    );
}
