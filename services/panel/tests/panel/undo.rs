//! The time to undo: what is taken back comes back whole, and what left stays gone, whoever is faster.

use std::time::Duration;

use countersign_execution::loops::poster;
use countersign_receipts::Receipt;
use countersign_store::session;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    bank::{Bank, pool, problem},
    cards::log_key,
};

const UNDONE: &str = "SELECT count(*) FROM bank.undo";

#[tokio::test]
async fn an_undone_payment_leaves_nothing_behind_but_its_record() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let spent = "SELECT coalesce(sum(spent_minor_units), 0)::bigint FROM bank.spent_day";
    let paid = "SELECT coalesce(sum(payments_count), 0)::bigint FROM bank.payee_paid";
    let (spent_before, paid_before) = (bank.count(spent).await, bank.count(paid).await);
    let (asked, card) = ada.sees_twenty_to_bob().await;
    assert_eq!(card["undo_seconds"], 10);
    let confirmed: Value = ada.presses(&card, "").await.json().await.unwrap();
    assert!(confirmed["undo_until"].is_string(), "{confirmed}");
    assert_eq!(ada.balance().await, before - 2_000, "the money is reserved");
    let card = ada.card(&asked).await;
    assert_eq!(card["undo_until"], confirmed["undo_until"]);

    let path = format!("/api/actions/{}/undo", asked.text());
    let kabir = bank.sign_in("Kabir").await;
    let foreign = kabir.post(&path, &json!({"version": 1})).await;
    assert_eq!(problem(foreign).await.0, 404, "nobody undoes another's");
    for _ in 0..2 {
        let undone: Value = ada
            .post(&path, &json!({"version": 1}))
            .await
            .json()
            .await
            .unwrap();
        assert!(
            undone["undone"].is_string() && undone["undo_until"].is_null(),
            "{undone}"
        );
        assert!(undone["message"].as_str().unwrap().starts_with("Undone."));
    }
    assert_eq!(ada.balance().await, before);
    assert_eq!(
        bank.count(spent).await,
        spent_before,
        "the day's limit is given back"
    );
    assert_eq!(
        bank.count(paid).await,
        paid_before,
        "the payee was not paid"
    );
    assert_eq!(
        bank.count(UNDONE).await,
        1,
        "once, however often it is pressed"
    );
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.bank_event WHERE kind = 'undone'")
            .await,
        1
    );

    // Nothing of it leaves when the time is over.
    bank.database.set_clock_ahead(60).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.bank_event WHERE kind = 'posted'")
            .await,
        0
    );
    assert_eq!(ada.balance().await, before);

    // The undo has a receipt of its own, in the same log.
    let page = ada.page(&format!("/receipts/{}", asked.text())).await;
    assert!(page.contains("Undone, and nothing was sent:"), "{page}");
    let file = ada
        .get(&format!("/receipts/{}-undo.json", asked.text()))
        .await;
    let receipt = Receipt::read(&file.text().await.unwrap()).unwrap();
    let (payload, _) = receipt.verify(&log_key().verifier()).unwrap();
    assert_eq!(payload["event"], "undone");
    assert_eq!(payload["by"], "undo");
    assert_eq!(payload["confirm_hash"], card_hash(&bank).await);
    assert_eq!(payload["transfers"].as_array().unwrap().len(), 1);
}

async fn card_hash(bank: &Bank) -> String {
    sqlx::query_scalar("SELECT encode(confirm_hash, 'hex') FROM bank.execution")
        .fetch_one(&mut bank.admin().await)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_late_undo_says_so_and_changes_nothing() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    ada.writes("Send 20 to Bob").await;
    let asked = ada.is_asked(Some("Bob Smith"), Some(2_000)).await;
    let path = format!("/api/actions/{}/undo", asked.text());
    let early = problem(ada.post(&path, &json!({"version": 1})).await).await;
    assert_eq!(
        (early.0, early.1.as_str()),
        (409, "too_late"),
        "nothing was confirmed"
    );
    let card = ada.card(&asked).await;
    assert_eq!(ada.presses(&card, "").await.status(), 200);
    bank.database.set_clock_ahead(11).await.unwrap();
    // The clock decides, whether or not a poster was there.
    let (status, code, body) = problem(ada.post(&path, &json!({"version": 1})).await).await;
    assert_eq!((status, code.as_str()), (409, "too_late"));
    assert!(body["detail"].as_str().unwrap().contains("call the bank"));
    assert_eq!(bank.count(UNDONE).await, 0);
    bank.waits_for(
        "SELECT count(*) FROM bank.bank_event WHERE kind = 'posted'",
        1,
    )
    .await;
    assert_eq!(ada.balance().await, before - 2_000);
    assert!(
        ada.page(&format!("/receipts/{}", asked.text()))
            .await
            .contains("It is done.")
    );
}

