//! `cargo xtask prepare`: the metadata of checked queries, made anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use countersign_testkit::checkout;
use countersign_testkit::postgres::Location;
use countersign_testkit::server::{Contents, TestServer, start_throwaway};

use serde_json::Value;
use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};

use crate::cargo;
use crate::counts::Counts;

/// What builds read instead of a database.
const FOLDER: &str = ".sqlx";

/// Checks every query of the workspace against a fresh database and replaces the folder `.sqlx`. With
/// `only`, folders of `services` such as `store`, it checks those and adds to what is there.
///
/// # Errors
/// When a query does not fit the schema, or PostgreSQL is not found. The folder then stays as it was.
pub async fn run(only: Vec<String>) -> anyhow::Result<()> {
    let whole = only.is_empty();
    let made = make(only).await?;
    let folder = checkout::root().join(FOLDER);
    fs::create_dir_all(&folder)?;
    let committed = read(&folder)?;
    for (name, text) in &made {
        if committed.get(name) != Some(text) {
            fs::write(folder.join(name), text)?;
        }
    }
    for name in committed
        .keys()
        .filter(|name| whole && !made.contains_key(*name))
    {
        fs::remove_file(folder.join(name))?;
    }
    println!("{} queries in {FOLDER}", made.len());
    Ok(())
}

/// Asks a fresh database about every committed query, and whether it answers what the metadata says.
///
/// This builds nothing: that each query in a source has its metadata is what every build checks.
///
/// # Errors
/// When a query does not fit the schema, or its metadata is not what the schema gives.
pub async fn check() -> anyhow::Result<Counts> {
    crate::tools::postgres()?;
    let committed = read(&checkout::root().join(FOLDER))?;
    let (mut cluster, scratch) = start_throwaway(&std::env::temp_dir()).await?;
    let outcome = check_on(&cluster.admin_url("postgres"), &committed).await;
    cluster.stop();
    fs::remove_dir_all(&scratch)?;
    outcome?;
    println!(
        "{FOLDER} holds what the schema says of {} queries",
        committed.len()
    );
    Ok(Counts::default())
}

async fn check_on(server_url: &str, committed: &Metadata) -> anyhow::Result<()> {
    let server = TestServer::at(Location::parse(server_url)?);
    server.create("bank", Contents::Schema).await?;
    compare(&server, committed).await
}

/// Whether a column that the query itself says can be null, or cannot, is left out: what the server guesses of it follows the
/// plan it happens to choose, and the macros do not look at it.
fn settled(mut described: Value) -> Value {
    let columns = described["columns"].as_array().cloned().unwrap_or_default();
    if let Some(nullable) = described["nullable"].as_array_mut() {
        for (guess, column) in nullable.iter_mut().zip(&columns) {
            let name = column["name"].as_str().unwrap_or_default();
            if name.ends_with(['?', '!']) {
                *guess = Value::Null;
            }
        }
    }
    described
}

async fn compare(server: &TestServer, committed: &Metadata) -> anyhow::Result<()> {
    let mut connection = server.admin("bank").await?;
    for (name, text) in committed {
        let metadata: Value = serde_json::from_str(text).with_context(|| format!("read {name}"))?;
        let query = metadata["query"]
            .as_str()
            .with_context(|| format!("{name} holds no query"))?;
        // What the macros themselves ask when they write the metadata.
        let described = connection
            .describe(AssertSqlSafe(query.to_owned()).into_sql_str())
            .await
            .with_context(|| format!("the schema has no room for the query of {name}"))?;
        ensure!(
            settled(serde_json::to_value(described)?) == settled(metadata["describe"].clone()),
            "{name} is not what the schema says of its query; run `cargo xtask prepare` and commit {FOLDER}"
        );
    }
    Ok(())
}

/// Metadata files by name.
type Metadata = BTreeMap<String, String>;

