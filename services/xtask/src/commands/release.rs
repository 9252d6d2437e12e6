//! `cargo xtask release`: the programs of the newest commit, with their digests and their bill of materials, built so that anybody gets the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use clap::Args;
use countersign_testkit::{checkout, files};

use super::test::must;

/// What is released.
const PROGRAMS: [&str; 8] = [
    "countersign-panel",
    "countersign-intake",
    "countersign-agent",
    "countersign-door",
    "countersign-bank-mcp",
    "countersign-dashboard",
    "countersign-verify",
    "countersign-probe",
];

/// What `release` does.
#[derive(Args, Debug)]
pub struct ReleaseArguments {
    /// Write programs, bill and digests to this folder, which must not be there
    #[arg(long, value_name = "FOLDER", required_unless_present = "check")]
    to: Option<PathBuf>,
    /// Build twice, in two folders, and compare every byte
    #[arg(long, conflicts_with = "to")]
    check: bool,
    /// Only these programs
    #[arg(long, value_name = "PROGRAM")]
    only: Vec<String>,
}

/// Builds and writes, or builds twice and compares.
///
/// # Errors
/// When something does not build, or two builds differ.
pub fn run(arguments: &ReleaseArguments) -> anyhow::Result<()> {
    let programs: Vec<&str> = PROGRAMS
        .into_iter()
        .filter(|name| arguments.only.is_empty() || arguments.only.iter().any(|one| one == name))
        .collect();
    ensure!(
        !programs.is_empty(),
        "a program is one of {}",
        PROGRAMS.join(", ")
    );
    if let Some(to) = &arguments.to {
        return write(&programs, to);
    }
    let first = Build::of("first", &programs)?;
    let second = Build::of("a-second-one", &programs)?;
    let mut different = Vec::new();
    for (name, digest) in &first.digests {
        let same = second.digests.get(name) == Some(digest);
        println!(
            "{digest}  {name}  {}",
            if same { "the same twice" } else { "DIFFERENT" }
        );
        if !same {
            different.push(name.as_str());
        }
    }
    if !different.is_empty() {
        bail!("two builds differ: {}", different.join(", "));
    }
    Ok(())
}

fn write(programs: &[&str], to: &Path) -> anyhow::Result<()> {
    ensure!(!to.exists(), "{} is there already", to.display());
    let mut build = Build::of("release", programs)?;
    files::make_folder(to, 0o755)?;
    for name in programs {
        fs::copy(build.program(name), to.join(name))?;
    }
    let mut bill = crate::cargo::cargo();
    bill.args(["run", "--quiet", "--package", "countersign-operate"]);
    let bill = bill
        .args(["--bin", "countersign-operate", "--", "sbom"])
        .output()
        .context("start cargo")?;
    ensure!(bill.status.success(), "the bill of materials was not made");
    fs::write(to.join("bill.json"), &bill.stdout)?;
    build
        .digests
        .insert("bill.json".to_owned(), digest(&to.join("bill.json"))?);
    let lines: Vec<String> = build
        .digests
        .iter()
        .map(|(name, digest)| format!("{digest}  {name}\n"))
        .collect();
    fs::write(to.join("SHA256SUMS"), lines.concat())?;
    print!("{}", lines.concat());
    println!(
        "Sign it where the release key is (docs/SECURITY.md): {}",
        to.join("SHA256SUMS").display()
    );
    Ok(())
}

/// One build of the newest commit in a folder of its own.
struct Build {
    folder: PathBuf,
    digests: BTreeMap<String, String>,
}

impl Drop for Build {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Build {
    fn of(label: &str, programs: &[&str]) -> anyhow::Result<Self> {
        let folder =
            std::env::temp_dir().join(format!("countersign-{label}-{}", std::process::id()));
        fs::create_dir(&folder)?;
        let mut build = Self {
            folder,
            digests: BTreeMap::new(),
        };
        let source = build.source();
        fs::create_dir(&source)?;
        let mut archive = Command::new("git")
            .args(["archive", "--format=tar", "HEAD"])
            .current_dir(checkout::root())
            .stdout(Stdio::piped())
            .spawn()
            .context("start git")?;
        let tar = archive.stdout.take().context("git writes an archive")?;
        must(
            Command::new("tar")
                .args(["-x", "-C"])
                .arg(&source)
                .stdin(tar),
        )?;
        ensure!(archive.wait()?.success(), "git archives the newest commit");
        let mut cargo = Command::new("cargo");
        cargo
            .args(["build", "--release", "--locked"])
            .current_dir(&source);
        for name in programs {
            cargo.args(["--bin", name]);
        }
        // Where it was built must not stand in what was built.
        let home = std::env::var("CARGO_HOME")
            .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
        let flags = format!(
            "--remap-path-prefix={}=/source --remap-path-prefix={}=/cargo",
            source.display(),
            home.unwrap_or_else(|_| "/cargo".to_owned()),
        );
        cargo
            .env("RUSTFLAGS", flags)
            .env("CARGO_TARGET_DIR", build.folder.join("target"))
            .env("CARGO_INCREMENTAL", "0")
            .env("SQLX_OFFLINE", "true");
        println!("Building in {}", source.display());
        must(&mut cargo)?;
        for name in programs {
            let digest = digest(&build.program(name))?;
            build.digests.insert((*name).to_owned(), digest);
        }
        Ok(build)
    }

    fn source(&self) -> PathBuf {
        self.folder.join("source")
    }

    fn program(&self, name: &str) -> PathBuf {
        self.folder.join("target/release").join(name)
    }
}

/// The SHA-256 of a file, in hexadecimal.
fn digest(file: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(file).with_context(|| format!("read {}", file.display()))?;
    Ok(files::sha256(&bytes))
}
