//! Two at once: the lock makes them one after the other.

use countersign_domain::{ActionState, ToolCode};
use countersign_pending::{RequestError, Requested};
use countersign_store::session;

use crate::support::{Bank, waiting};

/// Rounds of a race; both orders are seen long before that.
const ROUNDS: usize = 12;

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
    held.rollback().await.expect("rollback");
    assert!(ada.open().await.is_empty());
    waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
}

#[tokio::test]
async fn a_correction_racing_a_confirm_never_leaves_two_payments() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    for _ in 0..ROUNDS {
        ada.opens_a_conversation().await;
        ada.says("Send 20 to Bob").await;
        let first = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
        ada.says("Actually make it 25").await;
        let model = ada.model().await;
        let (corrected, confirmed) = tokio::join!(
            model.requests(ada.pay("25.00", "Bob")),
            ada.confirms(first.action)
        );
        let state = ada.state(first.action).await;
        if confirmed == "executed" {
            assert_eq!(state, ActionState::Confirmed);
            // The correction came too late to replace it; it stands beside it as a request of its own, or not at all.
            if let Ok(Requested::Waiting(waiting)) = &corrected {
                assert_eq!(waiting.superseded, None);
            }
        } else {
            assert_eq!(confirmed, "not_open");
            assert_eq!(state, ActionState::Superseded);
        }
        for action in ada.open().await {
            ada.cancels(action).await;
        }
    }
}
