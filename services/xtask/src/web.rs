//! The pages: built again and compared with what is committed, tested alone, tested in a browser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use countersign_testkit::checkout;

use crate::commands::test::{in_folder, must};
use crate::counts::{self, Counts};
use crate::tools;

/// What the services embed.
const DIST: &str = "web/dist";

/// Builds the pages from their sources, refuses a difference to the committed ones, runs the unit tests.
///
/// # Errors
/// When the build fails or differs.
pub fn build_and_test() -> anyhow::Result<Counts> {
    tools::node()?;
    install("web")?;
    let committed = contents(&checkout::root().join(DIST))?;
    must(in_folder("npm", "web").args(["run", "--silent", "build"]))?;
    let built = contents(&checkout::root().join(DIST))?;
    let different: BTreeSet<String> = committed
        .keys()
        .chain(built.keys())
        .filter(|path| committed.get(*path) != built.get(*path))
        .map(|path| path.display().to_string())
        .collect();
    if !different.is_empty() {
        bail!(
            "{DIST} is not what its sources build: {}. Commit what stands there now",
            different.into_iter().collect::<Vec<_>>().join(", ")
        );
    }
    println!("{DIST} is what its sources build: {} files", built.len());
    counts::of_tests(in_folder("npm", "web").args(["run", "--silent", "test"]))
}

/// Drives the pages of a running bank in Chromium.
///
/// # Errors
/// When a tool is missing or the runner breaks.
pub fn browser_tests(environment: &[(&'static str, String)]) -> anyhow::Result<Counts> {
    tools::node()?;
    let chromium = tools::chromium()?;
    install("web/e2e")?;
    let mut tests = in_folder("npm", "web/e2e");
    tests
        .args(["run", "--silent", "test"])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env("COUNTERSIGN_CHROMIUM", chromium)
        .env("COUNTERSIGN_XTASK", own_program()?);
    counts::of_tests(&mut tests)
}

/// Installs a folder's packages as its lock names them, unless that was done already.
pub fn install(folder: &str) -> anyhow::Result<()> {
    let folder_path = checkout::root().join(folder);
    let lock = fs::read(folder_path.join("package-lock.json"))
        .with_context(|| format!("read the lock in {folder}"))?;
    let mark = folder_path.join("node_modules/.countersign-lock");
    if fs::read(&mark).ok().as_deref() == Some(&lock[..]) {
        return Ok(());
    }
    println!("Installing the packages of {folder}");
    must(in_folder("npm", folder).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    fs::create_dir_all(folder_path.join("node_modules"))?;
    fs::write(mark, lock)?;
    Ok(())
}

fn contents(folder: &Path) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| format!("read {}", next.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder)?.to_path_buf();
                files.insert(name, fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

/// This program's file. Building the tests may have replaced it while it ran; the path is then still good for the new one.
fn own_program() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("find this program's own path")?;
    let replaced = program
        .to_str()
        .and_then(|path| path.strip_suffix(" (deleted)"));
    Ok(replaced.map_or_else(|| program.clone(), PathBuf::from))
}
