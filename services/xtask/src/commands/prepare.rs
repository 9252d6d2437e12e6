//! `cargo xtask prepare`: the metadata of checked queries, made anew.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use countersign_testkit::checkout;
use countersign_testkit::postgres::Location;
use countersign_testkit::server::{Contents, TestServer, start_throwaway};

use crate::cargo;

/// Checks every query of the workspace against a fresh database and replaces the folder `.sqlx`. With
/// `only`, folders of `services` such as `store`, it checks those and adds to what is there.
///
/// # Errors
/// When a query does not fit the schema, or PostgreSQL is not found. The folder then stays as it was.
pub async fn run(only: Vec<String>) -> anyhow::Result<()> {
    let (mut cluster, folder) = start_throwaway(&std::env::temp_dir()).await?;
    let outcome = check_against(
        &cluster.admin_url("postgres"),
        &cluster.admin_url("bank"),
        &folder,
        only,
    )
    .await;
    cluster.stop();
    fs::remove_dir_all(&folder)?;
    outcome
}

async fn check_against(
    server_url: &str,
    bank_url: &str,
    scratch: &Path,
    only: Vec<String>,
) -> anyhow::Result<()> {
    let server = TestServer::at(Location::parse(server_url)?);
    server.create("bank", Contents::Schema).await?;
    let made = scratch.join("sqlx");
    fs::create_dir(&made)?;
    let whole = only.is_empty();
    let packages = if whole {
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
    let target = checkout::root().join(".sqlx");
    let count = move_files(&made, &target, whole)?;
    println!("{count} queries in {}", target.display());
    Ok(())
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

/// Puts the new files into `target`; when they are all there are, takes out what no query needs any more.
fn move_files(made: &Path, target: &Path, whole: bool) -> anyhow::Result<usize> {
    fs::create_dir_all(target)?;
    let mut names = std::collections::BTreeSet::new();
    for entry in fs::read_dir(made)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("query-") {
            names.insert(entry.file_name());
            let (from, to) = (entry.path(), target.join(entry.file_name()));
            if fs::read(&from)? != fs::read(&to).unwrap_or_default() {
                fs::copy(from, to)?;
            }
        }
    }
    ensure!(!names.is_empty(), "the check wrote no metadata");
    if !whole {
        return Ok(names.len());
    }
    for entry in fs::read_dir(target)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("query-") && !names.contains(&name) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(names.len())
}
