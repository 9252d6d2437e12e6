//! Holds: the customer has agreed and the bank waits; what then runs is what was agreed to, or nothing.

use std::time::Duration;

use countersign_domain::Secret;
use countersign_execution::loops::sweeper;
use countersign_store::session;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use crate::bank::{Asked, Bank, Visitor, pool, problem};

const EXECUTED: &str = "SELECT count(*) FROM bank.execution";

/// Ada asks for 20 to Bob under a rule of the operators, and presses.
async fn is_held(bank: &Bank, ada: &Visitor<'_>) -> (Asked, Value) {
    bank.plant(
        "INSERT INTO bank.operator_rule (rule_id, currency, above_minor_units, operator)
         SELECT gen_random_uuid(), 'EUR', 1000, 'grace' WHERE NOT EXISTS (SELECT FROM bank.operator_rule)",
    )
    .await;
    let (asked, card) = ada.sees_twenty_to_bob().await;
    let warned = card["warnings"].as_array().unwrap();
    assert!(
        warned.iter().any(|one| one["code"] == "held_operator_rule"),
        "said before Confirm: {card}"
    );
    let answer = ada.presses(&card, "Rent").await;
    assert_eq!(answer.status(), 200);
    let held: Value = answer.json().await.unwrap();
    assert_eq!(held["outcome"], "held");
    assert!(
        held["receipt"].is_null() && held["balance"].is_null(),
        "{held}"
    );
    // The same again is the same answer.
    let again: Value = ada
        .step("confirm", &card, "Rent")
        .await
        .json()
        .await
        .unwrap();
    assert_eq!(again, held);
    (asked, card)
}

async fn allow(bank: &Bank, asked: &Asked) -> bool {
    sqlx::query_scalar(
        "SELECT bank.allow_hold(customer_id, action_id, 'grace') FROM bank.pending_action WHERE action_id = $1",
    )
    .bind(asked.id)
    .fetch_one(&mut bank.admin().await)
    .await
    .unwrap()
}

async fn becomes(ada: &Visitor<'_>, asked: &Asked, state: &str) -> Value {
    for _ in 0..60 {
        let card = ada.card(asked).await;
        if card["state"] == state {
            return card;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let card = ada.card(asked).await;
    assert_eq!(card["state"], state, "{card}");
    card
}

#[tokio::test]
async fn a_held_payment_runs_as_it_was_confirmed_once_it_is_allowed() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (asked, shown) = is_held(&bank, &ada).await;
    assert_eq!(ada.balance().await, before, "nothing moved");
    let card = ada.card(&asked).await;
    assert_eq!(card["state"], "held");
    assert_eq!(card["hold"]["reason"], "operator_rule");
    assert!(
        card["hold"]["ends"].is_string() && card["hold"]["goes"].is_null(),
        "{card}"
    );
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.bank_event WHERE kind = 'held'")
            .await,
        1
    );
    // It waits for the operator, and for nothing else.
    bank.database.set_clock_ahead(86_500).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    bank.database.set_clock_ahead(0).await.unwrap();
    assert_eq!(bank.count(EXECUTED).await, 0);
    assert!(allow(&bank, &asked).await);
    assert!(!allow(&bank, &asked).await, "once");
    let card = becomes(&ada, &asked, "confirmed").await;
    assert!(
        card["undo_until"].is_string(),
        "the time to undo begins when it goes: {card}"
    );
    assert_eq!(ada.balance().await, before - 2_000);
    let run: (String, String) = sqlx::query_as(
        "SELECT encode(e.confirm_hash, 'hex'), e.note FROM bank.execution e JOIN bank.hold h USING (customer_id, action_id, record)",
    )
    .fetch_one(&mut bank.admin().await)
    .await
    .unwrap();
    assert_eq!(
        run,
        (
            shown["confirm_hash"].as_str().unwrap().to_owned(),
            "Rent".to_owned()
        )
    );
}

