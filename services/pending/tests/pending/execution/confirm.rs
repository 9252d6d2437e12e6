//! What a press on a card counts for.

use std::time::Duration;

use countersign_domain::ActionState;
use uuid::Uuid;

use crate::support::{Bank, Card, Customer, Planted};

const EXECUTED: &str = "SELECT count(*) FROM bank.execution";
/// Long enough for a call that waits for nothing.
const A_MOMENT: Duration = Duration::from_millis(400);

async fn twenty_to_bob(ada: &Customer<'_>) -> Card {
    let request = Planted::transfer(ada.account("Current")).to(ada.payee("Bob"), 2_000);
    let action = ada.plants(request).await;
    ada.looks_at(action).await
}

fn answer(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn failed(code: &str) -> Result<String, String> {
    Err(code.to_owned())
}

#[tokio::test]
async fn a_press_counts_for_its_own_showing_alone() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let card = twenty_to_bob(&ada).await;
    let other = twenty_to_bob(&ada).await;
    let wrong = [
        Card {
            nonce: Uuid::new_v4().to_string(),
            ..card.clone()
        },
        Card {
            nonce: other.nonce.clone(),
            ..card.clone()
        },
        // Another record under its own right hash, which this showing did not have.
        Card {
            record: r#"{"v":2}"#,
            ..card.clone()
        },
        Card {
            version: 2,
            ..card.clone()
        },
    ];
    for press in wrong {
        assert_eq!(ada.tries_confirm(&press).await, answer("stale_card"));
    }
    let elsewhere = ada.signs_in_again().await;
    assert_eq!(
        ada.tries_confirm_in(&elsewhere, &card).await,
        answer("stale_card")
    );
    let set = "UPDATE bank.card_shown SET consumed_at = bank.bank_clock() WHERE action_id = $1";
    bank.plant(set, &[other.action.uuid()]).await;
    assert_eq!(
        ada.tries_confirm(&other).await,
        answer("stale_card"),
        "a showing is good once"
    );
    assert_eq!(bank.count(EXECUTED).await, 0);
    assert_eq!(ada.tries_confirm(&card).await, answer("executed"));
    assert_eq!(ada.state(card.action).await, ActionState::Confirmed);
    let used = "SELECT count(*) FROM bank.card_shown WHERE consumed_at IS NOT NULL";
    assert_eq!(bank.count(used).await, 2);
}

#[tokio::test]
async fn a_filled_slot_wants_a_press_on_the_new_card() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let request = Planted::transfer(ada.account("Current")).to(ada.payee("Bob"), None);
    let action = ada.plants(request).await;
    let open = ada.looks_at(action).await;
    assert_eq!(
        ada.tries_confirm(&open).await,
        failed("CS005"),
        "an open slot does not run"
    );
    assert_eq!(
        ada.state(action).await,
        ActionState::Pending,
        "and stays open"
    );
    ada.fills_amount(action, 2_000).await;
    assert_eq!(ada.tries_confirm(&open).await, answer("stale_card"));
    let mixed = Card { version: 2, ..open };
    assert_eq!(
        ada.tries_confirm(&mixed).await,
        answer("stale_card"),
        "the old showing for the new version"
    );
    assert_eq!(bank.count(EXECUTED).await, 0);
    assert_eq!(ada.confirms(action).await, "executed");
}

#[tokio::test]
async fn the_same_again_is_the_same_answer_and_another_record_is_not() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    for (hold, first, again) in [
        (None, "executed", "already_executed"),
        (Some("cooling_off"), "held", "already_held"),
    ] {
        let card = Card {
            hold,
            ..twenty_to_bob(&ada).await
        };
        assert_eq!(ada.tries_confirm(&card).await, answer(first));
        assert_eq!(ada.tries_confirm(&card).await, answer(again));
        let other = Card {
            record: r#"{"v":2}"#,
            ..card
        };
        assert_eq!(ada.tries_confirm(&other).await, answer("not_open"));
    }
    assert_eq!(bank.count(EXECUTED).await, 1, "what is held did not run");
    assert_eq!(ada.balance("Current").await, 498_000);
}

#[tokio::test]
async fn what_is_over_or_somebody_else_s_does_not_run() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let kabir = bank.customer("Kabir").await;
    let card = twenty_to_bob(&ada).await;
    assert_eq!(kabir.tries_confirm(&card).await, answer("not_found"));
    ada.cancels(card.action).await;
    assert_eq!(ada.tries_confirm(&card).await, answer("not_open"));
    let card = twenty_to_bob(&ada).await;
    bank.wait_until_seconds(601).await;
    assert_eq!(ada.tries_confirm(&card).await, answer("expired"));
    assert_eq!(ada.state(card.action).await, ActionState::Expired);
    assert_eq!(ada.tries_confirm(&card).await, answer("not_open"));
    assert_eq!(bank.count(EXECUTED).await, 0);
}

