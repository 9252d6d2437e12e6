//! Several payments of one message are one request.

use countersign_domain::{ActionState, ToolCode};
use countersign_store::StoredAction;

use crate::support::{Bank, Customer, already_waiting, refused, waiting};

/// Line number and amount of each line.
fn lines(action: &StoredAction) -> Vec<(i16, i64)> {
    let count = |line: &countersign_store::StoredLine| line.amount.map_or(0, |a| a.count());
    let lines = action.values.lines.iter();
    lines.map(|line| (line.line_number, count(line))).collect()
}

#[tokio::test]
async fn every_pair_of_a_message_is_a_line_of_one_request() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Pay Alice 30 and Bob 45").await;
    let both = || ada.pay("30.00", "Alice").and("45.00", "Bob");
    let request = waiting(ada.model_requests(both()).await);
    assert_eq!(
        request.summary,
        "Send 75.00 EUR in 2 payments: 30.00 EUR to Alice, 45.00 EUR to Bob"
    );
    assert_eq!(
        lines(&ada.sees(request.action).await),
        [(1, 3000), (2, 4500)]
    );

    // The same again, in whichever order, is the same request.
    for again in [both(), ada.pay("45.00", "Bob").and("30.00", "Alice")] {
        let waited = already_waiting(ada.model_requests(again).await);
        assert_eq!(waited.action, request.action);
    }
    // A part of it is not: without a newer message it takes no place.
    assert_eq!(
        refused(ada.model_requests(ada.pay("45.00", "Bob")).await).0,
        ToolCode::NoNewerMessage
    );
    assert_eq!(ada.open().await, [request.action]);
}

#[tokio::test]
async fn amounts_do_not_change_places() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Pay Alice 30 and Bob 45").await;
    for (request, refusal) in [
        (
            ada.pay("45.00", "Alice").and("30.00", "Bob"),
            (ToolCode::NotGrounded, Some("amount")),
        ),
        (
            ada.pay("30.00", "Alice").and("30.00", "Bob"),
            (ToolCode::NotGrounded, Some("amount")),
        ),
        (
            ada.pay("30.00", "Alice").and("30.00", "Alice"),
            (ToolCode::NotGrounded, Some("payee")),
        ),
        (
            ada.pay("30.00", "Alice").and("45.00", "Carol"),
            (ToolCode::NotGrounded, Some("payee")),
        ),
        (
            ada.pay("30.00", "Alice")
                .and("45.00", "Bob")
                .and("45.00", "Bob"),
            (ToolCode::ActNotRequested, None),
        ),
    ] {
        assert_eq!(refused(ada.model_requests(request).await), refusal);
    }
    assert!(ada.open().await.is_empty());
}

#[tokio::test]
async fn two_messages_are_two_requests() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Pay Alice 30").await;
    ada.says("Pay Bob 45").await;
    let both = || ada.pay("30.00", "Alice").and("45.00", "Bob");
    assert_eq!(
        refused(ada.model_requests(both()).await),
        (ToolCode::NotGrounded, Some("payments"))
    );
    ada.says("Pay Alice 30 and Bob 45").await;
    waiting(ada.model_requests(both()).await);
}

#[tokio::test]
async fn ten_payments_are_a_request_and_eleven_are_not() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let many = |count: usize| {
        let amounts = (2..=count).map(|amount| amount.to_string());
        amounts.fold(ada.pay("1", "Bob"), |request, amount| {
            request.and(&amount, "Bob")
        })
    };
    let words: Vec<_> = (1..=11).map(|amount| format!("{amount} to Bob")).collect();
    ada.says(&format!("Send {}", words.join(", "))).await;
    assert_eq!(
        refused(ada.model_requests(many(11)).await),
        (ToolCode::InvalidArgument, Some("payments"))
    );
    let request = waiting(ada.model_requests(many(10)).await);
    assert_eq!(ada.sees(request.action).await.values.lines.len(), 10);
}