async fn make(only: Vec<String>) -> anyhow::Result<Metadata> {
    let (mut cluster, scratch) = start_throwaway(&std::env::temp_dir()).await?;
    let (server_url, bank_url) = (cluster.admin_url("postgres"), cluster.admin_url("bank"));
    let outcome = make_on(&server_url, &bank_url, &scratch, only).await;
    cluster.stop();
    fs::remove_dir_all(&scratch)?;
    outcome
}

async fn make_on(
    server_url: &str,
    bank_url: &str,
    scratch: &Path,
    only: Vec<String>,
) -> anyhow::Result<Metadata> {
    let server = TestServer::at(Location::parse(server_url)?);
    server.create("bank", Contents::Schema).await?;
    let made = scratch.join("sqlx");
    fs::create_dir(&made)?;
    let packages = if only.is_empty() {
        packages_with_queries()?
    } else {
        only
    };
    println!("Checking the queries of {}", packages.join(", "));
    let mut check = cargo::cargo();
    check
        .args(["check", "--all-targets", "--quiet"])
        .env("SQLX_OFFLINE", "false")
        .env("SQLX_OFFLINE_DIR", &made)
        .env("DATABASE_URL", bank_url);
    for package in &packages {
        touch(&checkout::root().join("services").join(package).join("src"))?;
        check.arg("--package").arg(format!("countersign-{package}"));
    }
    cargo::run(&mut check)?;
    let made = read(&made)?;
    ensure!(!made.is_empty(), "the check wrote no metadata");
    Ok(made)
}

fn read(folder: &Path) -> anyhow::Result<Metadata> {
    let mut files = Metadata::new();
    let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("query-") {
            files.insert(name, fs::read_to_string(entry.path())?);
        }
    }
    Ok(files)
}

/// Folders of `services` whose sources check queries.
fn packages_with_queries() -> anyhow::Result<Vec<String>> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(checkout::root().join("services"))? {
        let entry = entry?;
        if checks_queries(&entry.path())? {
            packages.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    packages.sort();
    ensure!(!packages.is_empty(), "no source checks a query");
    Ok(packages)
}

fn checks_queries(folder: &Path) -> anyhow::Result<bool> {
    for file in rust_files(folder)? {
        let text = fs::read_to_string(&file)?;
        let mut macros = ["query!(", "query_as!(", "query_scalar!("].iter();
        if macros.any(|name| {
            text.contains(&format!("sqlx::{name}")) || text.contains(&format!(" {name}"))
        }) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn rust_files(folder: &Path) -> anyhow::Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

/// Makes cargo build a crate again, so that its macros run: they write the metadata while they expand.
fn touch(sources: &Path) -> anyhow::Result<()> {
    for root in ["lib.rs", "main.rs"] {
        let path = sources.join(root);
        if path.exists() {
            fs::File::options()
                .append(true)
                .open(path)?
                .set_modified(std::time::SystemTime::now())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn metadata_that_is_not_the_schemas_is_refused() {
        let committed = read(&checkout::root().join(FOLDER)).expect("committed metadata");
        let (name, text) = committed
            .iter()
            .find(|(_, text)| text.contains("\"Uuid\""))
            .expect("some query is about an id");
        let (cluster, scratch) = start_throwaway(&std::env::temp_dir())
            .await
            .expect("starts");
        let url = cluster.admin_url("postgres");
        let server = TestServer::at(Location::parse(&url).expect("an address"));
        server.create("bank", Contents::Schema).await.expect("made");
        for (text, good) in [
            (text.clone(), true),
            (text.replacen("\"Uuid\"", "\"Text\"", 1), false),
            (text.replacen("bank.", "bank.no_such_", 1), false),
        ] {
            let outcome = compare(&server, &Metadata::from([(name.clone(), text)])).await;
            assert_eq!(outcome.is_ok(), good, "{outcome:?}");
        }
        drop(cluster);
        fs::remove_dir_all(scratch).expect("clean up");
    }
}
