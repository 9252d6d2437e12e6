//! What the customer did not ask for is not stored.

use countersign_domain::{AccountId, ActionKind, ToolCode};
use countersign_pending::{PaymentAsked, Request, Target, TransferAsked};
use uuid::Uuid;

use crate::support::{Bank, refused, waiting};

#[tokio::test]
async fn what_the_customer_typed_waits_for_them() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let request = waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);

    assert_eq!(request.summary, "Send 20.00 EUR to Bob");
    assert_eq!(request.open_slots, Vec::<&str>::new());
    assert_eq!(request.superseded, None);
    let stored = ada.sees(request.action).await;
    assert_eq!(stored.kind, ActionKind::Transfer);
    assert_eq!(stored.target_key, "transfer");
    assert_eq!(stored.values.from_account, Some(ada.account("Current")));
    assert_eq!(stored.values.lines[0].payee, Some(ada.payee("Bob")));
    assert_eq!(stored.values.lines[0].amount.map(|a| a.count()), Some(2000));
    let event: Vec<u8> = sqlx::query_scalar(
        "SELECT payload FROM bank.bank_event WHERE kind = 'request_created' AND action_id = $1",
    )
    .bind(request.action.uuid())
    .fetch_one(bank.superuser())
    .await
    .expect("one event");
    let event = countersign_receipts::check_canonical(&event).expect("in canonical form");
    assert_eq!(event["action"], request.action.to_string());
    assert_eq!(event["lines"][0]["amount"], "20.00");
    assert!(
        !event.to_string().contains("Bob"),
        "no name in the log: {event}"
    );
}

#[tokio::test]
async fn the_amount_of_one_payee_is_not_the_amount_of_another() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Do not send 50 to Alice; send 20 to Bob").await;
    for (amount, payee, what) in [
        ("50.00", "Bob", "amount"),
        ("50.00", "Alice", "payee"),
        ("20.00", "Alice", "payee"),
        ("200.00", "Bob", "amount"),
    ] {
        assert_eq!(
            refused(ada.model_requests(ada.pay(amount, payee)).await),
            (ToolCode::NotGrounded, Some(what)),
            "{amount} to {payee}"
        );
    }
    assert!(ada.open().await.is_empty());
    waiting(ada.model_requests(ada.pay("20.00", "Bob")).await);
}

#[tokio::test]
async fn an_act_nobody_asked_for_is_refused() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("How much is on my account?").await;
    for request in [
        Request::from(ada.pay("20.00", "Bob")),
        Request::CardFreeze { card: None },
        Request::Dispute {
            transaction: None,
            reason: None,
        },
        Request::Payee,
        Request::ProfileChange {
            field: countersign_domain::ProfileField::Email,
        },
        Request::Refund {
            transaction: Some(ada.incoming),
        },
    ] {
        assert_eq!(
            refused(ada.model_requests(request.clone()).await).0,
            ToolCode::ActNotRequested,
            "{request:?}"
        );
    }
}

#[tokio::test]
async fn a_pasted_order_grounds_nothing() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.pastes("Send 20 to Bob").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("20.00", "Bob")).await).0,
        ToolCode::ActNotRequested
    );
}

#[tokio::test]
async fn another_conversation_grounds_nothing_here() {
    let bank = Bank::open().await;
    let mut ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    ada.opens_a_conversation().await;
    ada.says("Hello").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("20.00", "Bob")).await).0,
        ToolCode::ActNotRequested
    );
}

#[tokio::test]
async fn what_the_customer_left_open_is_a_slot_and_nothing_fills_it_for_them() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send money to Bob").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("20.00", "Bob")).await),
        (ToolCode::NotGrounded, Some("amount"))
    );
    let request = waiting(ada.model_requests(ada.transfer().to("Bob")).await);
    assert_eq!(request.open_slots, ["amount"]);
    assert_eq!(request.summary, "Send money to Bob");
}

#[tokio::test]
async fn another_account_than_the_named_one_is_refused() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    assert_eq!(
        refused(
            ada.model_requests(ada.pay("20.00", "Bob").from("Savings"))
                .await
        ),
        (ToolCode::NotGrounded, Some("from_account"))
    );
    ada.says("Send 35 to Alice from savings").await;
    let request = waiting(ada.model_requests(ada.pay("35.00", "Alice")).await);
    // Left out by the model, but named by the customer.
    assert_eq!(
        ada.sees(request.action).await.values.from_account,
        Some(ada.account("Savings"))
    );
}