#[tokio::test]
async fn limits_count_the_total_of_the_lines() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    // 1,500 a transfer, 2,000 a day, 1,800 waiting.
    ada.says("Pay Alice 1400 and Bob 700").await;
    assert_eq!(
        refused(
            ada.model_requests(ada.pay("1400", "Alice").and("700", "Bob"))
                .await
        )
        .0,
        ToolCode::LimitPerDay
    );
    ada.says("Pay Alice 1400 and Bob 450").await;
    assert_eq!(
        refused(
            ada.model_requests(ada.pay("1400", "Alice").and("450", "Bob"))
                .await
        )
        .0,
        ToolCode::LimitPendingTotal
    );
    ada.says("Pay Alice 1400 and Bob 400").await;
    waiting(
        ada.model_requests(ada.pay("1400", "Alice").and("400", "Bob"))
            .await,
    );
}

#[tokio::test]
async fn funds_are_compared_with_the_total() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    bank.plant(
        "UPDATE bank.account_balance SET balance_minor_units = 7000 WHERE account_id = $1",
        &[ada.account("Current").uuid()],
    )
    .await;
    ada.says("Pay Alice 30 and Bob 45").await;
    assert_eq!(
        refused(
            ada.model_requests(ada.pay("30", "Alice").and("45", "Bob"))
                .await
        )
        .0,
        ToolCode::InsufficientFunds
    );
}

#[tokio::test]
async fn a_first_payment_has_its_cap_in_every_line() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    // 250 to somebody never paid before.
    ada.says("Pay Alice 400 and Dora 251").await;
    assert_eq!(
        refused(
            ada.model_requests(ada.pay("400", "Alice").and("251", "Dora"))
                .await
        )
        .0,
        ToolCode::LimitFirstPayment
    );
    // Two payments at once to one new payee are one first payment.
    ada.says("Pay Dora 126 and Dora 125").await;
    assert_eq!(
        refused(
            ada.model_requests(ada.pay("126", "Dora").and("125", "Dora"))
                .await
        )
        .0,
        ToolCode::LimitFirstPayment
    );
    // And so are payments to two of them.
    ada.says("Pay Dora 126 and Erin 125").await;
    assert_eq!(
        refused(
            ada.model_requests(ada.pay("126", "Dora").and("125", "Erin"))
                .await
        )
        .0,
        ToolCode::LimitFirstPayment
    );
    ada.says("Pay Alice 400 and Dora 250").await;
    waiting(
        ada.model_requests(ada.pay("400", "Alice").and("250", "Dora"))
            .await,
    );
}

#[tokio::test]
async fn an_open_amount_of_one_line_does_not_close_the_other() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Pay Alice 30 and Bob 45").await;
    let request = waiting(
        ada.model_requests(
            ada.pay("30.00", "Alice")
                .and("45.00", "Bob")
                .amount_left_open(),
        )
        .await,
    );
    assert_eq!(request.open_slots, ["amount"]);
    assert_eq!(lines(&ada.sees(request.action).await), [(1, 3000), (2, 0)]);
}

async fn both(ada: &Customer<'_>) -> countersign_domain::ActionId {
    ada.says("Pay Alice 30 and Bob 45").await;
    let request = ada.pay("30.00", "Alice").and("45.00", "Bob");
    waiting(ada.model_requests(request).await).action
}

#[tokio::test]
async fn a_dropped_line_is_used_up_and_the_others_still_wait() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let action = both(&ada).await;
    ada.drops(action, 2).await;
    assert_eq!(lines(&ada.sees(action).await), [(1, 3000)]);
    // What is left is the request that waits.
    let waited = already_waiting(ada.model_requests(ada.pay("30.00", "Alice")).await);
    assert_eq!(waited.action, action);
    // The customer said no to Bob. Words that ask for nothing do not bring him back.
    ada.says("Thanks, that is better").await;
    for request in [
        ada.pay("45.00", "Bob"),
        ada.transfer().to("Bob"),
        ada.pay("30.00", "Alice").and("45.00", "Bob"),
    ] {
        let refusal = refused(ada.model_requests(request).await);
        assert!(
            matches!(refusal.0, ToolCode::NotGrounded | ToolCode::ActNotRequested),
            "{refusal:?}"
        );
    }
    assert_eq!(ada.state(action).await, ActionState::Pending);
    // Asked for again, he is asked for again.
    ada.says("Please pay Alice 30 and Bob 45").await;
    let again = ada.pay("30.00", "Alice").and("45.00", "Bob");
    let request = waiting(ada.model_requests(again).await);
    assert_eq!(request.superseded, Some(action));
}

