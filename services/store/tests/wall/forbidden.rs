//! Acts that no login may do, each tried as the real login with everything it could hold.

use sqlx::{Executor, Row};

use crate::actors::{Bank, carry, refused};

/// insufficient_privilege: no grant, or a row that a policy does not let in.
const NO_RIGHT: &str = "42501";

/// Every table of a customer's that the login has any right to read.
async fn readable_tables(connection: &mut sqlx::PgConnection) -> anyhow::Result<Vec<String>> {
    let rows = sqlx::query(
        "SELECT c.relname FROM pg_catalog.pg_class c
          WHERE c.relnamespace = 'bank'::regnamespace AND c.relkind = 'r'
            AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
            AND EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'customer_id'
                  AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'))
          ORDER BY 1",
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

async fn strangers_rows(
    connection: &mut sqlx::PgConnection,
    table: &str,
    own: Option<uuid::Uuid>,
) -> anyhow::Result<i64> {
    let statement =
        format!("SELECT count(*) FROM bank.{table} WHERE customer_id IS DISTINCT FROM $1");
    Ok(sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
        .bind(own)
        .fetch_one(connection)
        .await?)
}

#[tokio::test]
async fn no_session_variable_opens_another_customer_s_rows() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.with("Ada").await?;
    let kabir = bank.with("Kabir").await?;
    for role in ["bank_mcp", "panel", "intake"] {
        let mut login = bank.login(role).await?;
        let tables = readable_tables(&mut login).await?;
        assert!(tables.len() >= 3, "{role} reads {tables:?}");
        let own = match role {
            "bank_mcp" => &ada.turn,
            "panel" => &ada.panel,
            _ => &ada.intake,
        };
        let of_other_audiences = [&kabir.turn, &kabir.panel, &kabir.intake]
            .into_iter()
            .enumerate()
            .filter(|(position, _)| ["bank_mcp", "panel", "intake"][*position] != role)
            .map(|(_, secret)| secret.expose().to_owned());
        let mut guesses: Vec<String> = of_other_audiences.collect();
        guesses.extend([
            String::new(),
            kabir.customer.to_string(),
            format!("cus_{}", kabir.customer.simple()),
            "' OR true --".to_owned(),
            "%".to_owned(),
        ]);
        for guess in &guesses {
            carry(&mut login, guess).await?;
            for table in &tables {
                assert_eq!(
                    strangers_rows(&mut login, table, None).await?,
                    0,
                    "{role} {table} {guess}"
                );
            }
        }
        carry(&mut login, own.expose()).await?;
        for variable in [
            "customer",
            "countersign.customer",
            "countersign.customer_id",
            "app.customer",
            "session.customer_id",
        ] {
            let statement = format!(
                "SELECT set_config('{variable}', '{}', false)",
                kabir.customer
            );
            let _ = refused(&mut login, &statement).await?;
        }
        let mut seen = 0;
        for table in &tables {
            assert_eq!(
                strangers_rows(&mut login, table, Some(ada.customer)).await?,
                0,
                "{role} {table}"
            );
            let statement = format!("SELECT count(*) FROM bank.{table}");
            seen += sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(statement))
                .fetch_one(&mut login)
                .await?;
        }
        assert!(
            seen > 0,
            "{role} sees Ada's own rows, or this test would show nothing"
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_model_side_writes_nothing_but_requests() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.with("Ada").await?;
    let before = bank.money().await?;
    let mut login = bank.login("bank_mcp").await?;
    carry(&mut login, ada.turn.expose()).await?;
    let customer = ada.customer;
    let conversation = ada.conversation;
    let open = uuid::Uuid::now_v7();
    let columns = "customer_id, action_id, conversation_id, kind, target_key, grounded_through";
    // What it may do, so that the rest is tried against a row that is there.
    let asked = format!(
        "INSERT INTO bank.pending_action ({columns}) VALUES ('{customer}', '{open}', '{conversation}', 'transfer', 'transfer', 1)"
    );
    login.execute(sqlx::AssertSqlSafe(asked)).await?;
    let action = uuid::Uuid::now_v7();
    let values =
        format!("'{customer}', '{action}', '{conversation}', 'card_freeze', 'card:open', 1");
    let forbidden = [
        format!(
            "INSERT INTO bank.pending_action ({columns}, state) VALUES ({values}, 'confirmed')"
        ),
        format!(
            "INSERT INTO bank.pending_action ({columns}, expires_at) VALUES ({values}, now() + interval '1 year')"
        ),
        format!(
            "INSERT INTO bank.pending_action ({columns}, current_version) VALUES ({values}, 2)"
        ),
        "UPDATE bank.pending_action SET state = 'confirmed'".to_owned(),
        "UPDATE bank.pending_action SET grounded_through = 0".to_owned(),
        "UPDATE bank.pending_action SET expires_at = expires_at + interval '1 year'".to_owned(),
        "DELETE FROM bank.pending_action".to_owned(),
        format!(
            "INSERT INTO bank.pending_version (customer_id, action_id, version, typed, rules_version, provenance_version) VALUES ('{customer}', '{action}', 1, '{{}}', 'r', 'p')"
        ),
        format!(
            "INSERT INTO bank.panel_entry (customer_id, action_id, version, slot, value) VALUES ('{customer}', '{action}', 1, 'payee', 'x')"
        ),
        format!(
            "INSERT INTO bank.execution (customer_id, action_id, version, confirm_hash, executed_hash, record, event_sequence) VALUES ('{customer}', '{action}', 1, sha256(''), sha256(''), '', 1)"
        ),
        format!(
            "INSERT INTO bank.entry (customer_id, transfer_id, leg, book, amount_minor_units, currency) VALUES ('{customer}', '{action}', 1, 'transit', 5, 'EUR')"
        ),
        format!(
            "INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name) SELECT '{customer}', '{action}', account_id, 'payment_out', 'reserved', 5, 'EUR', 'x' FROM bank.account LIMIT 1"
        ),
        "UPDATE bank.account_balance SET balance_minor_units = 0".to_owned(),
        "UPDATE bank.spent_day SET spent_minor_units = 0".to_owned(),
        "UPDATE bank.customer_limit SET per_day_minor_units = 999999999".to_owned(),
        "UPDATE bank.card SET state = 'frozen'".to_owned(),
        format!(
            "INSERT INTO bank.payee (customer_id, payee_id, name, iban) VALUES ('{customer}', '{action}', 'x', 'GB29NWBK60161331926819')"
        ),
        format!(
            "INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body) VALUES ('{customer}', '{conversation}', '{action}', '{action}', 'Send 900 to Bob')"
        ),
        "UPDATE bank.customer_lock SET version = 0".to_owned(),
        "SELECT * FROM bank.session_grant".to_owned(),
        format!(
            "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, audience, expires_at) VALUES ('{action}', sha256('x'), '{customer}', 'panel', now() + interval '1 hour')"
        ),
        "SELECT * FROM bank.account_directory".to_owned(),
        "SELECT * FROM bank.dispute".to_owned(),
        "SELECT * FROM bank.profile".to_owned(),
        format!(
            "SELECT bank.confirm_action('{action}', 1, 'n', sha256(''), sha256(''), '', '', '{{}}', '')"
        ),
        "SELECT * FROM bank.due_transfers(10)".to_owned(),
        format!("SELECT bank.post_transfer('{customer}', '{action}')"),
        format!("SELECT bank.credit_payee('{customer}', '{action}')"),
        "SELECT bank.expire_due(10)".to_owned(),
        format!("SELECT bank.append_event_for('{customer}', 'confirmed', '{action}', 'x')"),
        "SELECT bank.redeem_login_token('x')".to_owned(),
        "SELECT bank.end_panel_session()".to_owned(),
        format!("SELECT bank.lock_customer_row('{customer}')"),
        "CREATE TABLE bank.mine (a int)".to_owned(),
        "CREATE VIEW bank.mine AS SELECT * FROM bank.account".to_owned(),
        "CREATE FUNCTION bank.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'".to_owned(),
        "CREATE TABLE public.mine (a int)".to_owned(),
        "CREATE TEMP TABLE account (a int)".to_owned(),
        "ALTER ROLE bank_mcp SET countersign.session = 'x'".to_owned(),
        "SET ROLE cs_executor".to_owned(),
        "SET ROLE cs_owner".to_owned(),
        "SET SESSION AUTHORIZATION panel".to_owned(),
        "COPY bank.account TO PROGRAM 'true'".to_owned(),
    ];
    for statement in &forbidden {
        let state = refused(&mut login, statement).await?;
        assert_eq!(state.as_deref(), Some(NO_RIGHT), "{statement}");
    }
    // A kind of event that is not the model side's to record.
    for kind in ["confirmed", "cancelled", "kept", "card_shown", "posted"] {
        let statement = format!("SELECT bank.append_event('{kind}', '{action}', '{{}}')");
        assert_eq!(
            refused(&mut login, &statement).await?.as_deref(),
            Some("CS003"),
            "{kind}"
        );
    }
    // Turning the wall off turns the query off.
    let off = refused(
        &mut login,
        "SET LOCAL row_security = off; SELECT * FROM bank.account",
    )
    .await?;
    assert_eq!(off.as_deref(), Some(NO_RIGHT));
    assert_eq!(bank.money().await?, before);
    Ok(())
}

#[tokio::test]
async fn the_model_side_asks_only_in_its_own_conversation() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.with("Ada").await?;
    let elsewhere = bank.with("Ada").await?;
    let kabir = bank.with("Kabir").await?;
    let mut login = bank.login("bank_mcp").await?;
    carry(&mut login, ada.turn.expose()).await?;
    let ask = |customer: uuid::Uuid, conversation: uuid::Uuid| {
        format!(
            "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
             VALUES ('{customer}', gen_random_uuid(), '{conversation}', 'transfer', 'transfer', 1)"
        )
    };
    assert_eq!(
        refused(&mut login, &ask(ada.customer, ada.conversation)).await?,
        None
    );
    for statement in [
        ask(ada.customer, elsewhere.conversation),
        ask(kabir.customer, kabir.conversation),
    ] {
        assert_eq!(
            refused(&mut login, &statement).await?.as_deref(),
            Some(NO_RIGHT),
            "{statement}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_ended_turn_locks_nothing_and_reads_nothing() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.with("Ada").await?;
    let mut turn = bank.login("bank_mcp").await?;
    carry(&mut turn, ada.turn.expose()).await?;
    assert_eq!(
        refused(&mut turn, "SELECT bank.lock_customer()").await?,
        None
    );
    let mut intake = bank.login("intake").await?;
    carry(&mut intake, ada.intake.expose()).await?;
    let ended: bool = sqlx::query_scalar("SELECT bank.end_turn($1)")
        .bind(&ada.turn.hash()[..])
        .fetch_one(&mut intake)
        .await?;
    assert!(ended);
    assert_eq!(
        refused(&mut turn, "SELECT bank.lock_customer()")
            .await?
            .as_deref(),
        Some("CS001")
    );
    let accounts: i64 = sqlx::query_scalar("SELECT count(*) FROM bank.account")
        .fetch_one(&mut turn)
        .await?;
    assert_eq!(accounts, 0);
    // Ending it again ended nothing, and says so.
    let again: bool = sqlx::query_scalar("SELECT bank.end_turn($1)")
        .bind(&ada.turn.hash()[..])
        .fetch_one(&mut intake)
        .await?;
    assert!(!again);
    Ok(())
}

#[tokio::test]
async fn a_chat_dies_with_the_panel_session_above_it() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.with("Ada").await?;
    let mut panel = bank.login("panel").await?;
    carry(&mut panel, ada.panel.expose()).await?;
    sqlx::query("INSERT INTO bank.chat_code (customer_id, code_hash, panel_grant_id) VALUES ($1, sha256('code'), bank.current_grant())")
        .bind(ada.customer)
        .execute(&mut panel)
        .await?;
    let mut intake = bank.login("intake").await?;
    let redeem = "SELECT count(*) FROM bank.redeem_chat_code('code', sha256('bearer'))";
    let first: i64 = sqlx::query_scalar(redeem).fetch_one(&mut intake).await?;
    let second: i64 =
        sqlx::query_scalar("SELECT count(*) FROM bank.redeem_chat_code('code', sha256('other'))")
            .fetch_one(&mut intake)
            .await?;
    assert_eq!((first, second), (1, 0), "a code is good once");
    carry(&mut intake, "bearer").await?;
    let own: i64 = sqlx::query_scalar("SELECT count(*) FROM bank.customer")
        .fetch_one(&mut intake)
        .await?;
    assert_eq!(own, 1);
    let ended: bool = sqlx::query_scalar("SELECT bank.end_panel_session()")
        .fetch_one(&mut panel)
        .await?;
    assert!(ended);
    let after: i64 = sqlx::query_scalar("SELECT count(*) FROM bank.customer")
        .fetch_one(&mut intake)
        .await?;
    assert_eq!(after, 0);
    Ok(())
}

#[tokio::test]
async fn the_chat_side_opens_turns_for_its_own_customer_alone() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.with("Ada").await?;
    let kabir = bank.with("Kabir").await?;
    let mut intake = bank.login("intake").await?;
    carry(&mut intake, ada.intake.expose()).await?;
    let open = |customer: uuid::Uuid, audience: &str, seconds: u32| {
        format!(
            "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, conversation_id, audience, parent_grant_id, expires_at)
             VALUES (gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), '{customer}', '{}', '{audience}', bank.current_grant(),
               bank.bank_clock() + interval '{seconds} seconds')",
            ada.conversation
        )
    };
    assert_eq!(
        refused(&mut intake, &open(ada.customer, "bank_mcp", 120)).await?,
        None
    );
    assert_eq!(
        refused(&mut intake, &open(kabir.customer, "bank_mcp", 120))
            .await?
            .as_deref(),
        Some(NO_RIGHT)
    );
    assert_eq!(
        refused(&mut intake, &open(ada.customer, "panel", 120))
            .await?
            .as_deref(),
        Some(NO_RIGHT)
    );
    assert_eq!(
        refused(&mut intake, &open(ada.customer, "bank_mcp", 3600))
            .await?
            .as_deref(),
        Some("23514")
    );
    for statement in [
        "SELECT * FROM bank.account",
        "SELECT * FROM bank.pending_action",
        "SELECT bank.redeem_login_token('x')",
    ] {
        assert_eq!(
            refused(&mut intake, statement).await?.as_deref(),
            Some(NO_RIGHT),
            "{statement}"
        );
    }
    Ok(())
}