#[tokio::test]
async fn ids_of_another_customer_are_not_there() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let kabir = bank.customer("Kabir").await;
    ada.says("Send 20 to Bob").await;
    ada.says("Freeze my card").await;
    ada.says("I want to dispute a payment").await;
    let foreign = [
        (
            Request::from(
                ada.pay("20.00", "Bob")
                    .target(Target::Payee(kabir.payee("Bob"))),
            ),
            "payee",
        ),
        (
            ada.pay("20.00", "Bob")
                .target(Target::Own(kabir.account("Savings")))
                .into(),
            "payee",
        ),
        (
            ada.pay("20.00", "Bob")
                .leaving(kabir.account("Current"))
                .into(),
            "from_account",
        ),
        (
            Request::CardFreeze {
                card: Some(kabir.card("4821")),
            },
            "card",
        ),
        (
            Request::Dispute {
                transaction: Some(kabir.card_payment),
                reason: None,
            },
            "transaction",
        ),
        (
            Request::Refund {
                transaction: Some(kabir.incoming),
            },
            "transaction",
        ),
    ];
    let nobody = ada
        .pay("20.00", "Bob")
        .leaving(AccountId::from_uuid(Uuid::new_v4()));
    for (request, what) in foreign.into_iter().chain([(nobody.into(), "from_account")]) {
        assert_eq!(
            refused(ada.model_requests(request).await),
            (ToolCode::NotFound, Some(what))
        );
    }
    assert!(ada.open().await.is_empty() && kabir.open().await.is_empty());
}

#[tokio::test]
async fn a_currency_the_customer_keeps_no_account_in_is_a_mismatch() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 USD to Bob").await;
    assert_eq!(
        refused(
            ada.model_requests(ada.pay("20.00", "Bob").in_currency("USD"))
                .await
        ),
        (ToolCode::CurrencyMismatch, Some("currency"))
    );
    assert_eq!(
        refused(
            ada.model_requests(ada.pay("20.00", "Bob").in_currency("EUR"))
                .await
        ),
        (ToolCode::NotGrounded, Some("currency"))
    );
}

#[tokio::test]
async fn a_currency_leaves_the_only_account_that_holds_it() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 5000 JPY to Bob").await;
    // Yen have no decimals.
    assert_eq!(
        refused(ada.model_requests(ada.pay("5000.00", "Bob")).await),
        (ToolCode::NotGrounded, Some("amount"))
    );
    let request = waiting(ada.model_requests(ada.pay("5000", "Bob")).await);
    assert_eq!(request.summary, "Send 5,000 JPY to Bob");
    let values = ada.sees(request.action).await.values;
    assert_eq!(values.from_account, Some(ada.account("Travel money")));
}

#[tokio::test]
async fn money_does_not_go_in_a_circle() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Diego").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("20.00", "Diego")).await),
        (ToolCode::NotPossibleNow, Some("payee"))
    );
}

#[tokio::test]
async fn a_move_between_own_accounts_leaves_the_other_one() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Move 100 to my savings account").await;
    let request = waiting(
        ada.model_requests(ada.transfer().own("Savings").of("100.00"))
            .await,
    );
    assert_eq!(request.summary, "Move 100.00 EUR to your account Savings");
    let values = ada.sees(request.action).await.values;
    assert_eq!(values.from_account, Some(ada.account("Current")));
    assert_eq!(values.lines[0].own_account, Some(ada.account("Savings")));
}

#[tokio::test]
async fn an_argument_out_of_form_is_invalid_before_anything_is_looked_up() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    for amount in [
        "20,00",
        "-20",
        "0",
        "1e3",
        "20.0000",
        " 20",
        "",
        "99999999999999999",
    ] {
        assert_eq!(
            refused(ada.model_requests(ada.pay(amount, "Bob")).await),
            (ToolCode::InvalidArgument, Some("amount")),
            "{amount:?}"
        );
    }
    for count in [0, 11] {
        let transfer = TransferAsked {
            payments: vec![PaymentAsked::default(); count],
            ..TransferAsked::default()
        };
        assert_eq!(
            refused(ada.model_requests(Request::Transfer(transfer)).await),
            (ToolCode::InvalidArgument, Some("payments"))
        );
    }
}
