//! The chat origin's guards taken out, one at a time, in a scratch copy: each one's own tests must go red.
//!
//! `fixtures/mutants/guards.tsv` names the guard's words in the source, what stands there without it, and the tests that must
//! notice. The copy and its build are those of `nightly mutants`; the checkout itself is never changed.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use countersign_testkit::checkout;

use crate::mutants::{copy_checkout, seed_target};

/// The list.
const LIST: &str = "fixtures/mutants/guards.tsv";

/// A guard to take out.
struct Guard {
    name: String,
    file: String,
    stands: String,
    without: String,
    tests: String,
}

/// Takes every guard out, or those that are named.
///
/// # Errors
/// When a guard's words are not in the source exactly once, its tests are not green with it, or none went red without it.
pub fn run(only: &[String]) -> anyhow::Result<()> {
    let root = checkout::root();
    let mut guards = read(&root)?;
    if !only.is_empty() {
        guards.retain(|guard| only.contains(&guard.name));
    }
    ensure!(!guards.is_empty(), "no guard of that name is in {LIST}");
    let place = root.join("target/mutants");
    let (copy, target) = (place.join("checkout"), place.join("target"));
    copy_checkout(&root, &copy)?;
    seed_target(&root, &target)?;
    let mut unnoticed = Vec::new();
    for guard in &guards {
        ensure!(
            is_green(&copy, &target, guard)?,
            "the tests of {} are not green with it",
            guard.name
        );
        let file = copy.join(&guard.file);
        let whole = fs::read_to_string(&file)?;
        fs::write(&file, whole.replacen(&guard.stands, &guard.without, 1))?;
        let noticed = !is_green(&copy, &target, guard)?;
        fs::write(&file, &whole)?;
        let words = if noticed { "red" } else { "NOT NOTICED" };
        println!("{:<36} {words} ({})", guard.name, guard.tests);
        if !noticed {
            unnoticed.push(guard.name.clone());
        }
    }
    ensure!(
        unnoticed.is_empty(),
        "nobody noticed that these guards were gone: {}",
        unnoticed.join(", ")
    );
    println!("test result: ok. {} passed; 0 failed", guards.len());
    Ok(())
}

/// Reads the list, and holds each line to the source.
fn read(root: &Path) -> anyhow::Result<Vec<Guard>> {
    let list = fs::read_to_string(root.join(LIST)).context(LIST)?;
    let mut guards = Vec::new();
    for line in list.lines().skip(1) {
        let [name, file, stands, without, tests] = line.split('\t').collect::<Vec<_>>()[..] else {
            anyhow::bail!("five columns: {line}");
        };
        let source = fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
        ensure!(
            source.matches(stands).count() == 1,
            "{name}: its words stand in {file} {} times",
            source.matches(stands).count()
        );
        guards.push(Guard {
            name: name.to_owned(),
            file: file.to_owned(),
            stands: stands.to_owned(),
            without: without.to_owned(),
            tests: tests.to_owned(),
        });
    }
    Ok(guards)
}

/// Whether the guard's tests run and pass. A copy that does not build is neither.
fn is_green(copy: &Path, target: &Path, guard: &Guard) -> anyhow::Result<bool> {
    let package = guard
        .file
        .strip_prefix("services/")
        .and_then(|rest| rest.split('/').next())
        .context("a file of a service")?;
    let output = crate::cargo::cargo()
        .args(["test", "--package", &format!("countersign-{package}")])
        .args(["--", &guard.tests])
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .context("start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(
        !errors.contains("could not compile"),
        "{} does not build without its guard:\n{errors}",
        guard.name
    );
    let ran = text
        .lines()
        .any(|line| line.starts_with("test ") && line.contains(guard.tests.as_str()));
    ensure!(ran, "{}: no test is called {}", guard.name, guard.tests);
    Ok(output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guard_of_the_list_stands_in_the_source_once() {
        let guards = read(&checkout::root()).expect("the list fits the source");
        assert!(guards.len() > 12);
    }
}
