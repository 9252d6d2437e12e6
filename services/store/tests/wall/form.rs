//! The form of the wall: every table behind it, every policy in the one form that keeps its index.

use sqlx::Row;

use crate::actors::Bank;

#[tokio::test]
async fn every_table_has_row_level_security_for_its_owner_too() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let mut admin = bank.database.admin().await?;
    let open = sqlx::query(
        "SELECT relname FROM pg_catalog.pg_class WHERE relnamespace = 'bank'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
           AND NOT (relkind IN ('r', 'p') AND relrowsecurity AND relforcerowsecurity)",
    )
    .fetch_all(&mut admin)
    .await?;
    let open: Vec<String> = open.iter().map(|row| row.get(0)).collect();
    assert_eq!(open, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn a_policy_asks_for_the_customer_in_the_one_form_that_is_looked_up_once()
-> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let mut admin = bank.database.admin().await?;
    let policies = sqlx::query(
        "SELECT tablename, policyname, coalesce(qual, ''), coalesce(with_check, '') FROM pg_catalog.pg_policies WHERE schemaname = 'bank'",
    )
    .fetch_all(&mut admin)
    .await?;
    assert!(policies.len() > 40);
    for policy in policies {
        let name = format!(
            "{} on {}",
            policy.get::<String, _>(1),
            policy.get::<String, _>(0)
        );
        for expression in [policy.get::<String, _>(2), policy.get::<String, _>(3)] {
            for call in ["current_customer", "current_conversation", "current_grant"] {
                let calls = expression.matches(&format!("bank.{call}()")).count();
                let in_form = expression
                    .matches(&format!("= ( SELECT bank.{call}() AS {call})"))
                    .count();
                assert_eq!(calls, in_form, "{name}: {expression}");
            }
            assert!(
                !expression.contains("EXISTS") && !expression.contains(" IN "),
                "{name}: {expression}"
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_look_ups_are_stable_definers_with_their_paths_pinned() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let mut admin = bank.database.admin().await?;
    let functions = sqlx::query(
        "SELECT p.proname, p.provolatile::text, l.lanname, p.prosecdef, coalesce(array_to_string(p.proconfig, ' '), ''), r.rolcanlogin OR r.rolsuper
           FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang JOIN pg_catalog.pg_roles r ON r.oid = p.proowner
          WHERE p.pronamespace = 'bank'::regnamespace",
    )
    .fetch_all(&mut admin)
    .await?;
    for function in &functions {
        let name: String = function.get(0);
        let config: String = function.get(4);
        assert!(config.contains("search_path=\"\""), "{name}: {config}");
        assert!(
            !function.get::<bool, _>(5),
            "{name} belongs to a role that can log in or may do anything"
        );
        if function.get::<bool, _>(3) {
            assert!(config.contains("row_security=on"), "{name}: {config}");
        }
        if ["current_customer", "current_conversation", "current_grant"].contains(&name.as_str()) {
            assert_eq!(function.get::<String, _>(1), "s", "{name}");
            assert_eq!(function.get::<String, _>(2), "plpgsql", "{name}");
        }
    }
    assert!(functions.len() > 20);
    Ok(())
}
