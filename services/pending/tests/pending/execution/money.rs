//! What the execution lets leave, to the cent, and what it writes down.

use countersign_domain::AccountId;

use crate::support::{Bank, Customer, Planted};

fn answer(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn from_current(ada: &Customer<'_>) -> Planted {
    Planted::transfer(ada.account("Current"))
}

/// What the bank answers to a request that no card stands before.
async fn says(ada: &Customer<'_>, request: Planted) -> Result<String, String> {
    ada.plants_and_confirms(request).await.1
}

async fn sends(ada: &Customer<'_>, payee: &str, amounts: &[i64]) -> Result<String, String> {
    let request = amounts.iter().fold(from_current(ada), |request, amount| {
        request.to(ada.payee(payee), *amount)
    });
    says(ada, request).await
}

#[tokio::test]
async fn the_limits_of_a_payment_and_a_day_hold_to_the_cent() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    assert_eq!(
        sends(&ada, "Bob", &[150_001]).await,
        answer("limit_per_transfer")
    );
    assert_eq!(
        sends(&ada, "Bob", &[150_000, 50_001]).await,
        answer("limit_per_day"),
        "the lines together"
    );
    assert_eq!(
        sends(&ada, "Bob", &[50_000, 100_000]).await,
        answer("executed")
    );
    assert_eq!(
        sends(&ada, "Bob", &[50_001]).await,
        answer("limit_per_day"),
        "with what left before"
    );
    assert_eq!(sends(&ada, "Bob", &[20_000]).await, answer("executed"));
    assert_eq!(
        sends(&ada, "Bob", &[30_000]).await,
        answer("executed"),
        "the limit itself may leave"
    );
    assert_eq!(sends(&ada, "Bob", &[1]).await, answer("limit_per_day"));
    let spent = "SELECT spent_minor_units FROM bank.spent_day";
    assert_eq!(bank.count(spent).await, 200_000);
    let paid = "SELECT payments_count FROM bank.payee_paid p JOIN bank.payee USING (customer_id, payee_id) WHERE name = 'Bob'";
    assert_eq!(bank.count(paid).await, 7 + 4);
}

#[tokio::test]
async fn one_payment_may_be_as_large_as_its_limit() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    assert_eq!(sends(&ada, "Bob", &[150_000]).await, answer("executed"));
}

#[tokio::test]
async fn without_limits_of_one_s_own_nothing_leaves() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let _others = bank.customer("Kabir").await;
    bank.plant(
        "UPDATE bank.customer_limit SET per_transfer_minor_units = 1500 WHERE customer_id = $1",
        &[ada.id.uuid()],
    )
    .await;
    assert_eq!(
        sends(&ada, "Bob", &[2_000]).await,
        answer("limit_per_transfer"),
        "Kabir may"
    );
    bank.plant(
        "DELETE FROM bank.customer_limit WHERE customer_id = $1",
        &[ada.id.uuid()],
    )
    .await;
    assert_eq!(
        sends(&ada, "Bob", &[1_000]).await,
        answer("limit_per_transfer")
    );
}

#[tokio::test]
async fn an_account_is_emptied_to_the_cent_and_not_beyond() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    bank.plant(
        "UPDATE bank.account_balance SET balance_minor_units = 2000 WHERE account_id = $1",
        &[ada.account("Current").uuid()],
    )
    .await;
    assert_eq!(
        sends(&ada, "Bob", &[2_001]).await,
        answer("insufficient_funds")
    );
    assert_eq!(ada.balance("Current").await, 2_000);
    let (action, said) = ada
        .plants_and_confirms(from_current(&ada).to(ada.payee("Bob"), 2_000))
        .await;
    assert_eq!(said, answer("executed"));
    assert_eq!(ada.balance("Current").await, 0);
    let legs = [
        ("account".to_owned(), -2_000),
        ("transit".to_owned(), 2_000),
    ];
    assert_eq!(ada.legs(action).await, legs);
}

#[tokio::test]
async fn a_move_between_own_accounts_arrives_at_once_and_in_its_currency() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let to = |account: AccountId| from_current(&ada).moving_to(account, 2_000);
    assert_eq!(
        says(&ada, to(ada.account("Current"))).await,
        answer("not_possible_now")
    );
    assert_eq!(
        says(&ada, to(ada.account("Travel money"))).await,
        answer("currency_mismatch")
    );
    let yen = from_current(&ada)
        .in_currency("JPY")
        .to(ada.payee("Bob"), 2_000);
    assert_eq!(says(&ada, yen).await, answer("currency_mismatch"));
    assert_eq!(
        says(&ada, to(ada.account("Savings"))).await,
        answer("executed")
    );
    assert_eq!(
        (ada.balance("Current").await, ada.balance("Savings").await),
        (498_000, 302_000)
    );
}

