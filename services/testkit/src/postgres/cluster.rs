//! One running PostgreSQL, a child of this process, on a socket in a private folder and nowhere else.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use countersign_domain::Secret;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, Executor, PgConnection};

use super::find::Binaries;
use super::owner::Owner;
use crate::files::{change_owner, make_folder, set_mode, write_private};
use crate::secrets::random_secret;
use crate::spawn::{self, Spawn};

/// The cluster's superuser.
pub const ADMIN: &str = "countersign_admin";

/// The number in the socket's file name; there is no TCP port.
const SOCKET_NUMBER: u16 = 5432;

/// Longest path of a Unix socket, without its terminating NUL.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Time a start may take, recovery after a crash included.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// Time a stop may take before the child is killed.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// What is lost when the machine stops at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing that was committed.
    Kept,
    /// Possibly everything: for tests alone.
    Thrown,
}

/// Where and how a cluster runs.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// A folder of this cluster alone; made when missing. Data, log and the superuser's password lie there.
    pub folder: PathBuf,
    /// The folder of the socket; made when missing.
    pub sockets: PathBuf,
    /// A group that may reach the socket. Without one only this process's user may.
    pub socket_group: Option<u32>,
    /// Whether commits reach the disk.
    pub durability: Durability,
    /// Connections that may be open at once.
    pub connections_max: u32,
}

/// How to reach a server: a cluster of our own by its socket, or one that somebody named.
#[derive(Clone, Debug)]
pub struct Location {
    options: PgConnectOptions,
    password: Secret,
}

impl Location {
    /// Reads `postgres://…`, with the credentials of a superuser.
    ///
    /// # Errors
    /// When it is no such address. The message does not repeat it.
    pub fn parse(url: &str) -> anyhow::Result<Self> {
        let Ok(options) = url.parse::<PgConnectOptions>() else {
            bail!("the database address is not of the form postgres://user:password@host/name");
        };
        // The options keep the password to themselves.
        let authority = url.split_once("://").map_or("", |(_, rest)| rest);
        let login = authority.split_once('@').map_or("", |(login, _)| login);
        let password = login.split_once(':').map_or("", |(_, password)| password);
        Ok(Self {
            options,
            password: Secret::new(password),
        })
    }

    /// How to log in as the superuser to `database`.
    #[must_use]
    pub fn as_admin(&self, database: &str) -> PgConnectOptions {
        self.options.clone().database(database)
    }

    /// The database that the address itself names.
    #[must_use]
    pub fn database(&self) -> Option<&str> {
        self.options.get_database()
    }

    /// The port, when the server is not reached by a socket in the file system.
    #[must_use]
    pub fn tcp_port(&self) -> Option<u16> {
        let by_socket = self.options.get_socket().is_some();
        (!by_socket).then(|| self.options.get_port())
    }

    /// The superuser's password, as it stands in the address.
    pub fn superuser_password(&self) -> &Secret {
        &self.password
    }

    /// The address for a login role, as services' configs take it. It holds the password.
    #[must_use]
    pub fn url(&self, role: &str, password: &Secret, database: &str) -> String {
        let password = password.expose();
        match self.options.get_socket() {
            Some(folder) => format!(
                "postgres://{role}:{password}@localhost:{}/{database}?host={}",
                self.options.get_port(),
                percent_encoded(&folder.to_string_lossy()),
            ),
            None => format!(
                "postgres://{role}:{password}@{}:{}/{database}",
                self.options.get_host(),
                self.options.get_port(),
            ),
        }
    }
}

