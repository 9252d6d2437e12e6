//! Standing orders: a rhythm, a day and an order are the customer's to name.

use countersign_domain::{ActionKind, Frequency, OrderId, OrderOperation, ToolCode};
use countersign_pending::{OrderAsked, Target};
use time::macros::date;
use uuid::Uuid;

use crate::support::{Bank, OrderRequest, refused, waiting};

fn order(operation: OrderOperation, fill: impl FnOnce(&mut OrderAsked)) -> OrderRequest {
    let mut asked = OrderAsked::new(operation);
    fill(&mut asked);
    OrderRequest(asked)
}

#[tokio::test]
async fn a_payment_asked_for_once_is_no_monthly_order() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let monthly = |frequency| {
        order(OrderOperation::Create, |asked| {
            asked.payee = Some(Target::Payee(ada.payee("Bob")));
            asked.amount = Some("20.00".to_owned());
            asked.frequency = frequency;
        })
    };
    assert_eq!(
        refused(ada.model_requests(monthly(Some(Frequency::Monthly))).await),
        (ToolCode::NotGrounded, Some("frequency"))
    );
    assert_eq!(
        refused(ada.model_requests(monthly(None)).await).0,
        ToolCode::ActNotRequested
    );
    assert!(ada.open().await.is_empty());
}

#[tokio::test]
async fn a_monthly_order_is_no_payment_now() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob every month").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("20.00", "Bob")).await).0,
        ToolCode::ActNotRequested
    );
    let request = waiting(
        ada.model_requests(order(OrderOperation::Create, |asked| {
            asked.payee = Some(Target::Payee(ada.payee("Bob")));
            asked.amount = Some("20.00".to_owned());
            asked.frequency = Some(Frequency::Monthly);
        }))
        .await,
    );
    assert_eq!(request.kind, ActionKind::StandingOrderCreate);
    assert_eq!(
        request.summary,
        "Set up a monthly standing order of 20.00 EUR to Bob"
    );
    assert_eq!(request.open_slots, ["start_date"]);
    let stored = ada.sees(request.action).await;
    assert_eq!(stored.target_key, "order:new");
    assert_eq!(stored.values.from_account, Some(ada.account("Current")));
}

#[tokio::test]
async fn an_order_without_a_rhythm_leaves_it_to_the_customer() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Set up a standing order of 20 to Bob").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("20.00", "Bob")).await).0,
        ToolCode::ActNotRequested
    );
    let asked = |frequency| {
        order(OrderOperation::Create, |asked| {
            asked.payee = Some(Target::Payee(ada.payee("Bob")));
            asked.amount = Some("20.00".to_owned());
            asked.frequency = frequency;
        })
    };
    assert_eq!(
        refused(ada.model_requests(asked(Some(Frequency::Monthly))).await),
        (ToolCode::NotGrounded, Some("frequency"))
    );
    let request = waiting(ada.model_requests(asked(None)).await);
    assert_eq!(request.open_slots, ["frequency", "start_date"]);
}

#[tokio::test]
async fn another_rhythm_or_a_day_nobody_named_is_refused() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob every month").await;
    let asked = |frequency, start_date| {
        order(OrderOperation::Create, |asked| {
            asked.payee = Some(Target::Payee(ada.payee("Bob")));
            asked.amount = Some("20.00".to_owned());
            asked.frequency = Some(frequency);
            asked.start_date = start_date;
        })
    };
    assert_eq!(
        refused(ada.model_requests(asked(Frequency::Weekly, None)).await),
        (ToolCode::NotGrounded, Some("frequency"))
    );
    assert_eq!(
        refused(
            ada.model_requests(asked(Frequency::Monthly, Some(date!(2099 - 01 - 01))))
                .await
        ),
        (ToolCode::NotGrounded, Some("start_date"))
    );
}

#[tokio::test]
async fn an_order_to_a_new_payee_keeps_to_the_lower_limit() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 251 to Dora every month").await;
    let asked = order(OrderOperation::Create, |asked| {
        asked.payee = Some(Target::Payee(ada.payee("Dora")));
        asked.amount = Some("251.00".to_owned());
        asked.frequency = Some(Frequency::Monthly);
    });
    assert_eq!(
        refused(ada.model_requests(asked).await).0,
        ToolCode::LimitFirstPayment
    );
}

#[tokio::test]
async fn the_named_order_is_ended_and_no_other() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let other = OrderId::from_uuid(Uuid::new_v4());
    bank.plant(
        "INSERT INTO bank.standing_order (customer_id, order_id, account_id, payee_id, name, amount_minor_units, currency, frequency, start_date)
         VALUES ($1, $2, $3, $4, 'lessons', 4000, 'EUR', 'weekly', bank.bank_day())",
        &[ada.id.uuid(), other.uuid(), ada.account("Current").uuid(), ada.payee("Carol").uuid()],
    )
    .await;
    let cancel = |id| order(OrderOperation::Cancel, |asked| asked.order = Some(id));
    ada.says("Cancel the standing order to Landlord").await;
    assert_eq!(
        refused(ada.model_requests(cancel(other)).await),
        (ToolCode::NotGrounded, Some("order"))
    );
    let request = waiting(ada.model_requests(cancel(ada.rent)).await);
    assert_eq!(request.summary, "End the standing order to Landlord");
    assert_eq!(
        refused(
            ada.model_requests(cancel(OrderId::from_uuid(Uuid::new_v4())))
                .await
        ),
        (ToolCode::NotFound, Some("order"))
    );
}

#[tokio::test]
async fn a_change_changes_what_was_named() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Change the standing order to Landlord to 900")
        .await;
    let change = |amount: Option<&str>, frequency| {
        order(OrderOperation::Change, |asked| {
            asked.order = Some(ada.rent);
            asked.amount = amount.map(str::to_owned);
            asked.frequency = frequency;
        })
    };
    assert_eq!(
        refused(ada.model_requests(change(Some("990.00"), None)).await),
        (ToolCode::NotGrounded, Some("amount"))
    );
    assert_eq!(
        refused(
            ada.model_requests(change(Some("900.00"), Some(Frequency::Weekly)))
                .await
        ),
        (ToolCode::NotGrounded, Some("frequency"))
    );
    let request = waiting(ada.model_requests(change(Some("900.00"), None)).await);
    assert_eq!(
        request.summary,
        "Change the standing order to Landlord: 900.00 EUR"
    );
    assert_eq!(
        ada.sees(request.action).await.target_key,
        format!("order:{}", ada.rent)
    );
}

#[tokio::test]
async fn an_operation_takes_only_its_own_values() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Cancel the standing order to Landlord").await;
    let wrong = [
        (
            order(OrderOperation::Create, |asked| asked.order = Some(ada.rent)),
            "order",
        ),
        (
            order(OrderOperation::Change, |asked| {
                asked.payee = Some(Target::Payee(ada.payee("Bob")));
            }),
            "payee",
        ),
        (
            order(OrderOperation::Cancel, |asked| {
                asked.amount = Some("1.00".to_owned());
            }),
            "amount",
        ),
        (
            order(OrderOperation::Cancel, |asked| {
                asked.from_account = Some(ada.account("Savings"));
            }),
            "from_account",
        ),
    ];
    for (request, what) in wrong {
        assert_eq!(
            refused(ada.model_requests(request).await),
            (ToolCode::InvalidArgument, Some(what))
        );
    }
}
