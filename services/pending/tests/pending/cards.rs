//! Cards are frozen as named, and no other.

use countersign_domain::{ActionKind, CardId, ToolCode};
use countersign_pending::Request;

use crate::support::{Bank, already_waiting, refused, waiting};

fn freeze(card: Option<CardId>) -> Request {
    Request::CardFreeze { card }
}

fn unfreeze(card: Option<CardId>) -> Request {
    Request::CardUnfreeze { card }
}

#[tokio::test]
async fn another_card_than_the_named_one_is_refused() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Freeze the card ending 4821").await;
    assert_eq!(
        refused(ada.model_requests(freeze(Some(ada.card("0077")))).await),
        (ToolCode::NotGrounded, Some("card"))
    );
    let request = waiting(ada.model_requests(freeze(Some(ada.card("4821")))).await);
    assert_eq!(request.summary, "Freeze the card Everyday card ending 4821");
    assert_eq!(request.kind, ActionKind::CardFreeze);
    assert_eq!(
        already_waiting(ada.model_requests(freeze(Some(ada.card("4821")))).await).action,
        request.action
    );
}

#[tokio::test]
async fn a_card_the_customer_did_not_name_is_a_slot() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Freeze my card").await;
    for card in ["4821", "0077"] {
        assert_eq!(
            refused(ada.model_requests(freeze(Some(ada.card(card)))).await),
            (ToolCode::NotGrounded, Some("card"))
        );
    }
    let request = waiting(ada.model_requests(freeze(None)).await);
    assert_eq!(request.open_slots, ["card"]);
    assert_eq!(request.summary, "Freeze a card");
}

#[tokio::test]
async fn naming_the_card_later_leaves_one_request() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Freeze my card").await;
    let open = waiting(ada.model_requests(freeze(None)).await);
    ada.says("The one ending 4821").await;
    let named = waiting(ada.model_requests(freeze(Some(ada.card("4821")))).await);
    assert_eq!(named.superseded, Some(open.action));
    // Leaving the card out again does not bring a second one.
    assert_eq!(
        refused(ada.model_requests(freeze(None)).await).0,
        ToolCode::NoNewerMessage
    );
    assert_eq!(ada.open().await, [named.action]);
}

#[tokio::test]
async fn freezing_is_not_unfreezing() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    bank.plant(
        "UPDATE bank.card SET state = 'frozen' WHERE card_id = $1",
        &[ada.card("4821").uuid()],
    )
    .await;
    ada.says("Freeze the card ending 4821").await;
    assert_eq!(
        refused(ada.model_requests(unfreeze(Some(ada.card("4821")))).await).0,
        ToolCode::ActNotRequested
    );
    assert_eq!(
        refused(ada.model_requests(freeze(Some(ada.card("4821")))).await),
        (ToolCode::NotPossibleNow, Some("card"))
    );
    ada.says("Unfreeze the card ending 4821").await;
    waiting(ada.model_requests(unfreeze(Some(ada.card("4821")))).await);
}

#[tokio::test]
async fn a_confirmed_freeze_is_not_offered_again() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Freeze my card").await;
    let request = waiting(ada.model_requests(freeze(None)).await);
    ada.cancels(request.action).await;
    for _ in 0..2 {
        assert_eq!(
            refused(ada.model_requests(freeze(None)).await).0,
            ToolCode::ActNotRequested
        );
    }
    ada.says("Freeze my card please").await;
    waiting(ada.model_requests(freeze(None)).await);
}