#[tokio::test]
async fn what_is_not_as_it_was_confirmed_is_cancelled() {
    for (change, code) in [
        (
            "UPDATE bank.setting SET rules_version = 'rules/2'",
            "changed",
        ),
        (
            "UPDATE bank.payee SET name = 'Bob Smyth' WHERE name = 'Bob Smith'",
            "changed",
        ),
        (
            "UPDATE bank.payee SET iban = 'DE02120300000000202051' WHERE name = 'Bob Smith'",
            "changed",
        ),
        (
            "UPDATE bank.customer_limit SET per_transfer_minor_units = 100",
            "limit_per_transfer",
        ),
        (
            "UPDATE bank.account_balance SET balance_minor_units = 100",
            "insufficient_funds",
        ),
        ("", "taken_back"),
    ] {
        let bank = Bank::start().await;
        let ada = bank.sign_in("Ada").await;
        let (asked, _) = is_held(&bank, &ada).await;
        if change.is_empty() {
            ada.writes("no, stop").await;
        } else {
            bank.plant(change).await;
        }
        assert!(allow(&bank, &asked).await);
        let card = becomes(&ada, &asked, "cancelled").await;
        assert!(
            card["message"]
                .as_str()
                .unwrap()
                .starts_with("Nothing was sent"),
            "{code}: {card}"
        );
        let reason: String =
            sqlx::query_scalar("SELECT reason FROM bank.pending_action WHERE action_id = $1")
                .bind(asked.id)
                .fetch_one(&mut bank.admin().await)
                .await
                .unwrap();
        assert_eq!(reason, code);
        assert_eq!(bank.count(EXECUTED).await, 0);
    }
}

#[tokio::test]
async fn cancel_always_works_and_the_deadline_ends_the_rest() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (asked, _) = is_held(&bank, &ada).await;
    let waiting = "SELECT count(*) FROM bank.pending_action WHERE state = 'held'";
    assert_eq!(bank.count(waiting).await, 1);
    let path = format!("/api/actions/{}/cancel", asked.text());
    for _ in 0..2 {
        assert_eq!(ada.post(&path, &json!({"version": 1})).await.status(), 200);
    }
    assert!(
        !allow(&bank, &asked).await,
        "what is cancelled is not allowed"
    );
    let (late, card) = is_held(&bank, &ada).await;
    bank.database.set_clock_ahead(345_601).await.unwrap();
    let card_now = {
        // The session is over by then; a new one sees it.
        let ada = bank.sign_in("Ada").await;
        bank.waits_for(waiting, 0).await;
        let answer = ada.step("confirm", &card, "Rent").await;
        assert!(matches!(problem(answer).await.0, 409 | 410));
        ada.card(&late).await
    };
    assert_eq!(card_now["state"], "expired");
    assert!(
        card_now["message"]
            .as_str()
            .unwrap()
            .contains("waited as long as it may"),
        "{card_now}"
    );
    assert_eq!(bank.count(EXECUTED).await, 0);
    assert_eq!(ada.balance().await, before);
}

/// Rounds in which a Cancel, two releases and two sweepers meet at a hold.
const ROUNDS: i64 = 100;

/// Allowed holds of one cent to Bob, after the pattern of a real one. A third of them end a moment later, by the clock.
const HELD: &str = "
    WITH each AS (SELECT h.*, n, gen_random_uuid() AS id FROM bank.hold h, generate_series(1, 100) n),
    a AS (INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through, consumed_through, state)
          SELECT e.customer_id, e.id, a.conversation_id, a.kind, a.target_key, a.grounded_through, a.consumed_through, 'held'
            FROM each e JOIN bank.pending_action a USING (customer_id, action_id)),
    v AS (INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
          SELECT e.customer_id, e.id, 1, v.currency, v.from_account_id, v.rules_version, v.provenance_version
            FROM each e JOIN bank.pending_version v USING (customer_id, action_id, version)),
    l AS (INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, amount_minor_units)
          SELECT e.customer_id, e.id, 1, 1, l.payee_id, 1 FROM each e JOIN bank.pending_line l USING (customer_id, action_id, version))
    INSERT INTO bank.hold (customer_id, action_id, version, reason, confirm_hash, executed_hash, note, record, held_at, ends_at, allowed_at,
      allowed_by, event_sequence)
    SELECT customer_id, id, 1, reason, confirm_hash, executed_hash, note, record, bank.bank_clock(),
           bank.bank_clock() + interval '1 second' + CASE WHEN n % 3 = 0 THEN n * interval '20 milliseconds' ELSE interval '1 hour' END,
           bank.bank_clock(), 'race', event_sequence FROM each";

