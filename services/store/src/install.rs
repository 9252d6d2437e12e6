//! Puts roles, schema and execution path into a database. For the launcher and the tests; a service never does it.

use countersign_domain::Secret;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, migrate::Migrator};

/// The migrations, forward only, under the roles of [`ROLES_SQL`].
pub static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

/// The cluster-wide roles, idempotent.
pub const ROLES_SQL: &str = include_str!("../sql/roles.sql");

/// Rights on one database; needed again in every clone of a template, which does not inherit them.
pub const DATABASE_SQL: &str = include_str!("../sql/database.sql");

/// When a step-up is due and which answer counts; applied before the execution path, which calls it.
pub const STEP_UP_SQL: &str = include_str!("../../../migrations/execution/step_up.sql");

/// The execution path, applied after the migrations.
pub const EXECUTION_SQL: &str = concat!(
    include_str!("../../../migrations/execution/notices.sql"),
    include_str!("../../../migrations/execution/limits.sql"),
    include_str!("../../../migrations/execution/name_checks.sql"),
    include_str!("../../../migrations/execution/operators.sql"),
    include_str!("../../../migrations/execution/older_copy.sql"),
    include_str!("../../../migrations/execution/execution.sql"),
);

/// The roles that log in, one per process or loop.
pub const LOGIN_ROLES: [&str; 10] = [
    "bank_mcp",
    "intake",
    "panel",
    "poster",
    "sweeper",
    "releaser",
    "relay",
    "checker",
    "notary",
    "dashboard",
];

/// The role that copies the bank. No process logs in as it.
pub const BACKUP_ROLE: &str = "backup";

/// Why a database could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A migration did not apply.
    #[error("apply the migrations")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// A statement failed.
    #[error("install roles and schema")]
    Database(#[from] sqlx::Error),
}

/// Makes the roles, applies the migrations and the execution path. The connection is an administrator's; safe to repeat.
///
/// # Errors
/// When a statement fails; the migrations are then as far as they came, and a repeat goes on from there.
pub async fn install(connection: &mut PgConnection) -> Result<(), InstallError> {
    connection.execute(ROLES_SQL).await?;
    MIGRATOR.run_direct(None, &mut *connection, false).await?;
    let mut transaction = connection.begin().await?;
    transaction.execute(STEP_UP_SQL).await?;
    transaction.execute(EXECUTION_SQL).await?;
    transaction.commit().await?;
    connection.execute(DATABASE_SQL).await?;
    Ok(())
}

/// Repeats the rights on the database in a clone of a template.
///
/// # Errors
/// When a statement fails.
pub async fn grant_database(connection: &mut PgConnection) -> Result<(), InstallError> {
    connection.execute(DATABASE_SQL).await?;
    Ok(())
}

/// Gives a login role its password.
///
/// # Errors
/// When the role is neither one of [`LOGIN_ROLES`] nor [`BACKUP_ROLE`], or the statement fails.
pub async fn set_password(
    connection: &mut PgConnection,
    role: &str,
    password: &Secret,
) -> Result<(), InstallError> {
    if !LOGIN_ROLES.contains(&role) && role != BACKUP_ROLE {
        return Err(sqlx::Error::Protocol("not a login role of the bank".to_owned()).into());
    }
    // ALTER ROLE takes no parameters: the server quotes both parts for us.
    let statement: String =
        sqlx::query_scalar("SELECT format('ALTER ROLE %I PASSWORD %L', $1, $2)")
            .bind(role)
            .bind(password.expose())
            .fetch_one(&mut *connection)
            .await?;
    connection.execute(AssertSqlSafe(statement)).await?;
    Ok(())
}