#[tokio::test]
async fn a_customer_can_do_without_and_the_bank_bounds_the_rest() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    for (chosen, wanted) in [(0, 0), (20, 20), (300, 30)] {
        bank.plant(&format!(
            "INSERT INTO bank.customer_choice (customer_id, undo_seconds) SELECT customer_id, {chosen} FROM bank.customer
              WHERE display_name = 'Ada' ON CONFLICT (customer_id) DO UPDATE SET undo_seconds = excluded.undo_seconds"
        ))
        .await;
        let (_, card) = ada.sees_twenty_to_bob().await;
        assert_eq!(card["undo_seconds"], wanted);
        let confirmed: Value = ada.presses(&card, "").await.json().await.unwrap();
        assert_eq!(
            confirmed["undo_until"].is_string(),
            wanted > 0,
            "{confirmed}"
        );
    }
    let after: Vec<i64> = sqlx::query_scalar(
        "SELECT round(extract(epoch FROM post_after - created_at))::bigint FROM bank.transfer WHERE action_id IS NOT NULL ORDER BY created_at",
    )
    .fetch_all(&mut bank.admin().await)
    .await
    .unwrap();
    assert_eq!(after, [0, 20, 30]);
}

/// Rounds in which an undo and two posters meet at the end of the time to undo.
const ROUNDS: i64 = 120;

