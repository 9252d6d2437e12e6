//! Which answer of a passkey counts, where the panel did not look.

use countersign_domain::ActionState;

use crate::support::{Bank, Card, Customer, Planted};

/// The answer to the card, given as leave to change passkeys, or in another session.
const FOR_SOMETHING_ELSE: &str = "WITH gone AS (DELETE FROM bank.step_up WHERE customer_id = $1 RETURNING *)
    INSERT INTO bank.step_up (customer_id, challenge, purpose, panel_grant_id, passkey_id, client_data, authenticator_data, signature, answered_at)
    SELECT customer_id, challenge, 'manage', panel_grant_id, passkey_id, client_data, authenticator_data, signature, answered_at FROM gone";
const IN_ANOTHER_SESSION: &str = "WITH gone AS (DELETE FROM bank.step_up WHERE customer_id = $1 RETURNING *)
    INSERT INTO bank.step_up (customer_id, challenge, purpose, action_id, panel_grant_id, passkey_id, client_data, authenticator_data, signature,
      answered_at)
    SELECT customer_id, challenge, purpose, action_id, (SELECT g.grant_id FROM bank.session_grant g WHERE g.customer_id = $1
        AND g.audience = 'panel' AND g.grant_id <> gone.panel_grant_id LIMIT 1),
      passkey_id, client_data, authenticator_data, signature, answered_at FROM gone";

async fn to_dora(ada: &Customer<'_>) -> Card {
    let request = Planted::transfer(ada.account("Current")).to(ada.payee("Dora"), 2_000);
    let action = ada.plants(request).await;
    ada.looks_at(action).await
}

#[tokio::test]
async fn an_answer_counts_for_its_purpose_its_session_its_minute_and_its_passkey() {
    let bank = Bank::open().await;
    for changed in [
        FOR_SOMETHING_ELSE,
        IN_ANOTHER_SESSION,
        "UPDATE bank.step_up SET answered_at = answered_at - interval '2 minutes' WHERE customer_id = $1",
        "UPDATE bank.passkey SET removed_at = bank.bank_clock() WHERE customer_id = $1",
    ] {
        let ada = bank.customer("Ada").await;
        ada.signs_in_again().await;
        let card = to_dora(&ada).await;
        bank.plant(changed, &[ada.id.uuid()]).await;
        assert_eq!(
            ada.tries_confirm(&card).await,
            Ok("step_up_due".to_owned()),
            "{changed}"
        );
        assert_eq!(ada.state(card.action).await, ActionState::Pending);
    }
    let ada = bank.customer("Ada").await;
    let card = to_dora(&ada).await;
    assert_eq!(ada.tries_confirm(&card).await, Ok("executed".to_owned()));
}

#[tokio::test]
async fn a_new_passkey_sends_little_at_first() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    let request = Planted::transfer(ada.account("Current")).to(ada.payee("Bob"), 30_000);
    let action = ada.plants(request).await;
    let card = ada.looks_at(action).await;
    bank.plant(
        "UPDATE bank.passkey SET vouched = false WHERE customer_id = $1",
        &[ada.id.uuid()],
    )
    .await;
    assert_eq!(
        ada.tries_confirm(&card).await,
        Ok("limit_new_passkey".to_owned())
    );
    assert_eq!(ada.state(action).await, ActionState::Refused);
}

#[tokio::test]
async fn a_recovery_waits_for_the_bank_and_for_its_time_whoever_calls() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    // Who has a passkey can lose it.
    to_dora(&ada).await;
    let mut panel = ada.panel().await;
    let asked: bool = sqlx::query_scalar("SELECT bank.ask_recovery(gen_random_uuid())")
        .fetch_one(&mut *panel)
        .await
        .expect("ask");
    assert!(asked);
    panel.commit().await.expect("commit");
    const NOW: &str =
        "UPDATE bank.passkey_recovery SET asked_at = bank.bank_clock() WHERE customer_id = $1";
    const LONG_AGO: &str = "UPDATE bank.passkey_recovery SET asked_at = bank.bank_clock() - interval '30 days' WHERE customer_id = $1";
    const MADE_SURE: &str = "UPDATE bank.passkey_recovery SET asked_at = bank.bank_clock(), approved_at = bank.bank_clock(), approved_by = 'grace'
         WHERE customer_id = $1";
    for (changed, answer) in [
        (NOW, "step_up_frozen"),
        // Nobody made sure who asked.
        (LONG_AGO, "step_up_frozen"),
        // Made sure, and a moment ago.
        (MADE_SURE, "step_up_frozen"),
        (LONG_AGO, "enrolled"),
    ] {
        bank.plant(changed, &[ada.id.uuid()]).await;
        let mut panel = ada.panel().await;
        let said: String = sqlx::query_scalar(
            "SELECT bank.enrol_passkey(c.challenge, gen_random_uuid(), uuid_send(gen_random_uuid()), '{}', 0, true, 'Phone',
               convert_to('{\"type\":\"webauthn.create\",\"challenge\":\"' || rtrim(translate(encode(c.challenge, 'base64'), E'+/\\n', '-_'), '=') || '\"}', 'UTF8'),
               NULL)
               FROM (SELECT bank.issue_passkey_challenge('enrol') AS challenge) c",
        )
        .fetch_one(&mut *panel)
        .await
        .expect("an answer");
        assert_eq!(said, answer, "{changed}");
    }
}

#[tokio::test]
async fn a_counter_that_stays_zero_is_a_synced_passkey() {
    let bank = Bank::open().await;
    let ada = bank.customer("Ada").await;
    to_dora(&ada).await;
    bank.plant(
        "UPDATE bank.step_up SET answered_at = NULL WHERE customer_id = $1",
        &[ada.id.uuid()],
    )
    .await;
    let (challenge, said): (Vec<u8>, String) = sqlx::query_as(
        "SELECT challenge, '{\"type\":\"webauthn.get\",\"challenge\":\"' || rtrim(translate(encode(challenge, 'base64'), E'+/\\n', '-_'), '=') || '\"}'
           FROM bank.step_up",
    )
    .fetch_one(bank.superuser())
    .await
    .expect("the challenge");
    // Hash of the page, flags (present and verified), a counter of zero.
    let mut data = vec![0_u8; 37];
    data[32] = 5;
    let mut panel = ada.panel().await;
    let answer: String = sqlx::query_scalar(
        "SELECT bank.answer_step_up($1, sha256(uuid_send($2)), convert_to($3, 'UTF8'), $4, 's')",
    )
    .bind(challenge)
    .bind(ada.id.uuid())
    .bind(said)
    .bind(data)
    .fetch_one(&mut *panel)
    .await
    .expect("an answer");
    assert_eq!(answer, "answered");
}
