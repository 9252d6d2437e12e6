//! The press on an old card against the request that replaces it: two processes, two panels, one lock.

use std::time::Duration;

use countersign_domain::Secret;
use countersign_store::session;
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection, PgPool};
use uuid::Uuid;

use crate::bank::{Asked, Bank, Visitor, pool};

/// Rounds of the race. Each has its own conversation, request, card and press.
const ROUNDS: i64 = 1_000;
/// Fewer rounds, for a mutant that shows in the first of them.
const ROUNDS_VARIABLE: &str = "COUNTERSIGN_RACE_ROUNDS";

/// A conversation with an order in it, the request it grounds, and the turn that will replace it.
const ROUND: [&str; 5] = [
    "INSERT INTO bank.conversation (customer_id, conversation_id) SELECT customer_id, $1 FROM bank.customer WHERE display_name = 'Ada'
        AND $2::uuid IS NOT NULL AND $3::bytea IS NOT NULL",
    "INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body)
     SELECT customer_id, $1, gen_random_uuid(), gen_random_uuid(), 'Send 1 to Bob' FROM bank.customer WHERE display_name = 'Ada'
        AND $2::uuid IS NOT NULL AND $3::bytea IS NOT NULL",
    "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
     SELECT customer_id, $2, $1, 'transfer', 'transfer', 1 FROM bank.customer WHERE display_name = 'Ada' AND $3::bytea IS NOT NULL",
    "INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
     SELECT a.customer_id, $2, 1, a.currency, a.account_id, 'rules/1', 'provenance/2' FROM bank.account a JOIN bank.customer c USING (customer_id)
      WHERE c.display_name = 'Ada' AND a.is_default AND $1::uuid IS NOT NULL AND $3::bytea IS NOT NULL",
    "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, conversation_id, audience, expires_at)
     SELECT gen_random_uuid(), $3, customer_id, $1, 'bank_mcp', bank.bank_clock() + interval '2 minutes' FROM bank.customer
      WHERE display_name = 'Ada' AND $2::uuid IS NOT NULL",
];
const LINE: &str = "INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, amount_minor_units)
     SELECT customer_id, $1, 1, 1, payee_id, 100 FROM bank.payee WHERE name = 'Bob Smith'
        AND customer_id = (SELECT customer_id FROM bank.customer WHERE display_name = 'Ada')";

struct Round {
    turn: Secret,
    action: Uuid,
    card: Value,
}

/// Plants a round and draws its card on the first panel.
async fn begin(admin: &mut PgConnection, ada: &Visitor<'_>) -> Round {
    let (place, action) = (Uuid::now_v7(), Uuid::now_v7());
    let turn = Secret::new(format!("{}{}", Uuid::new_v4().simple(), place.simple()));
    let mut all = admin.begin().await.expect("begin");
    for statement in ROUND {
        sqlx::query(statement)
            .bind(place)
            .bind(action)
            .bind(turn.hash().as_slice())
            .execute(&mut *all)
            .await
            .expect("plant");
    }
    sqlx::query(LINE)
        .bind(action)
        .execute(&mut *all)
        .await
        .expect("plant");
    all.commit().await.expect("commit");
    let card = ada.card(&Asked { id: action }).await;
    Round { turn, action, card }
}

/// The replacement, as the bank server's login makes it: under the customer's lock, over what is still open.
async fn replace(bank_mcp: &PgPool, round: &Round) -> bool {
    let mut turn = session::begin(bank_mcp, &round.turn).await.expect("begin");
    session::lock_customer(&mut turn).await.expect("lock");
    let newer = Uuid::now_v7();
    let replaced = sqlx::query(
        "UPDATE bank.pending_action SET state = 'superseded', superseded_by = $2 WHERE action_id = $1 AND state = 'pending'",
    )
    .bind(round.action)
    .bind(newer)
    .execute(&mut *turn)
    .await
    .expect("supersede")
    .rows_affected()
        == 1;
    if replaced {
        for statement in [
            "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
             SELECT customer_id, $2, conversation_id, kind, target_key, grounded_through + 1 FROM bank.pending_action WHERE action_id = $1",
            "INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
             SELECT customer_id, $2, 1, currency, from_account_id, rules_version, provenance_version FROM bank.pending_version WHERE action_id = $1",
            "INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, amount_minor_units)
             SELECT customer_id, $2, 1, 1, payee_id, 200 FROM bank.pending_line WHERE action_id = $1",
        ] {
            let made = sqlx::query(statement)
                .bind(round.action)
                .bind(newer)
                .execute(&mut *turn)
                .await
                .expect("the newer request");
            assert_eq!(made.rows_affected(), 1);
        }
    }
    turn.commit().await.expect("commit");
    replaced
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_card_and_its_replacement_never_both_win_on_two_panels() {
    let bank = Bank::start().await;
    let replica = bank.replica().await;
    let ada = bank.sign_in("Ada").await;
    bank.moves_limits_away().await;
    let before = ada.balance().await;
    let bank_mcp = pool(&bank, "bank_mcp", 2).await;
    let mut admin = bank.admin().await;
    let (mut confirmed, mut replaced) = (0, 0);
    let rounds =
        std::env::var(ROUNDS_VARIABLE).map_or(ROUNDS, |text| text.parse().expect("a number"));
    for number in 0..rounds {
        let round = begin(&mut admin, &ada).await;
        // The press goes to the other panel than the one that drew the card in every other round.
        let (origin, http) = if number % 2 == 0 {
            (&bank.origin, &bank.http)
        } else {
            (&replica.origin, &replica.http)
        };
        let press = http
            .post(format!("{origin}/api/actions/{}/confirm", round.card["action"].as_str().expect("id")))
            .header("origin", origin)
            .header("sec-fetch-site", "same-origin")
            .header("cookie", &ada.cookie)
            .json(&json!({"version": 1, "confirm_hash": round.card["confirm_hash"], "nonce": round.card["nonce"], "note": ""}));
        // A press takes a while to reach the lock: the replacement begins 0 to 11 ms after it.
        let head_start = Duration::from_millis(number.unsigned_abs() % 12);
        let (pressed, newer) = tokio::join!(press.send(), async {
            tokio::time::sleep(head_start).await;
            replace(&bank_mcp, &round).await
        });
        let pressed = pressed.expect("an answer");
        let state: String =
            sqlx::query_scalar("SELECT state FROM bank.pending_action WHERE action_id = $1")
                .bind(round.action)
                .fetch_one(&mut admin)
                .await
                .expect("state");
        match (pressed.status(), newer, state.as_str()) {
            (StatusCode::OK, false, "confirmed") => confirmed += 1,
            (StatusCode::CONFLICT, true, "superseded") => replaced += 1,
            other => panic!(
                "round {number}: {other:?} {}",
                pressed.text().await.unwrap_or_default()
            ),
        }
        sqlx::query("UPDATE bank.pending_action SET state = 'cancelled' WHERE state = 'pending'")
            .execute(&mut admin)
            .await
            .expect("clear the table");
    }
    println!(
        "{confirmed} confirmed before the replacement, {replaced} replaced before the press, 0 both"
    );
    assert!(
        confirmed * 20 > rounds && replaced * 20 > rounds,
        "both orders: {confirmed} {replaced}"
    );
    assert_eq!(bank.executions().await, confirmed);
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.transfer WHERE action_id IS NOT NULL")
            .await,
        confirmed
    );
    assert_eq!(ada.balance().await, before - 100 * confirmed);
}
