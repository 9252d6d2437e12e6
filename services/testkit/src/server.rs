//! The PostgreSQL that tests share: one for a whole run, else one for each test process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context;
use countersign_domain::Secret;
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::sync::OnceCell;

use crate::installed;
use crate::postgres::{self, Cluster, ClusterOptions, Durability, Location};
use crate::spawn;

/// Names the server for a whole run: a superuser's address. `cargo xtask test` and `cargo xtask db` set it.
pub const TEST_SERVER_VARIABLE: &str = "COUNTERSIGN_TEST_SERVER";

/// Names a file of statements that the superuser runs in every test's database after it was made: a mutant of the bank's
/// SQL, put in the place of the function it was made from. `cargo xtask nightly sql-mutants` sets it.
pub const TEST_SQL_VARIABLE: &str = "COUNTERSIGN_TEST_SQL";

/// The group whose members reach a test server's socket, where services run as users of their own.
pub const DATABASE_GROUP: u32 = 60_710;

/// Connections of a test server: every test has pools for several services.
const CONNECTIONS_MAX: u32 = 600;

/// Number of the advisory lock under which one process makes a template.
const TEMPLATE_LOCK: i64 = 0x436f_756e_7465_7273;

/// What stands in a fresh database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The schema, and nobody's rows.
    Schema,
    /// The schema and the demo bank.
    Demo,
}

/// A PostgreSQL for tests, with its templates.
#[derive(Debug)]
pub struct TestServer {
    location: Location,
    schema_template: OnceCell<String>,
    demo_template: OnceCell<String>,
}

static CLUSTER: Mutex<Option<(Cluster, PathBuf)>> = Mutex::new(None);
static SHARED: OnceCell<TestServer> = OnceCell::const_new();

impl TestServer {
    /// The server of this process, started at the first call unless [`TEST_SERVER_VARIABLE`] names one.
    ///
    /// # Errors
    /// When PostgreSQL is not found or does not start.
    pub async fn shared() -> anyhow::Result<&'static Self> {
        SHARED
            .get_or_try_init(|| async {
                let location = match std::env::var(TEST_SERVER_VARIABLE) {
                    Ok(url) => Location::parse(&url)?,
                    Err(_) => start_for_this_process().await?,
                };
                Ok(Self::at(location))
            })
            .await
    }

    /// Makes a server that already runs the one of this process. To be called before [`Self::shared`].
    ///
    /// # Errors
    /// When this process has one already.
    pub fn share(location: Location) -> anyhow::Result<()> {
        SHARED
            .set(Self::at(location))
            .map_err(|_| anyhow::anyhow!("this process has a test server already"))
    }

    /// A server that already runs.
    #[must_use]
    pub fn at(location: Location) -> Self {
        Self {
            location,
            schema_template: OnceCell::new(),
            demo_template: OnceCell::new(),
        }
    }

    /// How to reach it.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The password of a login role on this server: anybody who holds the superuser's can work it out.
    #[must_use]
    pub fn password(&self, role: &str) -> Secret {
        let mut hash = Sha256::new();
        hash.update(b"countersign/test-password/v1\0");
        hash.update(role.as_bytes());
        hash.update(b"\0");
        // The address is the one thing that all processes of a run hold alike.
        hash.update(self.location.url("", &Secret::new(""), "").as_bytes());
        hash.update(self.location.superuser_password().expose().as_bytes());
        Secret::new(hex::encode(hash.finalize()))
    }

    /// Makes a database called `name` with `contents`, as a clone of this server's template.
    ///
    /// # Errors
    /// When the template or the clone cannot be made.
    pub async fn create(&self, name: &str, contents: Contents) -> anyhow::Result<()> {
        let template = self.template(contents).await?;
        let mut admin = self.admin("postgres").await?;
        admin
            .execute(AssertSqlSafe(format!(
                "CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy"
            )))
            .await
            .with_context(|| format!("clone {template}"))?;
        admin.close().await?;
        let mut connection = self.admin(name).await?;
        installed::grant_database(&mut connection).await?;
        if let Some(path) = std::env::var_os(TEST_SQL_VARIABLE) {
            let sql = fs::read_to_string(&path)
                .with_context(|| format!("read {}", path.to_string_lossy()))?;
            load(&mut connection, &sql).await?;
        }
        connection.close().await?;
        Ok(())
    }

    /// Logs in as the superuser.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn admin(&self, database: &str) -> anyhow::Result<PgConnection> {
        PgConnection::connect_with(&self.location.as_admin(database))
            .await
            .with_context(|| format!("log in to {database}"))
    }

    async fn template(&self, contents: Contents) -> anyhow::Result<&str> {
        let cell = match contents {
            Contents::Schema => &self.schema_template,
            Contents::Demo => &self.demo_template,
        };
        let name = cell
            .get_or_try_init(|| self.make_template(contents))
            .await?;
        Ok(name)
    }

    /// Makes the template, or finds the one that another process of this run made.
    async fn make_template(&self, contents: Contents) -> anyhow::Result<String> {
        let demo = match contents {
            Contents::Schema => None,
            Contents::Demo => Some(demo_sql()?),
        };
        let name = template_name(demo.as_deref());
        let mut admin = self.admin("postgres").await?;
        sqlx::query("SELECT pg_advisory_lock($1)")
            .bind(TEMPLATE_LOCK)
            .execute(&mut admin)
            .await?;
        let finished: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)",
        )
        .bind(&name)
        .fetch_one(&mut admin)
        .await?;
        if !finished {
            // What an interrupted process left is not marked as a template.
            admin
                .execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name}")))
                .await?;
            admin
                .execute(AssertSqlSafe(format!("CREATE DATABASE {name}")))
                .await?;
            let mut connection = self.admin(&name).await?;
            installed::install(&mut connection).await?;
            for role in installed::LOGIN_ROLES {
                installed::set_password(&mut connection, role, &self.password(role)).await?;
            }
            // As long as it can be: `Database::set_clock_ahead` keeps such sessions awake. The rest of a session has a test of its own.
            load(
                &mut connection,
                "UPDATE bank.setting SET session_idle_seconds = 43200",
            )
            .await?;
            if let Some(sql) = demo {
                load(&mut connection, &sql).await?;
            }
            connection.close().await?;
            admin
                .execute(AssertSqlSafe(format!(
                    "ALTER DATABASE {name} IS_TEMPLATE true"
                )))
                .await?;
        }
        // Closing the connection gives the lock back.
        admin.close().await?;
        Ok(name)
    }
}

