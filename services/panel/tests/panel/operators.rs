//! What people of the bank decide: each in their own name, written into the customer's chain, and no login of a service can.

use countersign_soft_passkey::SoftPasskey;
use serde_json::{Value, json};

use crate::bank::{Bank, Visitor};

/// Makes a person's login that may decide and nothing else.
async fn person(bank: &Bank, name: &str) -> sqlx::PgConnection {
    bank.plant(&format!(
        "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}') THEN CREATE ROLE {name} LOGIN IN ROLE cs_operator; END IF; END $$"
    ))
    .await;
    bank.plant(&format!("ALTER ROLE {name} INHERIT")).await;
    let mut person = bank.admin().await;
    sqlx::query(sqlx::AssertSqlSafe(format!(
        "SET SESSION AUTHORIZATION {name}"
    )))
    .execute(&mut person)
    .await
    .expect("their own login");
    person
}

/// Roles are the whole server's: the snapshot of the grants would see one that stays.
async fn leaves(bank: &Bank, person: sqlx::PgConnection, name: &str) {
    drop(person);
    bank.plant(&format!("DROP ROLE {name}")).await;
}

async fn held(ada: &Visitor<'_>) -> Value {
    let (asked, card) = ada.sees_twenty_to_bob().await;
    assert_eq!(ada.presses(&card, "").await.status(), 200);
    let card = ada.card(&asked).await;
    assert_eq!(card["state"], "held", "{card}");
    card
}

async fn decides(
    person: &mut sqlx::PgConnection,
    statement: &str,
    name: &str,
) -> Result<bool, String> {
    sqlx::query_scalar::<_, bool>(sqlx::AssertSqlSafe(statement.to_owned()))
        .bind(name)
        .fetch_one(person)
        .await
        .map_err(|error| {
            let code = error.as_database_error().and_then(|it| it.code());
            code.map_or_else(|| error.to_string(), |code| code.into_owned())
        })
}

const ALLOW: &str = "SELECT bool_or(bank.allow_hold(customer_id, id, $1)) FROM bank.waiting_for_operator() WHERE what = 'hold'";
const APPROVE: &str = "SELECT bool_or(bank.approve_recovery(customer_id, id, $1)) FROM bank.waiting_for_operator() WHERE what = 'recovery'";

#[tokio::test]
async fn a_person_of_the_bank_lets_a_held_payment_go_in_their_own_name() {
    let bank = Bank::start().await;
    bank.plant("INSERT INTO bank.operator_rule (rule_id, currency, above_minor_units, operator) VALUES (gen_random_uuid(), 'EUR', 1000, 'grace')")
        .await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    held(&ada).await;
    let mut grace = person(&bank, "grace").await;
    assert_eq!(
        decides(&mut grace, ALLOW, "heidi").await,
        Err("42501".to_owned()),
        "in no other name"
    );
    for forbidden in ["bank.hold", "bank.customer", "bank.account", "bank.entry"] {
        let read = format!("SELECT count(*) > 0 AND $1 <> '' FROM {forbidden}");
        assert_eq!(
            decides(&mut grace, &read, "x").await,
            Err("42501".to_owned()),
            "{forbidden}"
        );
    }
    assert_eq!(decides(&mut grace, ALLOW, "grace").await, Ok(true));
    assert_ne!(decides(&mut grace, ALLOW, "grace").await, Ok(true), "once");
    for _ in 0..100 {
        if ada.balance().await == before - 2_000 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(ada.balance().await, before - 2_000);
    let payload: Vec<u8> =
        sqlx::query_scalar("SELECT payload FROM bank.bank_event WHERE kind = 'hold_allowed'")
            .fetch_one(&mut bank.admin().await)
            .await
            .unwrap();
    let event: Value = serde_json::from_slice(&payload).unwrap();
    assert_eq!(event["operator"], "grace", "{event}");
    leaves(&bank, grace, "grace").await;
}

#[tokio::test]
async fn no_login_of_a_service_decides_and_a_recovery_tells_the_customer() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    assert_eq!(ada.enrols(&SoftPasskey::new(1)).await.status(), 204);
    assert_eq!(
        ada.post("/api/recovery/ask", &json!({})).await.status(),
        204
    );
    for service in [
        "panel",
        "releaser",
        "sweeper",
        "bank_mcp",
        "intake",
        "dashboard",
        "checker",
        "relay",
    ] {
        let mut login = bank.database.login(service).await.unwrap();
        for act in [
            "SELECT bank.approve_recovery(gen_random_uuid(), gen_random_uuid(), $1)",
            "SELECT bank.allow_hold(gen_random_uuid(), gen_random_uuid(), $1)",
            "SELECT count(*) > 0 AND $1 <> '' FROM bank.waiting_for_operator()",
        ] {
            assert_eq!(
                decides(&mut login, act, service).await,
                Err("42501".to_owned()),
                "{service}: {act}"
            );
        }
    }
    let mut heidi = person(&bank, "heidi").await;
    assert_eq!(decides(&mut heidi, APPROVE, "heidi").await, Ok(true));
    let by: String = sqlx::query_scalar("SELECT approved_by FROM bank.passkey_recovery")
        .fetch_one(&mut bank.admin().await)
        .await
        .unwrap();
    assert_eq!(by, "heidi");
    let page = ada.page("/notices").await;
    for heading in [
        "A passkey was added",
        "Somebody asked for a way back in",
        "The bank made sure it is you",
    ] {
        assert!(page.contains(heading), "{heading}: {page}");
    }
    leaves(&bank, heidi, "heidi").await;
}
