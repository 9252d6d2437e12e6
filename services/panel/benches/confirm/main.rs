//! What a Confirm costs over HTTP, beside the least it can be, in one run on one machine: `cargo bench -p countersign-panel --bench confirm`.
//!
//! PostgreSQL flushes what it commits. Every press is somebody's first and only one, its card was drawn before; nothing waits for a passkey
//! and nothing can be undone. Compare the ratios of one run; the milliseconds belong to the machine.

#![expect(
    clippy::float_arithmetic,
    reason = "durations and ratios; no money here"
)]

mod floor;
mod press;
mod usage;

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::Context as _;
use countersign_testkit::postgres::Durability;
use countersign_testkit::server::{TestServer, start_cluster};
use countersign_testkit::{Database, spawn::Spawn};
use serde_json::json;
use sqlx::Connection as _;

/// Presses at once.
const CLIENTS: usize = 32;
/// A private key of the log, for this bench alone: the 32 bytes are all 9.
const LOG_KEY_PEM: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJ\n-----END PRIVATE KEY-----\n";

/// What is asked for on the command line.
struct Arguments {
    people: u64,
    /// How many entries the ledger has before: the first is what the later ones are compared with.
    entries: Vec<u64>,
}

/// Figures of one kind of transaction.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Transactions a second.
    pub rate: f64,
    /// Half were faster, in milliseconds.
    pub p50: f64,
    /// One in a hundred was slower, in milliseconds.
    pub p99: f64,
    /// Processor time of each on the servers' side, in microseconds.
    pub cpu: f64,
}

impl Figures {
    fn print(&self, name: &str) {
        println!(
            "{name:<44} {:>8.0}/s   p50 {:>7.2} ms   p99 {:>7.2} ms   CPU {:>6.0} µs",
            self.rate, self.p50, self.p99, self.cpu
        );
    }
}

fn arguments() -> anyhow::Result<Arguments> {
    let mut read = Arguments {
        people: 10_000,
        entries: vec![10_000, 10_000_000],
    };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        match name.as_str() {
            "--small" => {
                read.people = 4_000;
                read.entries = vec![10_000, 400_000];
            }
            "--people" => read.people = given.next().context("--people wants a number")?.parse()?,
            "--entries" => {
                read.entries = given
                    .next()
                    .context("--entries wants numbers with commas between")?
                    .split(',')
                    .map(str::parse)
                    .collect::<Result<_, _>>()?;
            }
            // What cargo hands to every bench.
            _ => {}
        }
    }
    Ok(read)
}

fn main() -> anyhow::Result<()> {
    let arguments = arguments()?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?
        .block_on(run(&arguments))
}

async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    println!(
        "{CLIENTS} at once, {} customers, everything flushed",
        arguments.people
    );
    let (mut cluster, folder) = start_cluster(&std::env::temp_dir(), Durability::Kept).await?;
    let server = usage::Server::of(&folder.join("postgres/data"))?;
    let floor = floor::measure(&cluster, &server, arguments.people, CLIENTS).await?;
    if let Some(floor) = &floor {
        floor.nothing.print("floor: one row committed");
        floor
            .function
            .print("b_function_full: one call, nothing else");
    } else {
        println!("There is no pgbench beside PostgreSQL's programs: the floors are not measured");
    }
    let mut whole = Vec::new();
    for entries in &arguments.entries {
        // Each over a database of its own: a press is somebody's first.
        let test_server = Box::leak(Box::new(TestServer::at(cluster.location().clone())));
        let database = Database::fresh_on(test_server).await?;
        let figures = measure(&database, &server, arguments.people, *entries).await?;
        figures.print(&format!("POST Confirm, {entries} entries before"));
        whole.push(figures);
    }
    cluster.stop();
    std::fs::remove_dir_all(&folder)?;
    bars(floor.map(|floor| floor.function), &whole);
    Ok(())
}

