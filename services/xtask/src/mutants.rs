//! Guards taken out, one at a time, in a scratch copy: the conversations must go red.
//!
//! Each patch of `eval/mutants` says in its first lines what goes and which cases must notice. The copy and its build lie in
//! `target/mutants`; the checkout itself is never changed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail, ensure};
use countersign_testkit::checkout;

/// A guard to take out.
struct Mutant {
    name: String,
    patch: PathBuf,
    cases: Vec<String>,
}

/// Takes every guard out, or those that are named.
///
/// # Errors
/// When the copy is not green as it is, a patch does not fit, or a guard's going was not noticed.
pub fn run(only: &[String]) -> anyhow::Result<()> {
    let root = checkout::root();
    let mut mutants = read(&root.join("eval/mutants"))?;
    if !only.is_empty() {
        mutants.retain(|mutant| only.contains(&mutant.name));
    }
    ensure!(
        !mutants.is_empty(),
        "no mutant of that name is in eval/mutants"
    );
    let place = root.join("target/mutants");
    let copy = place.join("checkout");
    copy_checkout(&root, &copy)?;
    let target = place.join("target");
    seed_target(&root, &target)?;
    let every: Vec<String> = mutants
        .iter()
        .flat_map(|mutant| mutant.cases.clone())
        .collect();
    println!("the copy as it is");
    let (broken, errors) = play(&copy, &target, &place.join("out"), &every)?;
    ensure!(
        broken + errors == 0,
        "{broken} lines are broken and {errors} playings failed with every guard in place"
    );
    let mut unnoticed = Vec::new();
    for mutant in &mutants {
        apply(&place, &copy, &mutant.patch, false)
            .with_context(|| format!("apply {}", mutant.name))?;
        let played = play(&copy, &target, &place.join("out"), &mutant.cases);
        apply(&place, &copy, &mutant.patch, true)
            .with_context(|| format!("take back {}", mutant.name))?;
        let (broken, errors) = played.with_context(|| mutant.name.clone())?;
        println!(
            "{:<36} {broken} lines broken, {errors} playings failed",
            mutant.name
        );
        if broken == 0 {
            unnoticed.push(mutant.name.clone());
        }
    }
    ensure!(
        unnoticed.is_empty(),
        "nobody noticed that these guards were gone: {}",
        unnoticed.join(", ")
    );
    println!("test result: ok. {} passed; 0 failed", mutants.len());
    Ok(())
}

fn read(folder: &Path) -> anyhow::Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let patch = entry?.path();
        if patch.extension().is_none_or(|ending| ending != "patch") {
            continue;
        }
        let text = fs::read_to_string(&patch)?;
        let cases = text.lines().find_map(|line| line.strip_prefix("Cases:"));
        let cases: Vec<String> = cases
            .with_context(|| format!("{} names no cases", patch.display()))?
            .split_whitespace()
            .map(ToOwned::to_owned)
            .collect();
        let name = patch.file_stem().unwrap_or_default();
        mutants.push(Mutant {
            name: name.to_string_lossy().into_owned(),
            patch,
            cases,
        });
    }
    mutants.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(mutants)
}

/// The files of the checkout, written only where they differ, so that a second run builds little.
///
/// # Errors
/// When the checkout cannot be listed or copied.
pub fn copy_checkout(root: &Path, copy: &Path) -> anyhow::Result<()> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .context("start git")?;
    ensure!(listed.status.success(), "git ls-files failed");
    for name in String::from_utf8(listed.stdout)?.split('\0') {
        let from = root.join(name);
        if name.is_empty() || !from.is_file() {
            continue;
        }
        let to = copy.join(name);
        let bytes = fs::read(&from).with_context(|| format!("read {name}"))?;
        if fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap_or(copy))?;
        fs::write(&to, bytes).with_context(|| format!("write {name}"))?;
    }
    Ok(())
}

/// What cargo has built of other people's crates serves the copy too: the same files, linked.
///
/// # Errors
/// When it cannot be linked.
pub fn seed_target(root: &Path, target: &Path) -> anyhow::Result<()> {
    let debug = target.join("debug");
    if debug.exists() {
        return Ok(());
    }
    fs::create_dir_all(&debug)?;
    for part in ["deps", "build", ".fingerprint"] {
        let from = root.join("target/debug").join(part);
        if from.exists() {
            let status = Command::new("cp")
                .arg("-al")
                .arg(&from)
                .arg(&debug)
                .status()?;
            ensure!(status.success(), "cp -al {part} failed");
        }
    }
    Ok(())
}

fn apply(place: &Path, copy: &Path, patch: &Path, back: bool) -> anyhow::Result<()> {
    let mut git = Command::new("git");
    git.current_dir(copy).env("GIT_CEILING_DIRECTORIES", place);
    git.arg("apply");
    if back {
        git.arg("--reverse");
    }
    let output = git.arg(patch).output().context("start git")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Plays cases in the copy: how many lines were broken, and how many playings could not be played.
fn play(
    copy: &Path,
    target: &Path,
    out: &Path,
    cases: &[String],
) -> anyhow::Result<(usize, usize)> {
    let report = out.join("report.json");
    let _ = fs::remove_file(&report);
    let mut eval = crate::commands::eval::command();
    eval.arg("--out")
        .arg(out)
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target);
    for case in cases {
        eval.args(["--case", case]);
    }
    let output = eval.output().context("start cargo")?;
    let Ok(text) = fs::read_to_string(&report) else {
        bail!(
            "no report was written:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    let report: serde_json::Value = serde_json::from_str(&text)?;
    let runs = report["runs"].as_array().map_or(&[][..], Vec::as_slice);
    ensure!(!runs.is_empty(), "nothing was played");
    let broken = runs
        .iter()
        .map(|run| run["broken"].as_array().map_or(0, Vec::len))
        .sum();
    let errors = runs.iter().filter(|run| !run["error"].is_null()).count();
    Ok((broken, errors))
}
