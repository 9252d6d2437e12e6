//! The programs that the tests need: found, or installed where this system lets us, and said so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use countersign_testkit::{checkout, postgres, spawn};

use crate::commands::test::must;

/// Oldest Node.js that the pages' build and tests run on.
const NODE_MAJOR_MIN: u32 = 20;

/// PostgreSQL, from Debian's packages when it is missing.
///
/// # Errors
/// When it is neither there nor installable.
pub fn postgres() -> anyhow::Result<()> {
    if postgres::find().is_err() && can_install() {
        install(&["postgresql"])?;
    }
    let found = postgres::find()?;
    println!("PostgreSQL {} in {}", found.major, found.folder.display());
    Ok(())
}

/// Node.js and npm, from Debian's packages when they are missing.
///
/// # Errors
/// When they are neither there nor installable, or too old.
pub fn node() -> anyhow::Result<()> {
    if (on_path("node").is_none() || on_path("npm").is_none()) && can_install() {
        install(&["nodejs", "npm"])?;
    }
    let said = Command::new("node").arg("--version").output().with_context(|| {
        format!("Node.js {NODE_MAJOR_MIN} or newer is needed; install it from nodejs.org or your system")
    })?;
    let said = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    let major = said
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|text| text.parse::<u32>().ok());
    ensure!(
        major.is_some_and(|major| major >= NODE_MAJOR_MIN),
        "Node.js {NODE_MAJOR_MIN} or newer is needed, and {said} is installed"
    );
    println!("Node.js {said}");
    Ok(())
}

/// Chromium's program: `COUNTERSIGN_CHROMIUM`, else what is installed, else from Debian's packages.
///
/// # Errors
/// When there is none and none can be installed.
pub fn chromium() -> anyhow::Result<PathBuf> {
    if let Some(named) = std::env::var_os("COUNTERSIGN_CHROMIUM") {
        return Ok(PathBuf::from(named));
    }
    let find = || {
        ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find_map(on_path)
    };
    if find().is_none() && can_install() {
        install(&["chromium"])?;
    }
    let found = find().context(
        "no Chromium is installed; install the package chromium, or name its program in COUNTERSIGN_CHROMIUM",
    )?;
    println!("Chromium in {}", found.display());
    Ok(found)
}

/// Python with its venv module, from Debian's packages when it is missing.
///
/// # Errors
/// When it is neither there nor installable.
pub fn python() -> anyhow::Result<()> {
    let works = || {
        let mut probe = Command::new("python3");
        probe.args([
            "-c",
            "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 10))",
        ]);
        probe
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    if !works() && can_install() {
        install(&["python3", "python3-venv"])?;
    }
    ensure!(
        works(),
        "Python 3.10 or newer with its venv module is needed (Debian: python3-venv)"
    );
    Ok(())
}

/// The programs of the Python packages that `requirements` pins, in an environment of their own under `target`.
/// Returns the folder the programs are in.
///
/// # Errors
/// When Python is missing or a package cannot be installed.
pub fn python_packages(name: &str, requirements: &Path) -> anyhow::Result<PathBuf> {
    let wanted = fs::read(requirements)?;
    let folder = checkout::root().join("target").join(name);
    let programs = folder.join("bin");
    let mark = folder.join("requirements.installed");
    if fs::read(&mark).ok().as_deref() != Some(&wanted[..]) {
        println!("Installing Python packages into target/{name}");
        python()?;
        let mut venv = Command::new("python3");
        must(venv.args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut pip = Command::new(programs.join("python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "-r",
        ]);
        must(pip.arg(requirements))?;
        fs::write(mark, wanted)?;
    }
    Ok(programs)
}

/// A program's file on the path.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

fn can_install() -> bool {
    spawn::effective_uid() == 0 && on_path("apt-get").is_some()
}

fn install(packages: &[&str]) -> anyhow::Result<()> {
    println!("Installing {} with apt-get", packages.join(" and "));
    let mut update = Command::new("apt-get");
    // An old list of packages often still serves; the install says when it does not.
    let _ = update
        .args(["update", "-qq"])
        .stdout(Stdio::null())
        .status();
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive").args([
        "install",
        "-y",
        "-qq",
        "--no-install-recommends",
    ]);
    if must(install.args(packages)).is_err() {
        bail!("apt-get could not install {}", packages.join(" and "));
    }
    Ok(())
}
