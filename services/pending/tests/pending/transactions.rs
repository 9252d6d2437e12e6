//! Refunds, disputes, payees and the profile.

use countersign_domain::{DisputeReason, ProfileField, ToolCode};
use countersign_pending::Request;

use crate::support::{Bank, refused, waiting};

#[tokio::test]
async fn a_refund_takes_everything_from_the_payment_it_sends_back() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Refund the payment from Sam Field").await;
    let request = waiting(
        ada.model_requests(Request::Refund {
            transaction: Some(ada.incoming),
        })
        .await,
    );
    assert!(
        request
            .summary
            .starts_with("Send back 45.00 EUR received on "),
        "{}",
        request.summary
    );
    let values = ada.sees(request.action).await.values;
    assert_eq!(
        values.lines[0].amount.map(|amount| amount.count()),
        Some(4500)
    );
    assert_eq!(values.from_account, Some(ada.account("Current")));
    assert_eq!(values.transaction, Some(ada.incoming));
}

#[tokio::test]
async fn a_payment_that_went_out_is_not_sent_back() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Refund the payment from Sam Field").await;
    assert_eq!(
        refused(
            ada.model_requests(Request::Refund {
                transaction: Some(ada.card_payment)
            })
            .await
        ),
        (ToolCode::NotGrounded, Some("transaction"))
    );
}

#[tokio::test]
async fn a_payment_is_sent_back_once() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Refund the payment from Sam Field").await;
    let refund = Request::Refund {
        transaction: Some(ada.incoming),
    };
    let request = waiting(ada.model_requests(refund.clone()).await);
    assert_eq!(ada.confirms(request.action).await, "executed");
    ada.says("Refund the payment from Sam Field").await;
    assert_eq!(
        refused(ada.model_requests(refund).await),
        (ToolCode::NotPossibleNow, Some("transaction"))
    );
}

#[tokio::test]
async fn a_payment_that_nobody_named_is_picked_on_the_panel() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Please refund a payment").await;
    let request = waiting(
        ada.model_requests(Request::Refund { transaction: None })
            .await,
    );
    assert_eq!(request.open_slots, ["transaction"]);
    let values = ada.sees(request.action).await.values;
    assert_eq!(values.transaction, None);
    assert!(values.lines.is_empty() && values.from_account.is_none());
    // A model picks none for them.
    assert_eq!(
        refused(
            ada.model_requests(Request::Refund {
                transaction: Some(ada.incoming)
            })
            .await
        ),
        (ToolCode::NotGrounded, Some("transaction"))
    );
}

#[tokio::test]
async fn a_dispute_is_about_the_named_transaction() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("I want to dispute the 64.10 at Corner Shop").await;
    let dispute = |transaction, reason| Request::Dispute {
        transaction: Some(transaction),
        reason,
    };
    assert_eq!(
        refused(ada.model_requests(dispute(ada.incoming, None)).await),
        (ToolCode::NotGrounded, Some("transaction"))
    );
    assert_eq!(
        refused(
            ada.model_requests(dispute(ada.card_payment, Some(DisputeReason::NotReceived)))
                .await
        ),
        (ToolCode::NotGrounded, Some("reason"))
    );
    let request = waiting(ada.model_requests(dispute(ada.card_payment, None)).await);
    assert_eq!(request.open_slots, ["dispute_reason", "details"]);
    assert!(!request.summary.contains("Corner"), "{}", request.summary);
}

#[tokio::test]
async fn what_is_typed_on_the_panel_is_left_to_the_panel() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Save a new payee").await;
    let request = waiting(ada.model_requests(Request::Payee).await);
    assert_eq!(request.open_slots, ["payee_name", "payee_iban"]);

    ada.says("Change my email address").await;
    let change = |field| Request::ProfileChange { field };
    assert_eq!(
        refused(ada.model_requests(change(ProfileField::Phone)).await),
        (ToolCode::NotGrounded, Some("field"))
    );
    let request = waiting(ada.model_requests(change(ProfileField::Email)).await);
    assert_eq!(request.open_slots, ["value"]);
    assert_eq!(ada.sees(request.action).await.target_key, "profile:email");
}
