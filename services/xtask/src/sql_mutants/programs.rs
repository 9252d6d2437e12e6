//! The test programs, built once and run many times.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use countersign_testkit::{checkout, server};
use serde_json::Value;

/// The packages whose integration tests are run and the names of these, in the order in which a mutant meets them.
const PACKAGES: [(&str, &str); 3] = [
    ("pending", "pending"),
    ("store", "wall"),
    ("panel", "panel"),
];
/// A test that waits longer than this for a lock that nobody gives is a failed one.
const PATIENCE: Duration = Duration::from_secs(420);

/// Time for a program to end after its first failure.
const GRACE: Duration = Duration::from_secs(10);

/// A built test program.
#[derive(Debug)]
pub struct Program {
    /// The package without its prefix.
    pub name: &'static str,
    path: PathBuf,
    folder: PathBuf,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every test passed, and this many were run.
    Passed(usize),
    /// The first test that failed.
    Failed(String),
}

/// Builds the integration tests.
///
/// # Errors
/// When they do not compile.
pub fn build() -> anyhow::Result<Vec<Program>> {
    let mut command = crate::cargo::cargo();
    command.args(["test", "--no-run", "--message-format=json"]);
    for (package, test) in PACKAGES {
        command.args([
            "--package",
            &format!("countersign-{package}"),
            "--test",
            test,
        ]);
    }
    let output = command.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the tests do not compile");
    let mut programs = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let is_test = message["target"]["kind"] == serde_json::json!(["test"]);
        let (Some(path), Some(manifest)) = (
            message["executable"].as_str().filter(|_| is_test),
            message["manifest_path"].as_str(),
        ) else {
            continue;
        };
        let folder = Path::new(manifest).parent().context("a folder")?;
        let Some((name, _)) = PACKAGES.into_iter().find(|(package, test)| {
            folder.ends_with(package) && message["target"]["name"] == *test
        }) else {
            continue;
        };
        programs.push(Program {
            name,
            path: path.into(),
            folder: folder.into(),
        });
    }
    let order = PACKAGES.map(|(package, _)| package);
    programs.sort_by_key(|program: &Program| order.iter().position(|name| *name == program.name));
    let names: Vec<_> = programs.iter().map(|program| program.name).collect();
    ensure!(names == order, "these test programs were built: {names:?}");
    Ok(programs)
}

impl Program {
    /// Runs the tests whose names hold `filter`, on databases that got the statements of the file `sql`.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn run(
        &self,
        server_url: &str,
        sql: Option<&Path>,
        filter: &str,
    ) -> anyhow::Result<Outcome> {
        let mut command = Command::new(&self.path);
        command
            .arg(filter)
            .args(["--test-threads", "4"])
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("INSTA_WORKSPACE_ROOT", checkout::root())
            .env("INSTA_UPDATE", "no")
            .env("RUST_BACKTRACE", "0")
            .env(server::TEST_SERVER_VARIABLE, server_url)
            .env_remove(server::TEST_SQL_VARIABLE)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(sql) = sql {
            command.env(server::TEST_SQL_VARIABLE, sql);
        }
        let mut child = command
            .spawn()
            .with_context(|| format!("start {}", self.path.display()))?;
        let stdout = child.stdout.take().context("piped")?;
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in
                std::io::BufRead::lines(std::io::BufReader::new(stdout)).map_while(Result::ok)
            {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let outcome = watch(&lines);
        // The first failure says enough. One test alone ends by itself and takes its database along; many are not waited for.
        let deadline = Instant::now() + GRACE;
        while child.try_wait()?.is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = child.kill();
        child.wait()?;
        outcome
    }
}

fn watch(lines: &std::sync::mpsc::Receiver<String>) -> anyhow::Result<Outcome> {
    let deadline = Instant::now() + PATIENCE;
    let mut passed = 0;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = match lines.recv_timeout(left) {
            Ok(line) => line,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                return Ok(Outcome::Failed("a test that never ended".to_owned()));
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                bail!("a test program ended without a result");
            }
        };
        if let Some(test) = line.strip_prefix("test ") {
            if let Some(name) = test.strip_suffix(" ... FAILED") {
                return Ok(Outcome::Failed(name.to_owned()));
            }
            passed += usize::from(test.ends_with(" ... ok"));
        }
        if line.starts_with("test result: ok") {
            return Ok(Outcome::Passed(passed));
        }
    }
}
