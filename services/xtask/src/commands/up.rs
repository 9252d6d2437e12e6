//! `cargo xtask up`: the whole bank on this machine, with one address to open.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use countersign_testkit::cage::Cage;
use countersign_testkit::installed;
use countersign_testkit::postgres::{self, Cluster, ClusterOptions, Durability, Location, Owner};
use countersign_testkit::server::{self, DATABASE_GROUP};
use countersign_testkit::spawn;
use countersign_testkit::stack::{
    self, DemoCustomer, ListenError, Logins, Ports, Service, Stack, StackOptions, programs, tokens,
};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::control::{Control, Question};
use crate::operator;
use crate::signals;
use crate::state::{Place, RuntimeFolder, State};

/// The bank's database in a cluster of its own.
const DATABASE: &str = "bank";
/// Oldest server that the schema runs on, as `server_version_num`.
const SERVER_VERSION_MIN: i32 = 150_000;
/// How often the cluster is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How `up` starts.
#[derive(Args, Debug)]
pub struct UpArguments {
    /// Delete everything an earlier start has kept, and begin with a new demo bank
    #[arg(long)]
    fresh: bool,
    /// First of the six ports
    #[arg(long, default_value_t = 8480, value_parser = clap::value_parser!(u16).range(1024..=65_530))]
    port_base: u16,
    /// A file with the assistant's model, key and guardrails as JSON, or `-` for standard input; without it the
    /// built-in model answers (docs/models.md)
    #[arg(long, value_name = "FILE")]
    assistant: Option<std::path::PathBuf>,
}

impl UpArguments {
    /// The assistant's settings. What stands in them is not repeated in an error: it may be a key.
    fn assistant(&self) -> anyhow::Result<Option<serde_json::Value>> {
        let Some(path) = &self.assistant else {
            return Ok(None);
        };
        let text = if path.as_os_str() == "-" {
            std::io::read_to_string(std::io::stdin()).context("read the assistant's settings")?
        } else {
            std::fs::read_to_string(path)
                .with_context(|| format!("read the assistant's settings in {}", path.display()))?
        };
        match serde_json::from_str(&text) {
            Ok(settings) => Ok(Some(settings)),
            Err(error) => anyhow::bail!(
                "the assistant's settings are no JSON: line {}, column {}",
                error.line(),
                error.column()
            ),
        }
    }
}

/// Starts the bank, prints its address, and keeps it running until it is asked to stop.
///
/// # Errors
/// When a port is taken, PostgreSQL is not found, or anything does not start; the message says what to do.
pub async fn run(place: Place, arguments: UpArguments) -> anyhow::Result<()> {
    let stop = signals::asked_to_stop();
    let mut stop = std::pin::pin!(stop);
    // Stopped on the way up, what had started is dropped, which ends it.
    let mut bank = tokio::select! {
        started = Running::start(place, &arguments) => started?,
        stopped = &mut stop => return Ok(stopped?),
    };
    println!("\n  Open  {}\n", bank.address(None).await?);
    println!(
        "The link works once, within {} minutes; `cargo xtask open` prints a fresh one (`--as kabir` for \
         another customer, `--operator NAME` for the operators' dashboard).\n{}\nStop with Ctrl-C. What happened is kept in {}; `cargo xtask up --fresh` begins \
         anew.",
        tokens::LOGIN_LINK_SECONDS / 60,
        isolation(),
        bank.state.shown(),
    );
    let outcome = tokio::select! {
        failed = bank.serve() => failed,
        stopped = &mut stop => stopped.map_err(Into::into),
    };
    let began = Instant::now();
    bank.stop();
    say(&format!("Stopped in {} ms.", began.elapsed().as_millis()));
    outcome
}

fn say(line: &str) {
    eprintln!("{line}");
}

fn what_to_do(error: ListenError) -> anyhow::Error {
    match error {
        ListenError::Taken(port) => anyhow::anyhow!(
            "port {port} is taken by another program; choose other ports with `cargo xtask up --port-base \
             18480`"
        ),
        ListenError::System(..) => error.into(),
    }
}