#[tokio::test]
async fn whoever_waits_for_the_lock_past_the_end_is_late() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let card = twenty_to_bob(&ada).await;
    let left = "SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 FROM bank.pending_action WHERE action_id = $1";
    let left: f64 = sqlx::query_scalar(left)
        .bind(card.action.uuid())
        .fetch_one(bank.superuser())
        .await
        .expect("left");
    // Between 0.3 and 1.3 seconds are left then.
    let ahead = (left - 0.3).floor();
    #[expect(clippy::cast_possible_truncation, reason = "some hundred seconds")]
    bank.wait_until_seconds(ahead as i64).await;
    let held = bank.holds_the_lock_of(ada.id.uuid()).await;
    let (pressed, ()) = tokio::join!(ada.tries_confirm(&card), async {
        tokio::time::sleep(Duration::from_secs_f64(left - ahead + 0.1)).await;
        held.rollback().await.expect("give the lock back");
    });
    assert_eq!(pressed, answer("expired"));
    assert_eq!(bank.count(EXECUTED).await, 0);
}

#[tokio::test]
async fn whoever_was_signed_out_while_they_waited_confirms_nothing() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let card = twenty_to_bob(&ada).await;
    let held = bank.holds_the_lock_of(ada.id.uuid()).await;
    let (pressed, ()) = tokio::join!(ada.tries_confirm(&card), async {
        tokio::time::sleep(A_MOMENT).await;
        let out =
            "UPDATE bank.session_grant SET revoked_at = bank.bank_clock() WHERE customer_id = $1";
        bank.plant(out, &[ada.id.uuid()]).await;
        held.rollback().await.expect("give the lock back");
    });
    assert_eq!(pressed, failed("CS001"));
    assert_eq!(bank.count(EXECUTED).await, 0);
}

#[tokio::test]
async fn a_stop_lets_precautions_through_and_nothing_else() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let payment = twenty_to_bob(&ada).await;
    let freeze = Planted::card_freeze(ada.account("Current"), ada.card("4821").uuid());
    let freeze = ada.plants(freeze).await;
    bank.plant(
        "INSERT INTO bank.payment_freeze (customer_id, freeze_id, how, frozen_at) VALUES ($1, gen_random_uuid(), 'freeze', bank.bank_clock())",
        &[ada.id.uuid()],
    )
    .await;
    assert_eq!(ada.tries_confirm(&payment).await, answer("frozen"));
    assert_eq!(ada.confirms(freeze).await, "executed");
    bank.plant(
        "UPDATE bank.payment_freeze SET lifted_at = bank.bank_clock() WHERE customer_id = $1",
        &[ada.id.uuid()],
    )
    .await;
    assert_eq!(ada.tries_confirm(&payment).await, answer("executed"));
}

#[tokio::test]
async fn what_the_limits_refuse_neither_runs_nor_is_held() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    for hold in [None, Some("cooling_off")] {
        let request = Planted::transfer(ada.account("Current")).to(ada.payee("Bob"), 150_001);
        let action = ada.plants(request).await;
        let card = Card {
            hold,
            ..ada.looks_at(action).await
        };
        assert_eq!(ada.tries_confirm(&card).await, answer("limit_per_transfer"));
        assert_eq!(ada.state(action).await, ActionState::Refused);
    }
    assert_eq!(bank.count("SELECT count(*) FROM bank.execution").await, 0);
    assert_eq!(bank.count("SELECT count(*) FROM bank.hold").await, 0);
    assert_eq!(ada.balance("Current").await, 500_000);
}

#[tokio::test]
async fn states_move_along_their_edges_alone() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let card = twenty_to_bob(&ada).await;
    assert_eq!(ada.tries_confirm(&card).await, answer("executed"));
    let held = Card {
        hold: Some("cooling_off"),
        ..twenty_to_bob(&ada).await
    };
    assert_eq!(ada.tries_confirm(&held).await, answer("held"));
    for (statement, action) in [
        (
            "UPDATE bank.pending_action SET reason = 'other' WHERE action_id = $1",
            card.action,
        ),
        (
            "UPDATE bank.pending_action SET state = 'cancelled' WHERE action_id = $1",
            card.action,
        ),
        (
            "UPDATE bank.pending_action SET state = 'pending' WHERE action_id = $1",
            held.action,
        ),
        (
            "UPDATE bank.pending_action SET state = 'refused' WHERE action_id = $1",
            held.action,
        ),
    ] {
        let error = sqlx::query(statement)
            .bind(action.uuid())
            .execute(bank.superuser())
            .await
            .expect_err("refused");
        assert_eq!(crate::support::code_of(&error), "CS013", "{statement}");
    }
}

/// Events whose place, leaf or seal is not what those before them make it.
const BROKEN_CHAIN: &str = "SELECT count(*) FROM (
    SELECT e.*, row_number() OVER chain AS place, coalesce(lag(chain_hash) OVER chain, decode(repeat('00', 32), 'hex')) AS before
      FROM bank.bank_event e WINDOW chain AS (PARTITION BY customer_id ORDER BY sequence)) e
   WHERE sequence <> place OR leaf_hash <> sha256('\\x00'::bytea || payload) OR chain_hash <> sha256(before || leaf_hash)";

#[tokio::test]
async fn each_event_seals_all_before_it_without_a_gap() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    for _ in 0..3 {
        let card = twenty_to_bob(&ada).await;
        assert_eq!(ada.tries_confirm(&card).await, answer("executed"));
        assert_eq!(ada.undoes(card.action).await, "undone");
    }
    assert_eq!(bank.count("SELECT count(*) FROM bank.bank_event").await, 6);
    assert_eq!(bank.count(BROKEN_CHAIN).await, 0);
}
