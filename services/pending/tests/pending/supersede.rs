//! At most one open request for one thing, and only the customer's new words replace it.

use countersign_domain::{ActionState, ToolCode};
use countersign_pending::Request;

use crate::support::{Bank, already_waiting, refused, waiting};

#[tokio::test]
async fn a_newer_message_lets_a_request_take_the_place_of_another() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let first = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    ada.says("Actually make it 25").await;
    let second = waiting(ada.model_requests(ada.pay("25.00", "Bob")).await);

    assert_eq!(second.superseded, Some(first.action));
    let old = ada.sees(first.action).await;
    assert_eq!(old.state, ActionState::Superseded);
    assert_eq!(old.superseded_by, Some(second.action));
    assert_eq!(ada.open().await, [second.action]);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.bank_event WHERE kind = 'superseded'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_model_that_asks_again_and_again_changes_nothing() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob. Send 30 to Alice.").await;
    let first = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    for _ in 0..5 {
        assert_eq!(
            refused(ada.model_requests(ada.pay("30.00", "Alice")).await).0,
            ToolCode::NoNewerMessage
        );
        assert_eq!(
            refused(ada.model_requests(ada.transfer().to("Bob")).await).0,
            ToolCode::NoNewerMessage
        );
    }
    assert_eq!(ada.open().await, [first.action]);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.pending_action").await,
        1
    );
}

#[tokio::test]
async fn the_same_request_waits_once() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let first = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    assert_eq!(
        already_waiting(ada.model_requests(ada.pay("20", "Bob")).await).action,
        first.action
    );
    // Also when the customer has said something since that leaves it as it is.
    ada.says("yes").await;
    assert_eq!(
        already_waiting(ada.model_requests(ada.pay("20.00", "Bob")).await).action,
        first.action
    );
    assert_eq!(bank.count("SELECT count(*) FROM bank.bank_event").await, 1);
}

#[tokio::test]
async fn asking_again_keeps_what_the_customer_filled_in() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send money to Bob").await;
    let first = waiting(ada.model_requests(ada.transfer().to("Bob")).await);
    ada.fills_amount(first.action, 1500).await;
    let again = already_waiting(ada.model_requests(ada.transfer().to("Bob")).await);
    assert_eq!(again.action, first.action);
    assert_eq!(again.summary, "Send 15.00 EUR to Bob");
    assert_eq!(again.open_slots, Vec::<&str>::new());

    // The words have caught up with the panel: still the same request.
    ada.says("15").await;
    assert_eq!(
        already_waiting(ada.model_requests(ada.pay("15.00", "Bob")).await).action,
        first.action
    );
}

#[tokio::test]
async fn requests_for_other_things_wait_side_by_side() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    ada.says("Freeze the card ending 4821").await;
    waiting(
        ada.model_requests(Request::CardFreeze {
            card: Some(ada.card("4821")),
        })
        .await,
    );
    assert_eq!(ada.open().await.len(), 2);
}

#[tokio::test]
async fn each_conversation_has_its_own_open_transfer() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    ada.opens_a_conversation().await;
    ada.says("Send 30 to Alice").await;
    let second = waiting(ada.model_requests(ada.pay("30.00", "Alice")).await);
    assert_eq!(second.superseded, None);
    assert_eq!(ada.open().await.len(), 2);
}

#[tokio::test]
async fn a_refused_request_leaves_nothing_half_written() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let first = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    // Above the limit for one transfer: the open one must survive the attempt to replace it.
    ada.says("Actually make it 1501").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("1501.00", "Bob")).await).0,
        ToolCode::LimitPerTransfer
    );
    assert_eq!(ada.open().await, [first.action]);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.bank_event WHERE kind <> 'request_created'")
            .await,
        0
    );
}

#[tokio::test]
async fn an_id_that_was_used_before_stores_nothing() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let first = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    ada.says("Actually make it 25").await;
    // In the same place, where the old one would be marked as replaced by itself, and in a place of its own.
    let model = ada.model().await;
    let result = model
        .requests_as(first.action, ada.pay("25.00", "Bob"))
        .await;
    assert_eq!(refused(result).0, ToolCode::Unavailable);
    ada.opens_a_conversation().await;
    ada.says("Send 30 to Alice").await;
    let model = ada.model().await;
    let result = model
        .requests_as(first.action, ada.pay("30.00", "Alice"))
        .await;
    assert_eq!(refused(result).0, ToolCode::Unavailable);

    let stored = ada.sees(first.action).await;
    assert_eq!(stored.state, ActionState::Pending);
    assert_eq!(stored.values.lines.len(), 1);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.pending_line").await,
        1
    );
    assert_eq!(bank.count("SELECT count(*) FROM bank.bank_event").await, 1);
}
