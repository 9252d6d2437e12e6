//! The ledger's invariants, in the database itself.

use sqlx::{Connection, Executor};

use crate::actors::{Bank, carry, refused};

/// Gives the panel's login, for this database only, a function that writes one leg as the execution owner would.
async fn plant_one_legged_entry(bank: &Bank) -> anyhow::Result<()> {
    let mut admin = bank.database.admin().await?;
    admin
        .execute(
            "CREATE FUNCTION bank.one_leg(second_leg bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
             DECLARE t bank.transfer; next smallint;
             BEGIN
               SELECT * INTO t FROM bank.transfer x WHERE x.customer_id = bank.current_customer() AND x.kind = 'card_payment' ORDER BY x.transfer_id LIMIT 1;
               SELECT max(e.leg) + 1 INTO next FROM bank.entry e WHERE e.transfer_id = t.transfer_id;
               INSERT INTO bank.entry (customer_id, transfer_id, leg, book, amount_minor_units, currency)
               VALUES (t.customer_id, t.transfer_id, next, 'transit', 5, t.currency);
               IF second_leg <> 0 THEN
                 INSERT INTO bank.entry (customer_id, transfer_id, leg, book, amount_minor_units, currency)
                 VALUES (t.customer_id, t.transfer_id, next + 1::smallint, 'transit', second_leg, t.currency);
               END IF;
             END $$;
             GRANT CREATE ON SCHEMA bank TO cs_executor;
             ALTER FUNCTION bank.one_leg(bigint) OWNER TO cs_executor;
             GRANT EXECUTE ON FUNCTION bank.one_leg(bigint) TO panel;",
        )
        .await?;
    Ok(())
}

#[tokio::test]
async fn an_entry_without_its_counterpart_is_refused_at_commit_as_the_panel() -> anyhow::Result<()>
{
    let bank = Bank::start().await?;
    let ada = bank.with("Ada").await?;
    plant_one_legged_entry(&bank).await?;
    let mut panel = bank.login("panel").await?;
    // With the session there at COMMIT, and with it cleared before: the check must not see less than everything.
    for (second_leg, clear, commits) in [
        (0, false, false),
        (0, true, false),
        (-4, false, false),
        (-4, true, false),
        (-5, false, true),
        (-5, true, true),
    ] {
        let mut transaction = panel.begin().await?;
        carry(&mut transaction, ada.panel.expose()).await?;
        sqlx::query("SELECT bank.one_leg($1)")
            .bind(i64::from(second_leg))
            .execute(&mut *transaction)
            .await?;
        if clear {
            carry(&mut transaction, "").await?;
        }
        match transaction.commit().await {
            Ok(()) => assert!(commits, "{second_leg} {clear}"),
            Err(error) => {
                let code = error
                    .as_database_error()
                    .and_then(|error| error.code())
                    .map(|code| code.into_owned());
                assert_eq!(code.as_deref(), Some("CS010"), "{second_leg} {clear}");
                assert!(!commits);
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn entries_are_append_only_even_for_their_writer() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let mut admin = bank.database.admin().await?;
    for statement in [
        "UPDATE bank.entry SET amount_minor_units = amount_minor_units + 1",
        "DELETE FROM bank.entry",
        "TRUNCATE bank.entry CASCADE",
        "UPDATE bank.bank_event SET payload = '{}'",
    ] {
        let state = refused(&mut admin, statement).await?;
        let nothing_to_change = statement.contains("bank_event") && state.is_none();
        assert!(
            state.as_deref() == Some("CS011") || nothing_to_change,
            "{statement}: {state:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_demo_bank_s_books_balance() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let mut admin = bank.database.admin().await?;
    let unbalanced: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM (SELECT 1 FROM bank.entry GROUP BY customer_id, transfer_id, currency HAVING sum(amount_minor_units) <> 0) AS wrong",
    )
    .fetch_one(&mut admin)
    .await?;
    let drifted: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM bank.account_balance b WHERE b.balance_minor_units IS DISTINCT FROM
           (SELECT coalesce(sum(e.amount_minor_units), 0) FROM bank.entry e WHERE e.customer_id = b.customer_id AND e.account_id = b.account_id)",
    )
    .fetch_one(&mut admin)
    .await?;
    assert_eq!((unbalanced, drifted), (0, 0));
    Ok(())
}
