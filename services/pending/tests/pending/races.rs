//! Two at once: the lock makes them one after the other.

use countersign_domain::{ActionId, ActionState, ToolCode};
use countersign_pending::{RequestError, Requested};
use countersign_store::session;

use crate::support::{Bank, Customer, waiting};

/// Rounds of a race; both orders are seen long before that.
const ROUNDS: usize = 12;
/// Rounds of a correction against a Confirm.
const CORRECTION_ROUNDS: usize = 40;

#[tokio::test]
async fn of_two_different_requests_at_once_one_is_stored() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    for _ in 0..ROUNDS {
        ada.opens_a_conversation().await;
        ada.says("Send 20 to Bob. Send 30 to Alice.").await;
        let (one, other) = (ada.model().await, ada.model().await);
        let results = tokio::join!(
            one.requests(ada.pay("20.00", "Bob")),
            other.requests(ada.pay("30.00", "Alice"))
        );
        let stored =
            |result: &Result<Requested, RequestError>| matches!(result, Ok(Requested::Waiting(_)));
        let told = |result: &Result<Requested, RequestError>| matches!(result, Err(error) if error.code() == ToolCode::NoNewerMessage);
        assert!(
            (stored(&results.0) && told(&results.1)) || (told(&results.0) && stored(&results.1)),
            "{results:?}"
        );
        for action in ada.open().await {
            ada.cancels(action).await;
        }
    }
}

#[tokio::test]
async fn of_two_equal_requests_at_once_one_is_stored_and_both_name_it() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    for _ in 0..ROUNDS {
        ada.opens_a_conversation().await;
        ada.says("Send 20 to Bob").await;
        let (one, other) = (ada.model().await, ada.model().await);
        let results = tokio::join!(
            one.requests(ada.pay("20.00", "Bob")),
            other.requests(ada.pay("20.00", "Bob"))
        );
        match results {
            (Ok(Requested::Waiting(new)), Ok(Requested::AlreadyWaiting(same)))
            | (Ok(Requested::AlreadyWaiting(same)), Ok(Requested::Waiting(new))) => {
                assert_eq!(new.action, same.action);
                ada.cancels(new.action).await;
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn two_conversations_at_once_do_not_share_one_allowance() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    for _ in 0..ROUNDS {
        ada.opens_a_conversation().await;
        ada.says("Send 1000 to Bob").await;
        let one = ada.model().await;
        ada.opens_a_conversation().await;
        ada.says("Send 1000 to Alice").await;
        let other = ada.model().await;
        let results = tokio::join!(
            one.requests(ada.pay("1000.00", "Bob")),
            other.requests(ada.pay("1000.00", "Alice"))
        );
        let stored = [results.0, results.1]
            .into_iter()
            .filter(|result| result.is_ok())
            .count();
        assert_eq!(stored, 1, "1,800 may wait at one time");
        for action in ada.open().await {
            ada.cancels(action).await;
        }
    }
}

#[tokio::test]
async fn whoever_holds_the_lock_too_long_makes_the_other_busy() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let holder = ada.model().await;
    let (pool, secret) = holder.login();
    let mut held = session::begin(pool, secret).await.expect("begin");
    session::lock_customer(&mut held).await.expect("lock");
    let result = ada.model_requests(ada.pay("20.00", "Bob")).await;
    assert!(matches!(result, Err(RequestError::Busy)), "{result:?}");
    // Another customer has a lock of their own.
    let kabir = bank.customer("Kabir").await;
    kabir.says("Send 20 to Bob").await;
    waiting(kabir.model_requests(kabir.pay("20.00", "Bob")).await);
    held.rollback().await.expect("rollback");
    assert!(ada.open().await.is_empty());
    waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
}

/// A correction and the Confirm of what it corrects, at once; the Confirm starts first in every other round.
async fn correct_and_confirm(
    ada: &Customer<'_>,
    round: usize,
    first: ActionId,
    corrected_amount: &str,
) -> (Result<Requested, RequestError>, String) {
    let card = ada.looks_at(first).await;
    let model = ada.model().await;
    let correction = model.requests(ada.pay(corrected_amount, "Bob"));
    let confirm = ada.presses_confirm(card);
    if round.is_multiple_of(2) {
        tokio::join!(correction, confirm)
    } else {
        let (confirmed, corrected) = tokio::join!(confirm, correction);
        (corrected, confirmed)
    }
}

#[tokio::test]
async fn a_correction_racing_a_confirm_replaces_it_or_comes_too_late() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    let (mut replaced, mut too_late) = (0, 0);
    for round in 0..CORRECTION_ROUNDS {
        ada.opens_a_conversation().await;
        ada.says("Send 20 to Bob").await;
        let first = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
        ada.says("Actually make it 25").await;
        let (corrected, confirmed) = correct_and_confirm(&ada, round, first.action, "25.00").await;
        let state = ada.state(first.action).await;
        if confirmed == "executed" {
            too_late += 1;
            assert_eq!(state, ActionState::Confirmed);
            // It stands beside the payment as a request of its own, or not at all: never half replaced.
            match &corrected {
                Ok(Requested::Waiting(waiting)) => assert_eq!(waiting.superseded, None),
                Err(RequestError::Refused(_)) => {}
                other => panic!("{other:?}"),
            }
        } else {
            replaced += 1;
            assert_eq!(confirmed, "not_open");
            assert_eq!(state, ActionState::Superseded);
            assert_eq!(waiting(corrected).superseded, Some(first.action));
        }
        for action in ada.open().await {
            ada.cancels(action).await;
        }
    }
    assert!(
        replaced > 0 && too_late > 0,
        "both orders: {replaced} replaced, {too_late} too late"
    );
}

#[tokio::test]
async fn a_correction_racing_a_confirm_never_lifts_the_daily_limit() {
    let bank = Bank::open().await;
    for round in 0..ROUNDS {
        let ada = bank.customer("Ada").await;
        bank.plant(
            "UPDATE bank.customer_limit SET per_transfer_minor_units = 10000000, per_day_minor_units = 10000000,
               pending_total_minor_units = 10000000 WHERE customer_id = $1",
            &[ada.id.uuid()],
        )
        .await;
        bank.plant(
            "UPDATE bank.account_balance SET balance_minor_units = 50000000 WHERE account_id = $1",
            &[ada.account("Current").uuid()],
        )
        .await;
        bank.plant(
            "INSERT INTO bank.spent_day (customer_id, currency, day, spent_minor_units) VALUES ($1, 'EUR', bank.bank_day(), 3000000)",
            &[ada.id.uuid()],
        )
        .await;
        ada.says("Send 40000 to Bob").await;
        let first = waiting(ada.model_requests(ada.pay("40000.00", "Bob")).await);
        ada.says("Actually make it 45000").await;
        correct_and_confirm(&ada, round, first.action, "45000.00")
            .await
            .0
            .ok();
        for action in ada.open().await {
            ada.confirms(action).await;
        }
        let sent: i64 = sqlx::query_scalar(
            "SELECT sum(spent_minor_units)::bigint FROM bank.spent_day WHERE customer_id = $1",
        )
        .bind(ada.id.uuid())
        .fetch_one(bank.superuser())
        .await
        .expect("sent");
        assert!(sent == 7_000_000 || sent == 7_500_000, "{sent}");
    }
}