/// Confirmed payments of one cent from Ada to Kabir, the end of whose time to undo comes one after the other.
const CONFIRMED: &str = "
    WITH who AS (SELECT c.customer_id, a.account_id FROM bank.customer c JOIN bank.account a USING (customer_id)
                  WHERE c.display_name = 'Ada' AND a.is_default),
    each AS (SELECT w.*, n, gen_random_uuid() AS action_id, gen_random_uuid() AS transfer_id, bank.bank_clock() AS at
               FROM who w, generate_series(1, 120) n),
    c AS (INSERT INTO bank.conversation (customer_id, conversation_id) SELECT customer_id, customer_id FROM who ON CONFLICT DO NOTHING),
    a AS (INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through, state)
          SELECT customer_id, action_id, customer_id, 'transfer', 'transfer', 0, 'confirmed' FROM each),
    v AS (INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
          SELECT customer_id, action_id, 1, 'EUR', account_id, 'rules/1', 'provenance/2' FROM each),
    x AS (INSERT INTO bank.execution (customer_id, action_id, version, confirm_hash, executed_hash, record, event_sequence)
          SELECT customer_id, action_id, 1, sha256('x'), sha256('y'), '{}', 0 FROM each),
    t AS (INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name,
            counterparty_iban, payee_id, action_id, line_number, created_at, post_after)
          SELECT e.customer_id, transfer_id, account_id, 'payment_out', 'reserved', 1, 'EUR', p.name, p.iban, p.payee_id, action_id, 1, at,
                 at + interval '3 seconds' + n * interval '40 milliseconds'
            FROM each e JOIN bank.payee p ON p.customer_id = e.customer_id AND p.name = 'Kabir Rao'),
    l AS (INSERT INTO bank.entry (customer_id, transfer_id, leg, book, account_id, amount_minor_units, currency)
          SELECT customer_id, transfer_id, 1, 'account', account_id, -1, 'EUR' FROM each
          UNION ALL SELECT customer_id, transfer_id, 2, 'transit', NULL, 1, 'EUR' FROM each),
    p AS (UPDATE bank.payee_paid d SET payments_count = payments_count + 120 FROM bank.payee y
           WHERE y.payee_id = d.payee_id AND y.customer_id = d.customer_id AND y.name = 'Kabir Rao'),
    s AS (INSERT INTO bank.spent_day (customer_id, currency, day, spent_minor_units) SELECT customer_id, 'EUR', bank.bank_day(), 120 FROM who)
    UPDATE bank.account_balance b SET balance_minor_units = balance_minor_units - 120 FROM who WHERE b.account_id = who.account_id";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_undo_and_the_posters_of_two_panels_never_both_win() {
    let bank = Bank::start().await;
    let _replica = bank.replica().await;
    let (ada, kabir) = (bank.sign_in("Ada").await, bank.sign_in("Kabir").await);
    let (ada_before, kabir_before) = (ada.balance().await, kabir.balance().await);
    let credits = "SELECT count(*) FROM bank.transfer WHERE origin_transfer_id IS NOT NULL";
    let credits_before = bank.count(credits).await;
    let panel = pool(&bank, "panel", 12).await;
    // Beside the two panels' own loops, two that never rest.
    let mut posters = Vec::new();
    for _ in 0..2 {
        let pool = pool(&bank, "poster", 1).await;
        posters.push(tokio::spawn(async move {
            loop {
                // A turn that waits too long for a lock is taken again.
                let _ = poster::turn(&pool).await;
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        }));
    }
    bank.plant(CONFIRMED).await;
    let payments: Vec<(Uuid, f64)> = sqlx::query_as(
        "SELECT action_id, extract(epoch FROM post_after - clock_timestamp())::float8 FROM bank.transfer WHERE state = 'reserved'",
    )
    .fetch_all(&mut bank.admin().await)
    .await
    .unwrap();
    assert_eq!(i64::try_from(payments.len()).unwrap(), ROUNDS);

    let began = tokio::time::Instant::now();
    let mut undoing = Vec::new();
    for (round, (action, left)) in (0_i32..).zip(payments) {
        // From 30 ms before the end to 10 ms after it.
        let moment = left + f64::from(round % 9) * 0.005 - 0.03;
        let (panel, secret) = (panel.clone(), ada.secret());
        undoing.push(tokio::spawn(async move {
            tokio::time::sleep_until(began + Duration::from_secs_f64(moment.max(0.0))).await;
            let mut transaction = session::begin(&panel, &secret).await.expect("begin");
            let answer: String = sqlx::query_scalar("SELECT bank.undo_action($1)")
                .bind(action)
                .fetch_one(&mut *transaction)
                .await
                .expect("answer");
            transaction.commit().await.expect("commit");
            answer
        }));
    }
    let mut won = 0;
    for undo in undoing {
        match undo.await.unwrap().as_str() {
            "undone" => won += 1,
            "too_late" => {}
            other => panic!("an undo answered {other}"),
        }
    }
    bank.waits_for(
        "SELECT count(*) FROM bank.transfer WHERE state = 'reserved'",
        0,
    )
    .await;
    for poster in posters {
        poster.abort();
    }
    let posted = ROUNDS - won;
    assert!(
        won > 5 && posted > 5,
        "both orders occur: {won} undone, {posted} posted"
    );
    assert_eq!(bank.count(UNDONE).await, won);
    let voided =
        "SELECT count(*) FROM bank.transfer WHERE action_id IS NOT NULL AND state = 'voided'";
    assert_eq!(bank.count(voided).await, won);
    assert_eq!(
        bank.count(credits).await - credits_before,
        posted,
        "a credit for each payment that left, and for no other"
    );
    assert_eq!(ada.balance().await, ada_before - posted);
    assert_eq!(kabir.balance().await, kabir_before + posted);
    let spent = "SELECT sum(spent_minor_units)::bigint FROM bank.spent_day";
    assert_eq!(bank.count(spent).await, posted);
    let unbalanced = "SELECT count(*) FROM (SELECT 1 FROM bank.entry GROUP BY customer_id, transfer_id, currency HAVING sum(amount_minor_units) <> 0) x";
    assert_eq!(bank.count(unbalanced).await, 0);
}
