//! A turn that is over asks for nothing, and sees nothing.

use countersign_domain::{ActionId, ActionState, Secret, ToolCode};
use countersign_pending::{RequestError, StatusError, open_requests, request_status};
use countersign_store::session;
use uuid::Uuid;

use crate::support::{Bank, refused, waiting};

#[tokio::test]
async fn an_ended_turn_requests_nothing() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let model = ada.model().await;
    model.turn_ends().await;
    assert_eq!(
        refused(model.requests(ada.pay("20.00", "Bob")).await).0,
        ToolCode::TurnEnded
    );
    assert!(ada.open().await.is_empty());
    assert_eq!(
        bank.count("SELECT version FROM bank.customer_lock").await,
        0
    );
}

#[tokio::test]
async fn a_turn_past_its_time_requests_nothing() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let model = ada.model().await;
    bank.wait_until_seconds(121).await;
    assert_eq!(
        refused(model.requests(ada.pay("20.00", "Bob")).await).0,
        ToolCode::TurnEnded
    );
}

#[tokio::test]
async fn a_made_up_secret_requests_nothing() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Send 20 to Bob").await;
    let model = ada.model().await;
    let (pool, _) = model.login();
    let mut transaction = session::begin(pool, &Secret::new("0".repeat(64)))
        .await
        .expect("begin");
    let action = ActionId::from_uuid(Uuid::now_v7());
    let result =
        countersign_pending::request(&mut transaction, &ada.pay("20.00", "Bob").into(), action)
            .await;
    assert!(matches!(result, Err(RequestError::TurnEnded)), "{result:?}");
}

#[tokio::test]
async fn where_requests_stand_is_told_in_the_banks_words() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let kabir = bank.customer("Kabir").await;
    ada.says("Send money to Bob").await;
    let request = waiting(ada.model_requests(ada.transfer().to("Bob")).await);

    let model = ada.model().await;
    let (pool, secret) = model.login();
    let mut transaction = session::begin(pool, secret).await.expect("begin");
    let open = open_requests(&mut transaction).await.expect("open");
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].action, request.action);
    assert_eq!(open[0].status(), "waiting_for_customer");
    assert_eq!(open[0].summary, "Send money to Bob");
    assert_eq!(open[0].open_slots, ["amount"]);

    let others = kabir.model().await;
    let (pool, secret) = others.login();
    let mut transaction = session::begin(pool, secret).await.expect("begin");
    assert_eq!(
        request_status(&mut transaction, request.action)
            .await
            .expect("read"),
        None
    );

    bank.wait_until_seconds(601).await;
    let late = ada.model().await;
    let (pool, secret) = late.login();
    let mut transaction = session::begin(pool, secret).await.expect("begin");
    assert!(
        open_requests(&mut transaction)
            .await
            .expect("open")
            .is_empty()
    );
    let status = request_status(&mut transaction, request.action)
        .await
        .expect("read")
        .expect("there");
    assert_eq!(status.state, ActionState::Expired);
    assert_eq!(status.status(), "expired");
    late.turn_ends().await;
    assert!(matches!(
        open_requests(&mut transaction).await,
        Err(StatusError::TurnEnded)
    ));
}
