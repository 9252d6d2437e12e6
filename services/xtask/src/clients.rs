//! MCP clients that none of us wrote, against a running bank's door: the official inspector's command line
//! and the official Python client. Each lists the tools and calls one that reads.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use countersign_testkit::{Bank, Service, checkout};
use serde_json::{Value, json};

use crate::counts::Counts;
use crate::tools;

/// Their packages, locked.
const FOLDER: &str = "services/testkit/clients";
/// The header that carries the session token.
const HEADER: &str = "Countersign-Session";

/// Starts a bank and lets both clients visit its door.
///
/// # Errors
/// When a tool is missing or the bank does not start.
pub async fn test() -> anyhow::Result<Counts> {
    tools::node()?;
    crate::web::install(FOLDER)?;
    let python = python()?;
    let bank = Bank::start().await?;
    let url = format!("{}/mcp", bank.origin(Service::Door));
    let mut counts = Counts::default();
    // A token is good for one turn, so each visit has one of its own.
    let visits: [(&str, Visit); 3] = [
        ("the inspector lists the tools", Visit::InspectorLists),
        ("the inspector reads the accounts", Visit::InspectorReads),
        (
            "the Python client lists and reads, in both protocol eras",
            Visit::Python,
        ),
    ];
    for (name, visit) in visits {
        let token = bank.session_token("ada").await?;
        let outcome = match visit {
            Visit::InspectorLists => inspector_lists(&url, &token),
            Visit::InspectorReads => inspector_reads(&url, &token),
            Visit::Python => python_visits(&python, &url, &token),
        };
        match outcome {
            Ok(()) => {
                println!("ok: {name}");
                counts.passed += 1;
            }
            Err(error) => {
                println!("FAILED: {name}: {error:#}");
                counts.failed += 1;
            }
        }
    }
    Ok(counts)
}

#[derive(Clone, Copy)]
enum Visit {
    InspectorLists,
    InspectorReads,
    Python,
}

fn inspector_lists(url: &str, token: &str) -> anyhow::Result<()> {
    let answer = inspector(url, token, &["--method", "tools/list"])?;
    let names: Vec<&str> = answer["tools"]
        .as_array()
        .context("it shows no list of tools")?
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    check_tools(&names)
}

fn inspector_reads(url: &str, token: &str) -> anyhow::Result<()> {
    let call = ["--method", "tools/call", "--tool-name", "list_accounts"];
    let answer = inspector(url, token, &call)?;
    ensure!(answer["isError"] != true, "the tool refused: {answer}");
    check_accounts(&answer["structuredContent"])
}

/// Runs the inspector's command line. It takes headers as arguments alone, which other users of this machine
/// can read; a demo token that ends in two minutes may stand there.
fn inspector(url: &str, token: &str, call: &[&str]) -> anyhow::Result<Value> {
    let program = checkout::root()
        .join(FOLDER)
        .join("node_modules/.bin/mcp-inspector");
    let output = Command::new(program)
        .args(["--cli", url, "--transport", "http"])
        .arg("--header")
        .arg(format!("{HEADER}: {token}"))
        .args(call)
        .output()
        .context("start the inspector")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "the inspector ended with {}: {said}",
        output.status
    );
    serde_json::from_slice(&output.stdout).context("read what the inspector printed")
}

fn python_visits(python: &Path, url: &str, token: &str) -> anyhow::Result<()> {
    let mut client = Command::new(python)
        .arg(checkout::root().join(FOLDER).join("python_client.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("start the Python client")?;
    let asked = json!({"url": url, "header": HEADER, "token": token}).to_string();
    client
        .stdin
        .take()
        .context("its input is a pipe")?
        .write_all(asked.as_bytes())?;
    let output = client.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "it ended with {}: {said}",
        output.status
    );
    let answers = String::from_utf8(output.stdout)?;
    let versions: Vec<String> = answers
        .lines()
        .map(check_python_visit)
        .collect::<Result<_, _>>()?;
    ensure!(
        versions == ["2025-11-25", "2026-07-28"],
        "it spoke {versions:?}"
    );
    Ok(())
}

fn check_python_visit(line: &str) -> anyhow::Result<String> {
    let answer: Value = serde_json::from_str(line)?;
    let tools = answer["tools"].as_array().context("no list of tools")?;
    check_tools(&tools.iter().filter_map(Value::as_str).collect::<Vec<_>>())?;
    ensure!(answer["is_error"] == false, "the tool refused: {answer}");
    check_accounts(&answer["accounts"])?;
    Ok(answer["protocol_version"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

fn check_tools(names: &[&str]) -> anyhow::Result<()> {
    for name in ["list_accounts", "get_balance", "request_transfer"] {
        ensure!(names.contains(&name), "{name} is missing from {names:?}");
    }
    ensure!(
        !names.iter().any(|name| name.contains("confirm")),
        "something confirms: {names:?}"
    );
    Ok(())
}

fn check_accounts(accounts: &Value) -> anyhow::Result<()> {
    ensure!(
        accounts.to_string().contains("acc_"),
        "no account in {accounts}"
    );
    Ok(())
}

/// The Python of an environment of its own, with the client installed as its requirements say.
fn python() -> anyhow::Result<PathBuf> {
    let requirements = checkout::root().join(FOLDER).join("requirements.txt");
    Ok(tools::python_packages("clients-venv", &requirements)?.join("python"))
}