/// What keeps the processes apart on this machine, in one line.
fn isolation() -> String {
    let users = if spawn::effective_uid() == 0 {
        let (first, last) = (Service::ALL[0].uid(), Service::ALL[5].uid());
        format!("Each process runs as a user of its own ({first} to {last})")
    } else {
        "All processes run as your user, each with keys and a login of its own".to_owned()
    };
    let cages = if Cage::works() {
        "shut in by Landlock: none reads your files, binds a port, or calls any but its neighbour"
    } else {
        "and this system has no Landlock (Linux 6.7) to keep them from your files and from other ports"
    };
    format!("{users}, {cages}.")
}

/// The database server: a cluster of our own, or the one that `DATABASE_URL` names.
#[derive(Debug)]
struct Storage {
    cluster: Option<Cluster>,
    location: Location,
    database: String,
}

impl Storage {
    async fn open(state: &State, runtime: &RuntimeFolder, fresh: bool) -> anyhow::Result<Self> {
        if let Ok(url) = std::env::var("DATABASE_URL") {
            ensure!(
                !fresh,
                "--fresh deletes nothing on the server that DATABASE_URL names; drop the database there, or \
                 start without DATABASE_URL"
            );
            say("Using the PostgreSQL that DATABASE_URL names.");
            let location = Location::parse(&url)?;
            let database = location.database().unwrap_or(DATABASE).to_owned();
            return Ok(Self {
                cluster: None,
                location,
                database,
            });
        }
        let binaries = postgres::find()?;
        // Only now: a start that is refused has deleted nothing.
        if fresh {
            state.forget_everything()?;
        }
        say(&format!(
            "Starting PostgreSQL {} from {}.",
            binaries.major,
            binaries.folder.display()
        ));
        let options = ClusterOptions {
            folder: state.cluster_folder(Owner::choose()?),
            sockets: runtime.path().join("db"),
            socket_group: (spawn::effective_uid() == 0).then_some(DATABASE_GROUP),
            durability: Durability::Kept,
            connections_max: 200,
        };
        let cluster = Cluster::start(&binaries, &options).await?;
        let location = cluster.location().clone();
        let mut admin = PgConnection::connect_with(&location.as_admin("postgres")).await?;
        let there: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
                .bind(DATABASE)
                .fetch_one(&mut admin)
                .await?;
        if !there {
            admin
                .execute(AssertSqlSafe(format!("CREATE DATABASE {DATABASE}")))
                .await?;
        }
        admin.close().await?;
        Ok(Self {
            cluster: Some(cluster),
            location,
            database: DATABASE.to_owned(),
        })
    }

    fn is_running(&mut self) -> bool {
        self.cluster.as_mut().is_none_or(Cluster::is_running)
    }

    fn stop(&mut self) {
        if let Some(cluster) = &mut self.cluster {
            cluster.stop();
        }
    }
}

/// Brings the schema up to date, fills an empty bank, gives every login a new password.
async fn prepare(admin: &mut PgConnection, storage: &Storage) -> anyhow::Result<Logins> {
    let version: i32 = sqlx::query_scalar("SELECT current_setting('server_version_num')::integer")
        .fetch_one(&mut *admin)
        .await?;
    ensure!(
        version >= SERVER_VERSION_MIN,
        "the server runs PostgreSQL {}, and {} or newer is needed",
        version / 10_000,
        SERVER_VERSION_MIN / 10_000
    );
    installed::install(admin)
        .await
        .context("bring the bank's schema up to date")?;
    let empty: bool = sqlx::query_scalar("SELECT NOT EXISTS (SELECT FROM bank.customer)")
        .fetch_one(&mut *admin)
        .await?;
    if empty {
        server::load(admin, &server::demo_sql()?)
            .await
            .context("load the demo bank")?;
    }
    Logins::renew(admin, &storage.location, &storage.database).await
}

