//! How much may be asked for: 1,500 a transfer, 2,000 a day, 1,800 waiting, 250 as a first payment.

use countersign_domain::ToolCode;

use crate::support::{Bank, refused, waiting};

#[tokio::test]
async fn one_transfer_has_its_limit() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 1500.01 to Bob").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("1500.01", "Bob")).await).0,
        ToolCode::LimitPerTransfer
    );
    ada.says("Make it 1500").await;
    waiting(ada.model_requests(ada.pay("1500.00", "Bob")).await);
}

#[tokio::test]
async fn a_first_payment_has_a_lower_limit() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 250.01 to Dora").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("250.01", "Dora")).await).0,
        ToolCode::LimitFirstPayment
    );
    ada.says("Make it 250").await;
    waiting(ada.model_requests(ada.pay("250.00", "Dora")).await);
}

#[tokio::test]
async fn what_was_sent_today_counts_and_yesterday_does_not() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    bank.plant(
        "INSERT INTO bank.spent_day (customer_id, currency, day, spent_minor_units)
         VALUES ($1, 'EUR', bank.bank_day(), 120000), ($1, 'EUR', bank.bank_day() - 1, 200000), ($1, 'JPY', bank.bank_day(), 200000)",
        &[ada.id.uuid()],
    )
    .await;
    ada.says("Send 800.01 to Bob").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("800.01", "Bob")).await).0,
        ToolCode::LimitPerDay
    );
    ada.says("Make it 800").await;
    waiting(ada.model_requests(ada.pay("800.00", "Bob")).await);
}

#[tokio::test]
async fn what_waits_in_every_conversation_counts() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    ada.says("Send 1000 to Bob").await;
    waiting(ada.model_requests(ada.pay("1000.00", "Bob")).await);
    ada.opens_a_conversation().await;
    ada.says("Send 800.01 to Alice").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("800.01", "Alice")).await).0,
        ToolCode::LimitPendingTotal
    );
    ada.says("Make it 800").await;
    waiting(ada.model_requests(ada.pay("800.00", "Alice")).await);
}

#[tokio::test]
async fn the_request_that_is_replaced_does_not_count() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    bank.plant(
        "INSERT INTO bank.spent_day (customer_id, currency, day, spent_minor_units) VALUES ($1, 'EUR', bank.bank_day(), 30000)",
        &[ada.id.uuid()],
    )
    .await;
    ada.says("Send 1400 to Bob").await;
    waiting(ada.model_requests(ada.pay("1400.00", "Bob")).await);
    ada.says("Make it 1450").await;
    let second = waiting(ada.model_requests(ada.pay("1450.00", "Bob")).await);
    assert!(second.superseded.is_some());
}

#[tokio::test]
async fn what_has_expired_does_not_count() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    ada.says("Send 1500 to Bob").await;
    waiting(ada.model_requests(ada.pay("1500.00", "Bob")).await);
    bank.wait_until_seconds(601).await;
    ada.opens_a_conversation().await;
    ada.says("Send 1400 to Alice").await;
    waiting(ada.model_requests(ada.pay("1400.00", "Alice")).await);
}

#[tokio::test]
async fn an_account_that_does_not_hold_enough_is_told() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    bank.plant(
        "UPDATE bank.account_balance SET balance_minor_units = 1999 WHERE account_id = $1",
        &[ada.account("Current").uuid()],
    )
    .await;
    ada.says("Send 20 to Bob").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("20.00", "Bob")).await).0,
        ToolCode::InsufficientFunds
    );
    ada.says("Make it 19.99").await;
    waiting(ada.model_requests(ada.pay("19.99", "Bob")).await);
}

#[tokio::test]
async fn a_move_between_own_accounts_is_bounded_by_the_funds_alone() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Move 4000 to my savings account").await;
    waiting(
        ada.model_requests(ada.transfer().own("Savings").of("4000.00"))
            .await,
    );
    ada.says("Send 1500 to Bob").await;
    // It does not count as waiting either.
    waiting(ada.model_requests(ada.pay("1500.00", "Bob")).await);
    ada.says("Move 5000.01 to my savings account").await;
    assert_eq!(
        refused(
            ada.model_requests(ada.transfer().own("Savings").of("5000.01"))
                .await
        )
        .0,
        ToolCode::InsufficientFunds
    );
}

#[tokio::test]
async fn without_limits_in_a_currency_nothing_leaves_in_it() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    bank.plant(
        "DELETE FROM bank.customer_limit WHERE customer_id = $1 AND currency = 'EUR'",
        &[ada.id.uuid()],
    )
    .await;
    ada.says("Send 20 to Bob").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("20.00", "Bob")).await).0,
        ToolCode::LimitPerTransfer
    );
}