/// The demo bank's rows, as SQL for the superuser.
///
/// # Errors
/// When the file cannot be read.
pub fn demo_sql() -> anyhow::Result<String> {
    let path = crate::checkout::root().join("fixtures/bank/demo.sql");
    fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
}

/// Runs a file of statements as the superuser in one transaction.
///
/// # Errors
/// When a statement fails; nothing is then left of the others.
pub async fn load(connection: &mut PgConnection, sql: &str) -> anyhow::Result<()> {
    let mut transaction = connection.begin().await?;
    transaction
        .execute(AssertSqlSafe(sql.to_owned()))
        .await
        .context("load the rows")?;
    transaction.commit().await?;
    Ok(())
}

/// A name that changes with everything that goes into a template.
fn template_name(demo: Option<&str>) -> String {
    let mut hash = Sha256::new();
    for migration in installed::MIGRATOR.iter() {
        hash.update(&migration.checksum);
    }
    for sql in [
        installed::ROLES_SQL,
        installed::STEP_UP_SQL,
        installed::EXECUTION_SQL,
        installed::DATABASE_SQL,
    ] {
        hash.update(Sha256::digest(sql.as_bytes()));
    }
    hash.update(Sha256::digest(demo.unwrap_or_default().as_bytes()));
    let kind = if demo.is_some() { "demo" } else { "schema" };
    format!("template_{kind}_{}", &hex::encode(hash.finalize())[..16])
}

/// Starts a throw-away cluster that ends with this process.
async fn start_for_this_process() -> anyhow::Result<Location> {
    let (cluster, folder) = start_throwaway(&std::env::temp_dir()).await?;
    let location = cluster.location().clone();
    *CLUSTER
        .lock()
        .map_err(|_| anyhow::anyhow!("another thread failed here"))? = Some((cluster, folder));
    at_exit(remove_cluster);
    Ok(location)
}

/// Starts a cluster that keeps nothing, in a new folder under `parent`, and sweeps those of dead processes.
/// The caller stops it and removes the folder.
///
/// # Errors
/// When PostgreSQL is not found or does not start.
pub async fn start_throwaway(parent: &Path) -> anyhow::Result<(Cluster, PathBuf)> {
    start_cluster(parent, Durability::Thrown).await
}

/// The same with a choice of what a crash may lose: tests that crash a server want one that keeps what it said it kept.
///
/// # Errors
/// When PostgreSQL is not found or does not start.
pub async fn start_cluster(
    parent: &Path,
    durability: Durability,
) -> anyhow::Result<(Cluster, PathBuf)> {
    sweep(parent);
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = parent.join(format!("countersign-test-{}-{count}", std::process::id()));
    let options = ClusterOptions {
        folder: folder.join("postgres"),
        sockets: folder.join("db"),
        socket_group: (spawn::effective_uid() == 0).then_some(DATABASE_GROUP),
        durability,
        connections_max: CONNECTIONS_MAX,
    };
    // Services of other users pass through to the socket's folder, and see nothing on the way.
    fs::create_dir(&folder).with_context(|| format!("make the folder {}", folder.display()))?;
    crate::files::set_mode(&folder, 0o711)?;
    let cluster = Cluster::start(&postgres::find()?, &options).await?;
    Ok((cluster, folder))
}

/// What the folders of throw-away clusters and banks begin with; the process id follows.
const SWEPT: [&str; 2] = ["countersign-test-", "countersign-bank-"];

/// Removes folders that a process which was killed left behind.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if owner_of(&name.to_string_lossy()).is_some_and(|pid| !spawn::is_alive(pid)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The process whose folder this is.
fn owner_of(name: &str) -> Option<i32> {
    let rest = SWEPT.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    rest.split('-').next()?.parse().ok()
}

extern "C" fn remove_cluster() {
    if let Ok(mut cluster) = CLUSTER.lock()
        && let Some((mut cluster, folder)) = cluster.take()
    {
        cluster.stop();
        let _ = fs::remove_dir_all(folder);
    }
}

#[expect(
    unsafe_code,
    reason = "a test process has no other end than exit, and statics are not dropped"
)]
fn at_exit(callback: extern "C" fn()) {
    // SAFETY: the callback is a function of this program and does not unwind.
    unsafe { libc::atexit(callback) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_dead_processes_go_and_others_stay() {
        let parent = std::env::temp_dir().join(format!("countersign-sweep-{}", std::process::id()));
        let own = format!("countersign-test-{}-0", std::process::id());
        // No process has the largest id that fits.
        let names = [
            "countersign-test-2147483647-0",
            "countersign-bank-2147483647-3",
            &own,
            "other-1",
        ];
        for name in names {
            fs::create_dir_all(parent.join(name)).expect("folder");
        }
        sweep(&parent);
        let left: Vec<bool> = names
            .iter()
            .map(|name| parent.join(name).exists())
            .collect();
        assert_eq!(left, [false, false, true, true]);
        fs::remove_dir_all(parent).expect("clean up");
    }
}