#[tokio::test]
async fn a_dropped_line_stays_used_up_when_another_request_takes_the_place() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let action = both(&ada).await;
    ada.drops(action, 2).await;
    ada.says("Pay Carol 10").await;
    waiting(ada.model_requests(ada.pay("10", "Carol")).await);
    ada.says("Thanks").await;
    assert_eq!(
        refused(ada.model_requests(ada.pay("45.00", "Bob")).await),
        (ToolCode::NotGrounded, Some("payee"))
    );
}

#[tokio::test]
async fn a_dropped_line_with_an_open_slot_is_used_up_too() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Pay Alice 30 and Bob 45").await;
    // The model left Bob's amount out.
    let request = ada
        .pay("30.00", "Alice")
        .and("45.00", "Bob")
        .amount_left_open();
    let action = waiting(ada.model_requests(request).await).action;
    ada.drops(action, 2).await;
    ada.says("Thanks").await;
    for request in [ada.pay("45.00", "Bob"), ada.transfer().to("Bob")] {
        assert_eq!(
            refused(ada.model_requests(request).await).0,
            ToolCode::ActNotRequested
        );
    }
}

#[tokio::test]
async fn what_the_customer_dropped_on_the_panel_is_all_the_bank_reads_of_their_entries() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let action = both(&ada).await;
    ada.drops(action, 2).await;
    bank.plant(
        "INSERT INTO bank.panel_entry (customer_id, action_id, version, slot, line_number, value)
         SELECT customer_id, action_id, 2, 'details', 0, 'typed for the bank alone' FROM bank.pending_action WHERE action_id = $1",
        &[action.uuid()],
    )
    .await;
    let model = ada.model().await;
    let (pool, secret) = model.login();
    let mut turn = countersign_store::session::begin(pool, secret)
        .await
        .expect("turn");
    let slots: Vec<String> = sqlx::query_scalar("SELECT slot FROM bank.panel_entry")
        .fetch_all(&mut *turn)
        .await
        .expect("read");
    assert_eq!(slots, ["drop"]);
}

/// Everything that a payment would have left behind.
const MONEY: &str = "SELECT (SELECT count(*) FROM bank.entry) + (SELECT count(*) FROM bank.transfer WHERE action_id IS NOT NULL)
   + (SELECT count(*) FROM bank.execution) + (SELECT count(*) FROM bank.spent_day) + (SELECT sum(payments_count) FROM bank.payee_paid)::bigint";

#[tokio::test]
async fn all_lines_run_or_none() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let action = both(&ada).await;
    let card = ada.looks_at(action).await;
    let before = bank.count(MONEY).await;
    // Enough for the first line alone.
    bank.plant(
        "UPDATE bank.account_balance SET balance_minor_units = 4000 WHERE account_id = $1",
        &[ada.account("Current").uuid()],
    )
    .await;
    assert_eq!(ada.presses_confirm(card).await, "insufficient_funds");
    assert_eq!(ada.state(action).await, ActionState::Refused);
    assert_eq!(bank.count(MONEY).await, before);
    let left = "SELECT min(balance_minor_units) FROM bank.account_balance WHERE balance_minor_units = 4000";
    assert_eq!(bank.count(left).await, 4000);
}

#[tokio::test]
async fn the_execution_counts_a_new_payee_s_lines_together() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    ada.says("Pay Dora 126 and Dora 124").await;
    let action = waiting(
        ada.model_requests(ada.pay("126", "Dora").and("124", "Dora"))
            .await,
    )
    .action;
    let card = ada.looks_at(action).await;
    bank.plant(
        "UPDATE bank.customer_limit SET first_payment_minor_units = 24999 WHERE customer_id = $1",
        &[ada.id.uuid()],
    )
    .await;
    assert_eq!(ada.presses_confirm(card).await, "limit_first_payment");
}
