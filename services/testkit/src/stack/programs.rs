//! The services' programs, built when they are not there or not fresh.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use super::service::Service;
use crate::checkout;

/// Set by a runner that has just built the programs, so that each test process need not ask cargo again.
pub const BUILT_VARIABLE: &str = "COUNTERSIGN_PROGRAMS_BUILT";

/// The program that tests start in the agent's place.
const ATTACKER: &str = "countersign-hostile-agent";

/// What `build_fixtures` builds.
const FIXTURES: [&str; 3] = [
    "countersign-door",
    "countersign-conforming-server",
    "countersign-misbehaving-server",
];

/// Builds every service's program and returns the folder they lie in. Cargo's progress shows on standard
/// error when `loud`.
///
/// # Errors
/// When the build fails; cargo's words are then in the message unless they were shown.
pub fn build(loud: bool) -> anyhow::Result<PathBuf> {
    let names = Service::ALL.map(|service| format!("countersign-{}", service.name()));
    build_programs(&names, loud)
}

/// Builds the program that attacks from the agent's place, and returns its path.
///
/// # Errors
/// As [`build`].
pub fn build_attacker(loud: bool) -> anyhow::Result<PathBuf> {
    Ok(build_programs(&[ATTACKER.to_owned()], loud)?.join(ATTACKER))
}

/// Builds the servers that tests put behind a door, and the door, and returns the folder they lie in.
///
/// # Errors
/// As [`build`].
pub fn build_fixtures(loud: bool) -> anyhow::Result<PathBuf> {
    build_programs(&FIXTURES.map(str::to_owned), loud)
}

fn build_programs(names: &[String], loud: bool) -> anyhow::Result<PathBuf> {
    let folder = folder()?;
    if std::env::var_os(BUILT_VARIABLE).is_some() {
        return Ok(folder);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .arg("build")
        .current_dir(checkout::root())
        .stdin(Stdio::null());
    for name in names {
        build.args(["--package", name, "--bin", name]);
    }
    // What cargo told this program about its own package must not reach another build.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") {
            build.env_remove(&name);
        }
    }
    if loud {
        let status = build.status().context("start cargo")?;
        ensure!(status.success(), "the build failed");
    } else {
        let output = build.output().context("start cargo")?;
        if !output.status.success() {
            bail!(
                "the build of the services failed:\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    Ok(folder)
}

/// The folder of debug programs, found by where this program itself lies.
///
/// # Errors
/// When this program's own path is not known.
pub fn folder() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("find this program's own path")?;
    let folder = own.parent().context("a program lies in a folder")?;
    // Tests lie one folder deeper than programs.
    let folder = if folder.ends_with("deps") {
        folder.parent().unwrap_or(folder)
    } else {
        folder
    };
    Ok(folder.to_path_buf())
}
