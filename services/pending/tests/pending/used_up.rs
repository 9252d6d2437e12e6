//! What a card has settled does not come back by itself.

use countersign_domain::{ActionState, ToolCode};

use crate::support::{Bank, refused, waiting};

#[tokio::test]
async fn a_confirmed_payment_is_not_asked_for_twice() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let request = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    assert_eq!(ada.confirms(request.action).await, "executed");
    for proposal in [
        ada.pay("20.00", "Bob"),
        ada.transfer().to("Bob"),
        ada.transfer(),
    ] {
        assert_eq!(
            refused(ada.model_requests(proposal).await).0,
            ToolCode::ActNotRequested
        );
    }
    ada.says("Send 20 to Bob").await;
    waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
}

#[tokio::test]
async fn a_slot_the_customer_filled_is_not_opened_again() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send money to Bob").await;
    let request = waiting(ada.model_requests(ada.transfer().to("Bob")).await);
    ada.fills_amount(request.action, 1500).await;
    assert_eq!(ada.confirms(request.action).await, "executed");
    for proposal in [ada.transfer().to("Bob"), ada.transfer()] {
        assert_eq!(
            refused(ada.model_requests(proposal).await).0,
            ToolCode::ActNotRequested
        );
    }
}

#[tokio::test]
async fn a_cancelled_card_does_not_come_back_with_less_on_it() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let request = waiting(ada.model_requests(ada.transfer().to("Bob")).await);
    ada.cancels(request.action).await;
    for proposal in [ada.transfer().to("Bob"), ada.pay("20.00", "Bob")] {
        assert_eq!(
            refused(ada.model_requests(proposal).await).0,
            ToolCode::ActNotRequested
        );
    }
}

#[tokio::test]
async fn an_expired_card_is_not_offered_again_without_a_word() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let request = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    bank.wait_until_seconds(601).await;
    // Before and after the bank has written it down.
    for swept in [false, true] {
        if swept {
            bank.sweep().await;
            assert_eq!(ada.state(request.action).await, ActionState::Expired);
        }
        for proposal in [ada.pay("20.00", "Bob"), ada.transfer().to("Bob")] {
            assert_eq!(
                refused(ada.model_requests(proposal).await).0,
                ToolCode::NoNewerMessage
            );
        }
    }
    ada.says("I am back, go ahead").await;
    let again = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    assert_eq!(again.superseded, None);
}

#[tokio::test]
async fn a_card_past_its_time_gives_its_place_up_to_newer_words() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let request = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    bank.wait_until_seconds(601).await;
    ada.says("I am back, go ahead").await;
    let again = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    assert_eq!(again.superseded, Some(request.action));
}

#[tokio::test]
async fn a_card_the_bank_refused_is_not_offered_again_without_a_word() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let request = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
    bank.plant(
        "UPDATE bank.account_balance SET balance_minor_units = 0 WHERE account_id = $1",
        &[ada.account("Current").uuid()],
    )
    .await;
    assert_eq!(ada.confirms(request.action).await, "insufficient_funds");
    assert_eq!(ada.state(request.action).await, ActionState::Refused);
    bank.plant(
        "UPDATE bank.account_balance SET balance_minor_units = 9999 WHERE account_id = $1",
        &[ada.account("Current").uuid()],
    )
    .await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("20.00", "Bob")).await).0,
        ToolCode::NoNewerMessage
    );
    ada.says("I have money now, try again").await;
    waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
}