/// A bank that runs. Fields are dropped from first to last: processes before the server they use.
#[derive(Debug)]
struct Running {
    stack: Stack,
    control: Control,
    customers: Vec<DemoCustomer>,
    admin: PgConnection,
    storage: Storage,
    _runtime: RuntimeFolder,
    state: State,
}

impl Running {
    async fn start(place: Place, arguments: &UpArguments) -> anyhow::Result<Self> {
        let assistant = arguments.assistant()?;
        let state = State::open(place)?;
        let listeners =
            stack::open_listeners(Ports::From(arguments.port_base)).map_err(what_to_do)?;
        say("Building the bank's programs; the first time takes a few minutes.");
        let programs = programs::build(true)?;
        let runtime = state.make_runtime_folder()?;
        let storage = Storage::open(&state, &runtime, arguments.fresh).await?;
        let mut admin = PgConnection::connect_with(&storage.location.as_admin(&storage.database))
            .await
            .context("log in to the bank's database as its administrator")?;
        say("Preparing the bank's database.");
        let logins = prepare(&mut admin, &storage).await?;
        let customers = tokens::customers(&mut admin).await?;
        say("Starting panel, intake, door, bank-mcp, agent and dashboard.");
        let stack = Stack::start(StackOptions {
            listeners,
            folder: state.folder(),
            logins: &logins,
            customers: &customers,
            programs: &programs,
            agent_url: None,
            agent_program: None,
            assistant: assistant.as_ref(),
            provider: None,
            caps_are_far: false,
        })
        .await?;
        let control = Control::listen(runtime.path())?;
        Ok(Self {
            stack,
            control,
            customers,
            admin,
            storage,
            _runtime: runtime,
            state,
        })
    }

    /// Answers its starter's questions until PostgreSQL ends.
    async fn serve(&mut self) -> anyhow::Result<()> {
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            let (question, asker) = {
                // Kept over the looks: a question that is being read must not be dropped.
                let next = self.control.next();
                let mut next = std::pin::pin!(next);
                loop {
                    tokio::select! {
                        question = &mut next => break question?,
                        _ = look.tick() => ensure!(
                            self.storage.is_running(),
                            "PostgreSQL ended; its log is postgres/postgres.log in the bank's folder"
                        ),
                    }
                }
            };
            let answer = match question {
                Question::Open(name) => self.address(name.as_deref()).await,
                Question::Operate(name) => self.dashboard_address(&name).await,
                Question::Token(name) => self.token(&name).await,
                Question::Decide(decision) => operator::decide(&mut self.admin, &decision).await,
            };
            asker.answer(answer).await;
        }
    }

    fn stop(&mut self) {
        self.stack.stop();
        self.storage.stop();
    }

    async fn address(&mut self, name: Option<&str>) -> anyhow::Result<String> {
        let customer = match name {
            Some(name) => self.customer(name)?.id,
            None => {
                self.customers
                    .first()
                    .context("the bank has no customer")?
                    .id
            }
        };
        let token = tokens::login_token(&mut self.admin, customer).await?;
        Ok(format!(
            "{}/#{}",
            self.stack.origin(Service::Panel),
            token.expose()
        ))
    }

    async fn dashboard_address(&mut self, operator: &str) -> anyhow::Result<String> {
        let token = tokens::operator_token(&mut self.admin, operator).await?;
        Ok(format!(
            "{}/#{}",
            self.stack.origin(Service::Dashboard),
            token.expose()
        ))
    }

    async fn token(&mut self, name: &str) -> anyhow::Result<String> {
        let customer = self.customer(name)?.id;
        tokens::session_token(&mut self.admin, self.stack.keys(), customer).await
    }

    fn customer(&self, name: &str) -> anyhow::Result<&DemoCustomer> {
        let names = || {
            let names: Vec<&str> = self
                .customers
                .iter()
                .map(|customer| customer.name.as_str())
                .collect();
            format!(
                "no customer is called {name}; there are {}",
                names.join(", ")
            )
        };
        self.customers
            .iter()
            .find(|customer| customer.name.eq_ignore_ascii_case(name))
            .with_context(names)
    }
}
