//! cargo-deny over the workspace, and the proof that its wrappers bite: the same run over a copy with one edge too many.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use countersign_testkit::checkout;

use crate::counts::Counts;
use crate::tools;

/// Edges that a wrapper forbids: which crate would gain which dependency.
const FORBIDDEN_EDGES: [(&str, &str); 4] = [
    ("agent", "countersign-execution"),
    ("bank-mcp", "countersign-execution"),
    ("agent", "sqlx"),
    ("panel", "countersign-models"),
];

/// Checks wrappers, licences and sources, then that each forbidden edge is refused.
///
/// # Errors
/// When the workspace breaks a rule, or a forbidden edge passes.
pub fn check() -> anyhow::Result<Counts> {
    let root = checkout::root();
    let requirements = root.join("services/xtask/requirements.txt");
    let program = tools::python_packages("deny-venv", &requirements)?.join("cargo-deny");
    // cargo-deny reads the sources' manifests, those of other systems too.
    crate::commands::test::must(Command::new("cargo").args(["fetch", "--quiet", "--locked"]))?;
    ensure!(
        allows(&program, &root, true)?,
        "cargo-deny refuses the workspace"
    );
    let mut counts = Counts {
        passed: 1,
        failed: 0,
    };
    for (package, dependency) in FORBIDDEN_EDGES {
        let copy = Copy::with_edge(&root, package, dependency)?;
        if allows(&program, copy.0.path(), false)? {
            println!("FAILED: {package} may depend on {dependency}");
            counts.failed += 1;
        } else {
            println!("ok: {package} may not depend on {dependency}");
            counts.passed += 1;
        }
    }
    Ok(counts)
}

fn allows(program: &Path, root: &Path, loud: bool) -> anyhow::Result<bool> {
    let mut deny = Command::new(program);
    deny.args(["--offline", "--log-level", "error", "check"])
        .args(["bans", "licenses", "sources"])
        .current_dir(root);
    if !loud {
        deny.stderr(Stdio::null()).stdout(Stdio::null());
    }
    Ok(deny.status().context("start cargo-deny")?.success())
}

/// The workspace's manifests with empty sources, and one edge more.
struct Copy(Folder);

struct Folder(std::path::PathBuf);

impl Folder {
    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Copy {
    fn with_edge(root: &Path, package: &str, dependency: &str) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("countersign-deny-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder)?;
        let copy = Self(Folder(folder));
        for file in [
            "Cargo.toml",
            "Cargo.lock",
            "deny.toml",
            "rust-toolchain.toml",
        ] {
            fs::copy(root.join(file), copy.0.path().join(file))?;
        }
        for group in ["services", "eval", "fixtures/servers"] {
            let Ok(members) = fs::read_dir(root.join(group)) else {
                continue;
            };
            for member in members {
                let member = member?.path();
                let manifest = member.join("Cargo.toml");
                let Some(name) = member.file_name().filter(|_| manifest.is_file()) else {
                    continue;
                };
                let target = copy.0.path().join(group).join(name);
                fs::create_dir_all(target.join("src"))?;
                let mut text = fs::read_to_string(&manifest)?;
                if name.to_str() == Some(package) {
                    let edge = format!("[dependencies]\n{dependency}.workspace = true\n");
                    text = text.replacen("[dependencies]\n", &edge, 1);
                }
                fs::write(target.join("Cargo.toml"), text)?;
                for source in ["lib.rs", "main.rs"] {
                    if member.join("src").join(source).is_file() {
                        fs::write(target.join("src").join(source), "")?;
                    }
                }
            }
        }
        // The edge must be a working one, or a broken manifest would pass for a refusal.
        let resolves = Command::new("cargo")
            .args(["metadata", "--offline", "--format-version", "1"])
            .current_dir(copy.0.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        ensure!(
            resolves.success(),
            "the copy with {package} -> {dependency} does not resolve"
        );
        Ok(copy)
    }
}
