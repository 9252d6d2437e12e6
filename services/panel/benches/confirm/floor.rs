//! The floors, by PostgreSQL's own bench.

use std::process::Command;

use anyhow::{Context as _, ensure};
use countersign_testkit::postgres::{Cluster, find};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::{Figures, usage::Server};

/// Where the floors' tables are.
const DATABASE: &str = "postgres";
/// How often a client calls.
const CALLS: u64 = 400;

/// Both floors.
pub struct Floor {
    /// One row committed.
    pub nothing: Figures,
    /// The least that a Confirm can be, in one call.
    pub function: Figures,
}

/// Measures the floors; nothing where there is no `pgbench`.
pub async fn measure(
    cluster: &Cluster,
    server: &Server,
    people: u64,
    clients: usize,
) -> anyhow::Result<Option<Floor>> {
    let mut pgbench = find()?.folder.join("pgbench");
    if !pgbench.is_file() {
        pgbench = "/usr/bin/pgbench".into();
    }
    if !pgbench.is_file() {
        return Ok(None);
    }
    let mut admin = PgConnection::connect_with(&cluster.location().as_admin(DATABASE)).await?;
    let requests = CALLS * u64::try_from(clients)?;
    let rows = format!(
        "INSERT INTO floor.person (id, daily) SELECT g, 1000000000 FROM generate_series(1, {people}) g;
         INSERT INTO floor.account SELECT g, 1000000000 FROM generate_series(1, {people}) g;
         INSERT INTO floor.request (id, person, payee, amount, shown, ends)
           SELECT g, g * 7919 % {people} + 1, (g * 104729 + 1) % {people} + 1, 1 + g % 500, sha256(int8send(g)), now() + interval '1 day'
             FROM generate_series(0::bigint, {requests}) g WHERE g * 7919 % {people} <> (g * 104729 + 1) % {people};"
    );
    for statement in [
        include_str!("floor.sql"),
        &rows,
        "VACUUM ANALYZE",
        "CHECKPOINT",
    ] {
        sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
            .execute(&mut admin)
            .await?;
    }
    let url = cluster.admin_url(DATABASE);
    let one = |name: &str, script: &str| -> anyhow::Result<Figures> {
        let folder = std::env::temp_dir().join(format!("countersign-floor-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let file = folder.join(name);
        std::fs::write(&file, script)?;
        let before = server.used()?;
        let done = Command::new(&pgbench)
            .args(["--no-vacuum", "--protocol=prepared", "--jobs=2", "--log"])
            .arg(format!("--client={clients}"))
            .arg(format!("--transactions={CALLS}"))
            .args(["-D", "n=-1", "-D"])
            .arg(format!("people={people}"))
            .arg("-D")
            .arg(format!("clients={clients}"))
            .arg(format!("--log-prefix={}", folder.join("took").display()))
            .arg("-f")
            .arg(&file)
            .arg(&url)
            .output()?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        ensure!(
            done.status.success(),
            "pgbench failed: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        // Sessions that ended are counted when the server has noticed.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let used = server.used()? - before;
        let figures = read(&said, &folder, used);
        std::fs::remove_dir_all(&folder)?;
        figures
    };
    let nothing = one("nothing", "INSERT INTO floor.nothing (value) VALUES (1);\n")?;
    let function = one(
        "function",
        "\\set n :n + 1\n\\set id :n * :clients + :client_id\n\\set who :id * 7919 % :people + 1\nSELECT floor.b_function_full(:who, :id);\n",
    )?;
    let done: i64 = sqlx::query_scalar("SELECT count(*) FROM floor.receipt")
        .fetch_one(&mut admin)
        .await?;
    ensure!(
        u64::try_from(done)? * 10 > requests * 9,
        "the floor did not do its work: {done} of {requests}"
    );
    Ok(Some(Floor { nothing, function }))
}

/// Rate from what it said, percentiles from its log: the third field is the time in microseconds.
fn read(said: &str, folder: &std::path::Path, used: f64) -> anyhow::Result<Figures> {
    let rate = said
        .lines()
        .find_map(|line| line.strip_prefix("tps = "))
        .and_then(|rest| rest.split(' ').next())
        .context("a rate")?
        .parse()?;
    let mut took: Vec<u32> = Vec::new();
    for entry in std::fs::read_dir(folder)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with("took") {
            let text = std::fs::read_to_string(entry.path())?;
            took.extend(
                text.lines()
                    .filter_map(|line| line.split(' ').nth(2)?.parse::<u32>().ok()),
            );
        }
    }
    ensure!(!took.is_empty(), "pgbench kept no log");
    took.sort_unstable();
    let at = |share: usize| f64::from(took[took.len() * share / 100]) / 1e3;
    let count = f64::from(u32::try_from(took.len())?);
    Ok(Figures {
        rate,
        p50: at(50),
        p99: at(99),
        cpu: used / count * 1e6,
    })
}