async fn in_session(
    panel: &PgPool,
    secret: &Secret,
    sql: &'static str,
    action: Uuid,
) -> Option<String> {
    let mut transaction = session::begin(panel, secret).await.expect("begin");
    session::lock_customer(&mut transaction)
        .await
        .expect("lock");
    let answer = sqlx::query_scalar(sql)
        .bind(action)
        .fetch_optional(&mut *transaction)
        .await
        .expect("answer");
    transaction.commit().await.expect("commit");
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancel_release_and_the_deadline_never_win_together() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    is_held(&bank, &ada).await;
    bank.plant(HELD).await;
    let holds: Vec<(Uuid, f64)> = sqlx::query_as(
        "SELECT action_id, least(extract(epoch FROM ends_at - clock_timestamp())::float8, 3.0) FROM bank.hold WHERE allowed_by = 'race'",
    )
    .fetch_all(&mut bank.admin().await)
    .await
    .unwrap();
    let began = tokio::time::Instant::now();
    let mut loops = Vec::new();
    for _ in 0..2 {
        let pool = pool(&bank, "sweeper", 1).await;
        loops.push(tokio::spawn(async move {
            loop {
                // A turn that waits too long for a lock is taken again.
                let _ = sweeper::turn(&pool).await;
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }));
    }
    let panel = pool(&bank, "panel", 16).await;
    let mut tasks = Vec::new();
    for (round, (action, ends)) in (0_i32..).zip(holds) {
        for who in 0..3 {
            let (panel, secret) = (panel.clone(), ada.secret());
            // Around the end, where there is one; each of the three is the first in some rounds. In every tenth they come
            // so late that the sweeper is the first on a busy machine, too.
            let late = if round % 10 == 9 { 0.5 } else { 0.0 };
            let moment = ends + late + f64::from((round + who * 5) % 7) * 0.008 - 0.03;
            tasks.push(tokio::spawn(async move {
                tokio::time::sleep_until(began + Duration::from_secs_f64(moment.max(0.0))).await;
                let sql = if who == 0 {
                    "UPDATE bank.pending_action SET state = 'cancelled', reason = 'cancelled' WHERE action_id = $1 AND state = 'held' RETURNING state"
                } else {
                    "SELECT bank.release_hold($1, (SELECT confirm_hash FROM bank.hold WHERE action_id = $1), false, NULL, ARRAY[gen_random_uuid()], '{}')"
                };
                in_session(&panel, &secret, sql, action).await
            }));
        }
    }
    let mut answers = std::collections::BTreeMap::<String, i64>::new();
    for task in tasks {
        let answer = task.await.unwrap().unwrap_or_default();
        *answers.entry(answer).or_default() += 1;
    }
    let open =
        "SELECT count(*) FROM bank.pending_action a JOIN bank.hold h USING (customer_id, action_id)
                 WHERE a.state = 'held' AND h.allowed_by = 'race'";
    bank.waits_for(open, 0).await;
    for each in loops {
        each.abort();
    }
    let ended: Vec<(String, i64)> = sqlx::query_as(
        "SELECT a.state, count(*) FROM bank.pending_action a JOIN bank.hold h USING (customer_id, action_id)
          WHERE h.allowed_by = 'race' GROUP BY 1 ORDER BY 1",
    )
    .fetch_all(&mut bank.admin().await)
    .await
    .unwrap();
    let of = |state: &str| {
        ended
            .iter()
            .find(|(one, _)| one == state)
            .map_or(0, |(_, count)| *count)
    };
    assert_eq!(ended.iter().map(|(_, count)| count).sum::<i64>(), ROUNDS);
    assert!(
        of("confirmed") > 5 && of("cancelled") > 5 && of("expired") > 0,
        "every order occurs: {ended:?}, {answers:?}"
    );
    assert_eq!(
        answers.get("executed"),
        Some(&of("confirmed")),
        "each ran once"
    );
    assert_eq!(bank.count(EXECUTED).await, of("confirmed"));
    assert_eq!(ada.balance().await, before - of("confirmed"));
}
