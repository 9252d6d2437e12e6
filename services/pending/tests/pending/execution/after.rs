//! What comes after a press: undo, poster, sweeper, each step once and in its order.

use std::time::Duration;

use countersign_domain::{ActionId, ActionState};
use uuid::Uuid;

use crate::support::{Bank, Customer, Planted};

const LEAVE: &str = "SELECT bank.begin_leaving($1, $2)";
const CREDIT: &str = "SELECT bank.credit_payee($1, $2)";
const POST: &str = "SELECT bank.post_transfer($1, $2)";
/// Long enough for a call that waits for nothing, and shorter than anybody waits for a lock.
const A_MOMENT: Duration = Duration::from_millis(800);

/// Ada's confirmed payment of 20.00 to a payee, and its transfer.
async fn pays(bank: &Bank, ada: &Customer<'_>, request: Planted) -> (ActionId, [Uuid; 2]) {
    let (action, said) = ada.plants_and_confirms(request).await;
    assert_eq!(said, Ok("executed".to_owned()));
    let transfer = sqlx::query_scalar("SELECT transfer_id FROM bank.transfer WHERE action_id = $1")
        .bind(action.uuid())
        .fetch_one(bank.superuser())
        .await
        .expect("transfer");
    (action, [ada.id.uuid(), transfer])
}

async fn to_kabir(ada: &Customer<'_>, kabir: &Customer<'_>) -> Planted {
    let payee = ada
        .knows("Kabir", &kabir.is_found_at("Current").await)
        .await;
    Planted::transfer(ada.account("Current")).to(payee, 2_000)
}

fn to_bob(ada: &Customer<'_>) -> Planted {
    Planted::transfer(ada.account("Current")).to(ada.payee("Bob"), 2_000)
}

#[tokio::test]
async fn money_leaves_is_credited_and_is_posted_once_and_in_this_order() {
    let bank = Bank::open().await;
    let (ada, kabir) = (bank.customer("Ada").await, bank.customer("Kabir").await);
    let (action, ids) = pays(&bank, &ada, to_kabir(&ada, &kabir).await).await;
    for step in [LEAVE, CREDIT, POST] {
        assert_eq!(
            bank.as_loop("poster", step, &ids).await,
            Ok(false),
            "{step} while it can be undone"
        );
    }
    bank.wait_until_seconds(11).await;
    assert_eq!(
        ada.undoes(action).await,
        "too_late",
        "the clock decides, whether or not a poster was there"
    );
    assert_eq!(
        bank.as_loop("poster", CREDIT, &ids).await,
        Ok(false),
        "it has not left"
    );
    assert_eq!(
        bank.as_loop("poster", POST, &ids).await,
        Ok(false),
        "it has not left"
    );
    for _ in 0..2 {
        assert_eq!(bank.as_loop("poster", LEAVE, &ids).await, Ok(true));
    }
    // Whatever a clock says then.
    bank.wait_until_seconds(0).await;
    assert_eq!(ada.undoes(action).await, "too_late");
    assert_eq!(
        bank.as_loop("poster", POST, &ids).await,
        Ok(false),
        "the payee has nothing yet"
    );
    for _ in 0..2 {
        assert_eq!(bank.as_loop("poster", CREDIT, &ids).await, Ok(true));
    }
    assert_eq!(bank.as_loop("poster", POST, &ids).await, Ok(true));
    assert_eq!(bank.as_loop("poster", POST, &ids).await, Ok(false));
    assert_eq!(
        (ada.balance("Current").await, kabir.balance("Current").await),
        (498_000, 502_000)
    );
    let arrived: Vec<(String, i64)> = sqlx::query_as(
        "SELECT e.book, e.amount_minor_units FROM bank.entry e JOIN bank.transfer t USING (customer_id, transfer_id)
          WHERE t.origin_transfer_id = $1 ORDER BY e.leg",
    )
    .bind(ids[1])
    .fetch_all(bank.superuser())
    .await
    .expect("legs");
    assert_eq!(
        arrived,
        [
            ("transit".to_owned(), -2_000),
            ("account".to_owned(), 2_000)
        ]
    );
    let late = sqlx::query("UPDATE bank.transfer SET posted_at = posted_at + interval '1 second' WHERE transfer_id = $1")
        .bind(ids[1])
        .execute(bank.superuser())
        .await
        .expect_err("posted is final");
    assert_eq!(crate::support::code_of(&late), "CS013");
}

#[tokio::test]
async fn what_leaves_the_bank_goes_from_transit_to_settlement() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let (action, ids) = pays(&bank, &ada, to_bob(&ada)).await;
    bank.wait_until_seconds(11).await;
    for (step, done) in [(POST, false), (LEAVE, true), (CREDIT, false), (POST, true)] {
        assert_eq!(bank.as_loop("poster", step, &ids).await, Ok(done), "{step}");
    }
    let legs = [
        ("account", -2_000),
        ("transit", 2_000),
        ("transit", -2_000),
        ("settlement", 2_000),
    ];
    assert_eq!(
        ada.legs(action).await,
        legs.map(|(book, amount)| (book.to_owned(), amount))
    );
}