fn percent_encoded(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// A running cluster. Dropping it stops the server and keeps the data.
#[derive(Debug)]
pub struct Cluster {
    child: Child,
    location: Location,
    durability: Durability,
}

impl Cluster {
    /// Starts the cluster of `options`, making its data folder when there is none, and waits for it.
    ///
    /// # Errors
    /// When the data is of another major version, initdb fails, or the server does not come up; the last
    /// lines of its log are then in the message.
    pub async fn start(binaries: &Binaries, options: &ClusterOptions) -> anyhow::Result<Self> {
        Self::start_as(Owner::choose()?, binaries, options).await
    }

    async fn start_as(
        owner: Owner,
        binaries: &Binaries,
        options: &ClusterOptions,
    ) -> anyhow::Result<Self> {
        make_folder(&options.folder, 0o700)?;
        owner.give(&options.folder)?;
        let password = initialise(binaries, options, owner)?;
        prepare_sockets(options, owner)?;
        let log = options.folder.join("postgres.log");
        let child = launch(binaries, options, owner, &log)?;
        let location = Location {
            options: PgConnectOptions::new_without_pgpass()
                .socket(&options.sockets)
                .port(SOCKET_NUMBER)
                .username(ADMIN)
                .password(password.expose()),
            password,
        };
        let mut cluster = Self {
            child,
            location,
            durability: options.durability,
        };
        cluster.wait_until_ready(&log).await?;
        Ok(cluster)
    }

    /// How to reach it.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The superuser's address for `database`. It holds the password.
    #[must_use]
    pub fn admin_url(&self, database: &str) -> String {
        self.location.url(ADMIN, &self.location.password, database)
    }

    /// Whether the server still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Stops the server: running statements are cancelled, the data is left in order.
    pub fn stop(&mut self) {
        let signal = match self.durability {
            Durability::Kept => libc::SIGINT,
            Durability::Thrown => libc::SIGQUIT,
        };
        spawn::stop(&mut self.child, signal, STOP_PATIENCE);
    }

    async fn wait_until_ready(&mut self, log: &Path) -> anyhow::Result<()> {
        let deadline = Instant::now() + START_PATIENCE;
        let options = self.location.as_admin("postgres");
        loop {
            if let Ok(mut connection) = PgConnection::connect_with(&options).await {
                // Logins reach the databases they are granted; these two belong to the superuser.
                connection
                    .execute("REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC")
                    .await
                    .context("close the server's own databases")?;
                connection.close().await?;
                return Ok(());
            }
            if !self.is_running() {
                bail!("PostgreSQL did not start. Its log ends:\n{}", tail(log));
            }
            if Instant::now() > deadline {
                bail!(
                    "PostgreSQL did not answer in time. Its log ends:\n{}",
                    tail(log)
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Makes the data folder unless it is there; returns the superuser's password.
fn initialise(
    binaries: &Binaries,
    options: &ClusterOptions,
    owner: Owner,
) -> anyhow::Result<Secret> {
    let data = options.folder.join("data");
    let password_file = options.folder.join("admin-password");
    if data.exists() {
        let version = fs::read_to_string(data.join("PG_VERSION")).unwrap_or_default();
        ensure!(
            version.trim() == binaries.major.to_string(),
            "the data in {} was made by PostgreSQL {}, and {} is what was found. Name the folder of the \
             other one in COUNTERSIGN_PG_BIN, or start over with --fresh",
            data.display(),
            version.trim(),
            binaries.major,
        );
        let password = fs::read_to_string(&password_file)
            .with_context(|| format!("read {}", password_file.display()))?;
        return Ok(Secret::new(password.trim()));
    }
    let password = random_secret()?;
    write_private(&password_file, password.expose())?;
    owner.give(&password_file)?;
    // Under another name until it is whole, so that an interrupted start is not taken for a bank.
    let unfinished = options.folder.join("data.unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    make_folder(&unfinished, 0o700)?;
    owner.give(&unfinished)?;
    let said_path = options.folder.join("initdb.log");
    let said = private_log(&said_path)?;
    let mut initdb = Spawn::new(&binaries.folder.join("initdb")).run_as(owner.run_as());
    initdb
        .command()
        .args([
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--no-locale",
            "--username",
            ADMIN,
        ])
        .arg("--pwfile")
        .arg(&password_file)
        .arg("--pgdata")
        .arg(&unfinished)
        .env("LC_ALL", "C")
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdout(said.try_clone()?)
        .stderr(said);
    if options.durability == Durability::Thrown {
        initdb.command().arg("--no-sync");
    }
    let status = initdb.start().context("start initdb")?.wait()?;
    if !status.success() {
        bail!("initdb failed. It said:\n{}", tail(&said_path));
    }
    fs::rename(&unfinished, &data)?;
    Ok(password)
}

/// Makes the socket's folder: its owner may write there, the group may pass through, others see nothing.
fn prepare_sockets(options: &ClusterOptions, owner: Owner) -> anyhow::Result<()> {
    let path = options.sockets.join(format!(".s.PGSQL.{SOCKET_NUMBER}"));
    ensure!(
        path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX,
        "the path {} is too long for a socket ({SOCKET_PATH_BYTES_MAX} bytes at most)",
        path.display(),
    );
    make_folder(&options.sockets, 0o700)?;
    if let Some(group) = options.socket_group {
        let uid = match owner {
            Owner::User { uid, .. } => uid,
            Owner::Same | Owner::Namespace => spawn::effective_uid(),
        };
        change_owner(&options.sockets, uid, group)?;
        set_mode(&options.sockets, 0o710)?;
    } else {
        owner.give(&options.sockets)?;
    }
    Ok(())
}

fn launch(
    binaries: &Binaries,
    options: &ClusterOptions,
    owner: Owner,
    log: &Path,
) -> anyhow::Result<Child> {
    let said = private_log(log)?;
    let death_signal = match options.durability {
        Durability::Kept => libc::SIGINT,
        Durability::Thrown => libc::SIGQUIT,
    };
    let mut postgres = Spawn::new(&binaries.folder.join("postgres"))
        .run_as(owner.run_as())
        .death_signal(death_signal);
    let command = postgres.command();
    command.arg("-D").arg(options.folder.join("data"));
    command.arg("-k").arg(&options.sockets);
    let mut set = |name: &str, value: &str| {
        command.arg("-c").arg(format!("{name}={value}"));
    };
    set("listen_addresses", "");
    set("port", &SOCKET_NUMBER.to_string());
    // The folder decides who comes in.
    set("unix_socket_permissions", "0777");
    set("max_connections", &options.connections_max.to_string());
    set("timezone", "UTC");
    set("log_timezone", "UTC");
    // What failed, without the statement or the row: those hold customers' words.
    set("log_error_verbosity", "terse");
    set("log_min_error_statement", "panic");
    if options.durability == Durability::Thrown {
        set("fsync", "off");
        set("synchronous_commit", "off");
        set("full_page_writes", "off");
        set("autovacuum", "off");
    }
    command
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdout(said.try_clone()?)
        .stderr(said);
    postgres.start().context("start postgres")
}

/// Opens a log that only its owner may read, to write at its end.
fn private_log(path: &Path) -> anyhow::Result<File> {
    fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("open {}", path.display()))
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back() {
        let location = Location {
            options: PgConnectOptions::new_without_pgpass()
                .socket("/run/some folder/db")
                .port(SOCKET_NUMBER),
            password: Secret::new("hunter2"),
        };
        let url = location.url("panel", &Secret::new("0badc0de"), "bank");
        let read = Location::parse(&url).expect("an address").options;
        assert_eq!(
            read.get_socket().map(PathBuf::as_path),
            Some(Path::new("/run/some folder/db"))
        );
        assert_eq!(
            (read.get_username(), read.get_database()),
            ("panel", Some("bank"))
        );
        let error = Location::parse("postgres//hunter2").expect_err("no address");
        assert!(!format!("{error:#}").contains("hunter2"));
    }

    #[tokio::test]
    async fn a_second_start_keeps_the_data_and_another_version_is_refused() {
        let folder =
            std::env::temp_dir().join(format!("countersign-cluster-{}", std::process::id()));
        let options = ClusterOptions {
            folder: folder.clone(),
            sockets: folder.join("sockets"),
            socket_group: None,
            durability: Durability::Kept,
            connections_max: 10,
        };
        let binaries = super::super::find().expect("installed");
        let mut cluster = Cluster::start(&binaries, &options).await.expect("starts");
        let admin = cluster.location().as_admin("postgres");
        let mut connection = PgConnection::connect_with(&admin).await.expect("login");
        connection
            .execute("CREATE TABLE kept (x int)")
            .await
            .expect("create");
        cluster.stop();
        assert!(!cluster.is_running());
        let began = Instant::now();
        let cluster = Cluster::start(&binaries, &options)
            .await
            .expect("starts again");
        assert!(began.elapsed() < START_PATIENCE / 2);
        let admin = cluster.location().as_admin("postgres");
        let mut connection = PgConnection::connect_with(&admin).await.expect("login");
        connection
            .execute("SELECT x FROM kept")
            .await
            .expect("kept");
        let wrong = admin.clone().password("wrong");
        assert!(
            PgConnection::connect_with(&wrong).await.is_err(),
            "passwords are asked for"
        );
        drop(cluster);
        let newer = Binaries {
            major: binaries.major + 1,
            ..binaries
        };
        let error = Cluster::start(&newer, &options)
            .await
            .expect_err("another version");
        assert!(format!("{error:#}").contains("--fresh"), "{error:#}");
        fs::remove_dir_all(folder).expect("clean up");
    }

    #[tokio::test]
    async fn where_namespaces_are_forbidden_root_runs_it_as_another_user() {
        let Some(owner) = Owner::other_user().filter(|_| spawn::effective_uid() == 0) else {
            return;
        };
        let folder = std::env::temp_dir().join(format!("countersign-other-{}", std::process::id()));
        make_folder(&folder, 0o711).expect("folder");
        let options = ClusterOptions {
            folder: folder.join("postgres"),
            sockets: folder.join("db"),
            socket_group: Some(crate::server::DATABASE_GROUP),
            durability: Durability::Thrown,
            connections_max: 10,
        };
        let binaries = super::super::find().expect("installed");
        let cluster = Cluster::start_as(owner, &binaries, &options)
            .await
            .expect("starts");
        let status = format!("/proc/{}/status", cluster.child.id());
        let status = fs::read_to_string(status).expect("runs");
        assert!(!status.contains("Uid:\t0\t"), "{status}");
        drop(cluster);
        fs::remove_dir_all(folder).expect("clean up");
    }
}
