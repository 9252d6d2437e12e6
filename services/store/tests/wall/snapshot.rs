//! The grants as they stand in the live database, committed: a change of the wall is a change somebody reviews.

use sqlx::Row;

use crate::actors::Bank;

async fn lines(
    connection: &mut sqlx::PgConnection,
    statement: &'static str,
) -> anyhow::Result<String> {
    let rows = sqlx::query(statement).fetch_all(connection).await?;
    let mut lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    lines.sort();
    Ok(lines.join("\n"))
}

#[tokio::test]
async fn the_grants_are_the_committed_ones() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let mut admin = bank.database.admin().await?;
    let roles = lines(
        &mut admin,
        "SELECT concat_ws(' ', r.rolname, CASE WHEN rolsuper THEN 'SUPERUSER' END, CASE WHEN rolinherit THEN 'INHERIT' END,
             CASE WHEN rolcreaterole THEN 'CREATEROLE' END, CASE WHEN rolcreatedb THEN 'CREATEDB' END, CASE WHEN rolcanlogin THEN 'LOGIN' END,
             CASE WHEN rolreplication THEN 'REPLICATION' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END,
             (SELECT string_agg(s, ', ' ORDER BY s) FROM unnest(rolconfig) s))
           FROM pg_catalog.pg_roles r WHERE r.rolname IN ('bank_mcp','intake','panel','poster','sweeper','releaser','relay','checker','notary','dashboard','backup') OR r.rolname LIKE 'cs\\_%'",
    )
    .await?;
    let memberships = lines(
        &mut admin,
        "SELECT format('%s is a member of %s', m.rolname, g.rolname) FROM pg_catalog.pg_auth_members a
           JOIN pg_catalog.pg_roles m ON m.oid = a.member JOIN pg_catalog.pg_roles g ON g.oid = a.roleid
          WHERE m.rolname NOT LIKE 'pg\\_%' AND (m.rolname IN ('bank_mcp','intake','panel','poster','sweeper','releaser','relay','checker','notary','dashboard','backup') OR m.rolname LIKE 'cs\\_%'
             OR g.rolname LIKE 'cs\\_%')",
    )
    .await?;
    let tables = lines(
        &mut admin,
        "SELECT format('%s: %s %s', c.relname, coalesce(r.rolname, 'PUBLIC'), string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type))
           FROM pg_catalog.pg_class c, LATERAL aclexplode(c.relacl) a LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
          WHERE c.relnamespace = 'bank'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND r.rolname IS DISTINCT FROM 'cs_owner'
          GROUP BY c.relname, r.rolname",
    )
    .await?;
    let columns = lines(
        &mut admin,
        "SELECT format('%s: %s %s (%s)', c.relname, coalesce(r.rolname, 'PUBLIC'), a.privilege_type, string_agg(t.attname, ', ' ORDER BY t.attname))
           FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute t ON t.attrelid = c.oid AND NOT t.attisdropped,
             LATERAL aclexplode(t.attacl) a LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
          WHERE c.relnamespace = 'bank'::regnamespace GROUP BY c.relname, r.rolname, a.privilege_type",
    )
    .await?;
    let functions = lines(
        &mut admin,
        "SELECT format('%s(%s) of %s: %s', p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid), o.rolname,
             coalesce((SELECT string_agg(r.rolname, ', ' ORDER BY r.rolname) FROM pg_catalog.pg_roles r
               WHERE (r.rolname IN ('bank_mcp','intake','panel','poster','sweeper','releaser','relay','checker','notary','dashboard','backup') OR r.rolname LIKE 'cs\\_%')
                 AND r.oid <> p.proowner AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')), 'nobody else'))
           FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_roles o ON o.oid = p.proowner WHERE p.pronamespace = 'bank'::regnamespace",
    )
    .await?;
    let policies = lines(
        &mut admin,
        "SELECT format('%s.%s FOR %s TO %s%s%s', tablename, policyname, cmd, (SELECT string_agg(x::text, ', ' ORDER BY x::text) FROM unnest(roles) x),
             coalesce(' USING ' || qual, ''), coalesce(' WITH CHECK ' || with_check, ''))
           FROM pg_catalog.pg_policies WHERE schemaname = 'bank'",
    )
    .await?;
    let schemas = lines(
        &mut admin,
        "SELECT format('%s: %s %s', n.nspname, coalesce(r.rolname, 'PUBLIC'), string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type))
           FROM pg_catalog.pg_namespace n, LATERAL aclexplode(n.nspacl) a LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
          WHERE n.nspname IN ('bank', 'public') GROUP BY n.nspname, r.rolname",
    )
    .await?;
    let database = lines(
        &mut admin,
        "SELECT format('%s %s', coalesce(r.rolname, 'PUBLIC'), string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type))
           FROM pg_catalog.pg_database d, LATERAL aclexplode(d.datacl) a LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
          WHERE d.datname = current_database() AND r.rolname IS DISTINCT FROM (SELECT o.rolname FROM pg_catalog.pg_roles o WHERE o.oid = d.datdba)
          GROUP BY r.rolname",
    )
    .await?;
    let defaults = lines(
        &mut admin,
        "SELECT format('%s %s: %s', r.rolname, d.defaclobjtype, d.defaclacl::text) FROM pg_catalog.pg_default_acl d
           JOIN pg_catalog.pg_roles r ON r.oid = d.defaclrole",
    )
    .await?;
    let text = format!(
        "# Roles\n{roles}\n\n# Memberships\n{memberships}\n\n# Database\n{database}\n\n# Schemas\n{schemas}\n\n# Tables\n{tables}\n\n# Columns\n{columns}\n\n# Functions\n{functions}\n\n# Policies\n{policies}\n\n# Default privileges\n{defaults}\n"
    );
    insta::assert_snapshot!("grants", text);
    Ok(())
}