#[tokio::test]
async fn an_undone_payment_comes_back_from_transit_and_never_leaves() {
    let bank = Bank::open().await;
    let (ada, kabir) = (bank.customer("Ada").await, bank.customer("Kabir").await);
    let (action, ids) = pays(&bank, &ada, to_bob(&ada)).await;
    assert_eq!(kabir.undoes(action).await, "not_found");
    assert_eq!(ada.undoes(action).await, "undone");
    assert_eq!(ada.undoes(action).await, "already_undone");
    let legs = [
        ("account", -2_000),
        ("transit", 2_000),
        ("transit", -2_000),
        ("account", 2_000),
    ];
    assert_eq!(
        ada.legs(action).await,
        legs.map(|(book, amount)| (book.to_owned(), amount))
    );
    assert_eq!(ada.balance("Current").await, 500_000);
    let paid = "SELECT payments_count FROM bank.payee_paid p JOIN bank.payee y USING (customer_id, payee_id)
                 JOIN bank.customer c USING (customer_id) WHERE y.name = 'Bob' AND c.display_name = 'Ada'";
    assert_eq!(bank.count(paid).await, 7, "Bob was paid before");
    bank.wait_until_seconds(60).await;
    for step in [LEAVE, CREDIT, POST] {
        assert_eq!(
            bank.as_loop("poster", step, &ids).await,
            Ok(false),
            "{step}"
        );
    }
}

#[tokio::test]
async fn an_undo_after_midnight_is_of_the_day_before() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    bank.plant(
        "INSERT INTO bank.customer_choice (customer_id, undo_seconds) VALUES ($1, 30)",
        &[ada.id.uuid()],
    )
    .await;
    let to_midnight = "SELECT extract(epoch FROM ((bank.bank_day() + 1)::timestamp AT TIME ZONE s.time_zone) - bank.bank_clock())::bigint
                         FROM bank.setting s";
    let seconds = bank.count(to_midnight).await;
    bank.wait_until_seconds(seconds - 20).await;
    let (action, _) = pays(&bank, &ada, to_bob(&ada)).await;
    bank.wait_until_seconds(seconds + 2).await;
    assert_eq!(ada.undoes(action).await, "undone");
    assert_eq!(bank.count("SELECT count(*) FROM bank.spent_day").await, 1);
    assert_eq!(
        bank.count("SELECT spent_minor_units FROM bank.spent_day")
            .await,
        0
    );
}

#[tokio::test]
async fn an_undo_that_waits_for_the_lock_past_its_time_is_late() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    bank.plant(
        "INSERT INTO bank.customer_choice (customer_id, undo_seconds) VALUES ($1, 1)",
        &[ada.id.uuid()],
    )
    .await;
    let card = ada.plants(to_bob(&ada)).await;
    let card = ada.looks_at(card).await;
    let mut panel = ada.panel().await;
    assert_eq!(ada.tries_confirm(&card).await, Ok("executed".to_owned()));
    let held = bank.holds_the_lock_of(ada.id.uuid()).await;
    let undo = async {
        let answer: String = sqlx::query_scalar("SELECT bank.undo_action($1)")
            .bind(card.action.uuid())
            .fetch_one(&mut *panel)
            .await
            .expect("undo");
        panel.commit().await.expect("commit");
        answer
    };
    let (said, ()) = tokio::join!(undo, async {
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        held.rollback().await.expect("give the lock back");
    });
    assert_eq!(said, "too_late");
    assert_eq!(ada.balance("Current").await, 498_000);
}

#[tokio::test]
async fn the_loops_take_turns_with_the_customer() {
    let bank = Bank::open().await;
    let (ada, kabir) = (bank.customer("Ada").await, bank.customer("Kabir").await);
    let (_, ids) = pays(&bank, &ada, to_kabir(&ada, &kabir).await).await;
    let waits = async |role: &str, call: &'static str, ids: &[Uuid], whose: &Customer<'_>| {
        let held = bank.holds_the_lock_of(whose.id.uuid()).await;
        let done = tokio::time::timeout(A_MOMENT, bank.as_loop(role, call, ids)).await;
        held.rollback().await.expect("give the lock back");
        assert!(done.is_err(), "{call} did not wait: {done:?}");
    };
    bank.wait_until_seconds(11).await;
    // Whoever waited does its step when the lock is free, so that the next one finds it done.
    waits("poster", LEAVE, &ids, &ada).await;
    assert_eq!(bank.as_loop("poster", LEAVE, &ids).await, Ok(true));
    waits("poster", CREDIT, &ids, &kabir).await;
    assert_eq!(bank.as_loop("poster", CREDIT, &ids).await, Ok(true));
    waits("poster", POST, &ids, &ada).await;
    ada.plants(to_bob(&ada)).await;
    bank.wait_until_seconds(700).await;
    waits("sweeper", "SELECT bank.expire_due(100) > 0", &[], &ada).await;
}

#[tokio::test]
async fn the_sweeper_looks_again_under_the_lock() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let action = ada.plants(to_bob(&ada)).await;
    bank.wait_until_seconds(601).await;
    let mut held = bank.holds_the_lock_of(ada.id.uuid()).await;
    let cancel = async {
        tokio::time::sleep(A_MOMENT).await;
        sqlx::query("UPDATE bank.pending_action SET state = 'cancelled' WHERE action_id = $1")
            .bind(action.uuid())
            .execute(&mut *held)
            .await
            .expect("cancel");
        held.commit().await.expect("commit");
    };
    let (swept, ()) = tokio::join!(
        bank.as_loop("sweeper", "SELECT bank.expire_due(100) > 0", &[]),
        cancel
    );
    assert_eq!(swept, Ok(false));
    assert_eq!(ada.state(action).await, ActionState::Cancelled);
}