#[tokio::test]
async fn an_own_account_is_no_payee_and_nothing_is_no_payment() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let kabir = bank.customer("Kabir").await;
    ada.is_found_at("Current").await;
    assert_eq!(
        sends(&ada, "Diego", &[2_000]).await,
        answer("not_possible_now")
    );
    let yen = ada
        .knows("Kabir", &kabir.is_found_at("Travel money").await)
        .await;
    assert_eq!(
        says(&ada, from_current(&ada).to(yen, 2_000)).await,
        answer("currency_mismatch")
    );
    assert_eq!(
        says(&ada, from_current(&ada)).await,
        Err("CS005".to_owned()),
        "no line"
    );
}

#[tokio::test]
async fn everything_to_somebody_new_is_their_first_payment() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    assert_eq!(
        sends(&ada, "Dora", &[25_001]).await,
        answer("limit_first_payment")
    );
    let (action, said) = ada
        .plants_and_confirms(from_current(&ada).to(ada.payee("Dora"), 25_000))
        .await;
    assert_eq!(said, answer("executed"), "the limit itself may leave");
    assert_eq!(
        sends(&ada, "Dora", &[1]).await,
        answer("limit_first_payment"),
        "Dora is still new"
    );
    assert_eq!(ada.undoes(action).await, "undone");
    assert_eq!(
        sends(&ada, "Dora", &[25_000]).await,
        answer("executed"),
        "what was undone was never paid"
    );
}

#[tokio::test]
async fn new_payees_share_one_first_payment() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let together = |dora, erin| {
        from_current(&ada)
            .to(ada.payee("Dora"), dora)
            .to(ada.payee("Erin"), erin)
    };
    assert_eq!(
        says(&ada, together(15_000, 10_001)).await,
        answer("limit_first_payment"),
        "two at once"
    );
    assert_eq!(sends(&ada, "Dora", &[15_000]).await, answer("executed"));
    assert_eq!(
        sends(&ada, "Erin", &[10_001]).await,
        answer("limit_first_payment"),
        "one after the other"
    );
    // Paid and undone beside a payment that stands: only this one counts.
    let (action, said) = ada
        .plants_and_confirms(from_current(&ada).to(ada.payee("Dora"), 5_000))
        .await;
    assert_eq!(said, answer("executed"));
    assert_eq!(ada.undoes(action).await, "undone");
    assert_eq!(sends(&ada, "Erin", &[10_000]).await, answer("executed"));
    assert_eq!(
        sends(&ada, "Alice", &[30_000]).await,
        answer("executed"),
        "whoever is known has the ordinary limits"
    );
}

#[tokio::test]
async fn only_what_came_in_is_sent_back_whole_and_once() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let back = |amount| Planted::refund(ada.account("Current"), ada.incoming.uuid(), amount);
    assert_eq!(
        says(&ada, back(4_000)).await,
        answer("not_possible_now"),
        "less than came in"
    );
    let (action, said) = ada.plants_and_confirms(back(4_500)).await;
    assert_eq!(said, answer("executed"));
    assert_eq!(
        says(&ada, back(4_500)).await,
        answer("not_possible_now"),
        "twice"
    );
    assert_eq!(ada.undoes(action).await, "undone");
    assert_eq!(
        says(&ada, back(4_500)).await,
        answer("executed"),
        "after the undo"
    );
    // What went out is not sent back, even where it names an account.
    bank.plant(
        "INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name,
           counterparty_iban, posted_at)
         SELECT customer_id, $2, account_id, 'payment_out', 'posted', 4500, 'EUR', 'Sam Field', counterparty_iban, bank.bank_clock()
           FROM bank.transfer WHERE transfer_id = $1",
        &[ada.incoming.uuid(), ada.rent.uuid()],
    )
    .await;
    let out = Planted::refund(ada.account("Current"), ada.rent.uuid(), 4_500);
    assert_eq!(says(&ada, out).await, answer("not_possible_now"));
}