/// The bars of this path, and whether this run meets them.
fn bars(function: Option<Figures>, whole: &[Figures]) {
    let said = |met: bool| if met { "met" } else { "MISSED" };
    let first = whole[0];
    if let Some(function) = function {
        let (share, cost) = (first.rate / function.rate, first.cpu / function.cpu);
        println!(
            "{:<6} half of the function's rate, or 2.5 times its processor time: {:.0} %, {cost:.1} times",
            said(share >= 0.5 || cost <= 2.5),
            share * 100.0
        );
    }
    println!(
        "{:<6} p99 of 100 ms: {:.1} ms",
        said(first.p99 <= 100.0),
        first.p99
    );
    for later in &whole[1..] {
        let growth = later.p50 / first.p50;
        println!(
            "{:<6} p50 over the larger ledger, 1.1 times at most: {growth:.2} times",
            said(growth <= 1.1)
        );
    }
}

async fn measure(
    database: &Database,
    server: &usage::Server,
    people: u64,
    entries: u64,
) -> anyhow::Result<Figures> {
    let mut admin = database.admin().await?;
    sqlx::raw_sql(include_str!("people.sql"))
        .execute(&mut admin)
        .await
        .context("people.sql")?;
    let mut load = admin.begin().await?;
    // What is made here balances by itself; the triggers would look at each of the entries.
    sqlx::raw_sql("SET LOCAL session_replication_role = replica")
        .execute(&mut *load)
        .await?;
    sqlx::query("SELECT bank.bench_people($1, $2)")
        .bind(i64::try_from(people)?)
        .bind(i64::try_from(entries)?)
        .execute(&mut *load)
        .await?;
    load.commit().await?;
    sqlx::raw_sql("VACUUM ANALYZE").execute(&mut admin).await?;
    sqlx::raw_sql("CHECKPOINT").execute(&mut admin).await?;

    let state = std::env::temp_dir().join(format!("countersign-bench-{}", std::process::id()));
    std::fs::create_dir_all(&state)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let mut panel = start(database, &listener, port, &state)?;
    let cards =
        tokio::task::spawn_blocking(move || press::draw_all(port, people, CLIENTS)).await??;
    let before = (server.used()?, usage::of_process(panel.id())?);
    let pressed = tokio::task::spawn_blocking(move || press::all(port, cards, CLIENTS)).await??;
    let used = (server.used()? - before.0) + (usage::of_process(panel.id())? - before.1);
    panel.kill()?;
    panel.wait()?;
    std::fs::remove_dir_all(state)?;
    let executed: i64 = sqlx::query_scalar("SELECT count(*) FROM bank.execution")
        .fetch_one(&mut admin)
        .await?;
    anyhow::ensure!(
        u64::try_from(executed)? == people,
        "{executed} of {people} presses were executed"
    );
    Ok(pressed.figures(used))
}

fn start(
    database: &Database,
    listener: &TcpListener,
    port: u16,
    state: &Path,
) -> anyhow::Result<Child> {
    let config = json!({
        "listen": {"inherited_fds": [listener.as_raw_fd()]},
        "panel_origin": format!("http://localhost:{port}"),
        "chat_origin": "http://127.0.0.1:9",
        "database_url": database.url("panel"),
        "poster_database_url": database.url("poster"),
        "sweeper_database_url": database.url("sweeper"),
        "releaser_database_url": database.url("releaser"),
        "relay_database_url": database.url("relay"),
        "notices": {},
        "checker_database_url": database.url("checker"),
        "name_check": null,
        "bank_phone": "+00 000 0100",
        "notary_database_url": database.url("notary"),
        "notary_key": {"key_id": "log-bench", "pkcs8_pem": LOG_KEY_PEM},
        "state_folder": state,
        "log_origin": "bank.example/log",
        "demo": null,
    });
    let mut spawn = Spawn::new(Path::new(env!("CARGO_BIN_EXE_countersign-panel")))
        .inherit(listener)
        .input(config.to_string().into_bytes());
    spawn
        .command()
        .arg("--config-stdin")
        .env("RUST_LOG", "warn")
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = spawn.start()?;
    let mut first = String::new();
    BufReader::new(child.stdout.take().context("piped")?).read_line(&mut first)?;
    Ok(child)
}
