//! libFuzzer over the readers of strangers' bytes: the targets of `fuzz/`, which is no member of the workspace.
//!
//! What libFuzzer needs of the compiler is not stable; the pinned compiler is told to allow it for this build alone.

use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};
use countersign_testkit::checkout;

/// What the compiler adds so that libFuzzer sees where an input goes, and so that a stray access ends the run.
const FLAGS: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Zsanitizer=address",
];
/// A target with its own sanitizer needs the build machine named, so that build scripts go without.
const MACHINE: &str = "x86_64-unknown-linux-gnu";
/// The targets, and the folders of their seeds.
const TARGETS: [(&str, &str); 7] = [
    ("strict_reader", "json"),
    ("differential", "json"),
    ("policy_loader", "policy"),
    ("receipts_and_proofs", "receipts"),
    ("event_streams", "events"),
    ("http_requests", "requests"),
    ("http_answers", "answers"),
];
/// Most memory of one run, in megabytes, and the longest input, in bytes.
const MEMORY: &str = "-rss_limit_mb=2048";
const LENGTH: &str = "-max_len=16384";

/// Builds the targets and runs each for so many seconds, one after the other; figures are printed by libFuzzer.
///
/// # Errors
/// When a target cannot be built, or an input broke one: it stands in `fuzz/artifacts` then.
pub fn run(seconds: u64) -> anyhow::Result<()> {
    let folder = checkout::root().join("fuzz");
    let mut build = crate::cargo::cargo();
    build
        .args(["build", "--release", "--bins", "--target", MACHINE])
        .current_dir(&folder)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", FLAGS.join(" "));
    crate::cargo::run(&mut build).context("build the targets of fuzz/")?;
    let mut broken = Vec::new();
    for (target, seeds) in TARGETS {
        println!("{target}, {seconds} s");
        let corpus = folder.join("corpus").join(target);
        let artifacts = folder.join("artifacts").join(target);
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&artifacts)?;
        let status = Command::new(
            folder
                .join("target")
                .join(MACHINE)
                .join("release")
                .join(target),
        )
        .arg(&corpus)
        .arg(checkout::root().join("fixtures/fuzz").join(seeds))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args([MEMORY, LENGTH, "-print_final_stats=1", "-timeout=10"])
        .status()
        .with_context(|| format!("start {target}"))?;
        if !status.success() {
            broken.push(target);
        }
    }
    ensure!(
        broken.is_empty(),
        "an input broke {}; it stands in fuzz/artifacts",
        broken.join(", ")
    );
    Ok(())
}
