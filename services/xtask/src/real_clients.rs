//! The official TypeScript client and the inspector in front of the door, over pipes and over HTTP, in both eras of the
//! protocol.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use anyhow::{Context, ensure};
use countersign_testkit::checkout;
use countersign_testkit::stack::programs;
use serde_json::{Value, json};

use crate::counts::Counts;
use crate::doors::DoorPlace;
use crate::peers::Peers;
use crate::processes::{self, Listening};
use crate::real_servers;

/// The server that speaks both eras.
const CONFORMING: &str = "countersign-conforming-server";
/// What it says.
const SIMPLE_TEXT: &str = "This is a simple text response for testing.";
/// The inspector's packages, locked.
const INSPECTOR: &str = "services/testkit/clients";
/// The older era and the newer one, as the client's options name them and as it then says which it speaks.
const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Lets all of them visit.
///
/// # Errors
/// When a tool is missing.
pub fn test() -> anyhow::Result<Counts> {
    let peers = Peers::install()?;
    crate::web::install(INSPECTOR)?;
    let place = DoorPlace::new("real-clients")?;
    let mut counts = Counts::default();
    for (name, visit) in [
        (
            "the TypeScript client over pipes",
            typescript_pipes as Visit,
        ),
        ("the TypeScript client over HTTP", typescript_http),
        (
            "the TypeScript client before the official test server",
            typescript_everything,
        ),
        ("the inspector before the official test server", inspector),
    ] {
        match visit(&peers, &place) {
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

type Visit = fn(&Peers, &DoorPlace) -> anyhow::Result<()>;

fn typescript_pipes(peers: &Peers, place: &DoorPlace) -> anyhow::Result<()> {
    let server = programs::folder()?.join(CONFORMING);
    let definitions = processes::fed(Command::new(&server).arg("--definitions"), b"")?;
    let policy = place.pinned_policy("conforming", definitions.as_bytes())?;
    let mut door = place.run(&policy, "typescript-pipes")?;
    door.arg(server);
    let asked = json!({
        "command": text_of(door.get_program()),
        "args": door.get_args().map(text_of).collect::<Vec<_>>(),
        "modes": ["legacy", {"pin": ERAS[1]}],
        "tool": "test_simple_text",
        "arguments": {},
    });
    check_conforming(&typescript(peers, &asked)?)
}

fn typescript_http(peers: &Peers, place: &DoorPlace) -> anyhow::Result<()> {
    let program = programs::folder()?.join(CONFORMING);
    let definitions = processes::fed(Command::new(&program).arg("--definitions"), b"")?;
    let policy = place.pinned_policy("conforming", definitions.as_bytes())?;
    let server = Listening::start(Command::new(program).args(["--http", "127.0.0.1:0"]), None)?;
    let url = format!("http://{}/mcp", server.address());
    let door = place.serve(&policy, "typescript-http", &format!("url: \"{url}\""))?;
    let asked = json!({
        "url": format!("http://{}/mcp", door.address()),
        "modes": ["legacy", {"pin": ERAS[1]}],
        "tool": "test_simple_text",
        "arguments": {},
    });
    check_conforming(&typescript(peers, &asked)?)
}

fn check_conforming(visits: &[Value]) -> anyhow::Result<()> {
    let versions: Vec<_> = visits
        .iter()
        .map(|visit| visit["protocol_version"].as_str())
        .collect();
    ensure!(versions == ERAS.map(Some), "it spoke {versions:?}");
    for visit in visits {
        ensure!(
            visit["result"].to_string().contains(SIMPLE_TEXT),
            "it got {visit}"
        );
        let tools = visit["tools"].as_array().map(Vec::len);
        ensure!(tools > Some(20), "it saw {tools:?} tools");
    }
    Ok(())
}

fn typescript_everything(peers: &Peers, place: &DoorPlace) -> anyhow::Result<()> {
    let door = real_servers::command(peers, place, "everything", &[])?;
    let asked = json!({
        "command": text_of(door.get_program()),
        "args": door.get_args().map(text_of).collect::<Vec<_>>(),
        "modes": ["legacy"],
        "tool": "echo",
        "arguments": {"message": "hello through the door"},
    });
    let visits = typescript(peers, &asked)?;
    let [visit] = &visits[..] else {
        anyhow::bail!("{} visits", visits.len());
    };
    ensure!(
        visit["result"]
            .to_string()
            .contains("hello through the door"),
        "it got {visit}"
    );
    let tools = visit["tools"].to_string();
    ensure!(
        tools.contains("echo") && !tools.contains("get-env"),
        "it saw {tools}"
    );
    Ok(())
}

fn typescript(peers: &Peers, asked: &Value) -> anyhow::Result<Vec<Value>> {
    let mut client = Command::new(peers.node());
    client.arg(peers.folder().join("client.mjs"));
    let said = processes::fed(&mut client, asked.to_string().as_bytes())?;
    said.lines()
        .map(|line| serde_json::from_str(line).context("read a visit"))
        .collect()
}

fn inspector(peers: &Peers, place: &DoorPlace) -> anyhow::Result<()> {
    let door = real_servers::command(peers, place, "everything", &[])?;
    // The inspector takes a `--` among a server's arguments for its own.
    let words = [door.get_program()].into_iter().chain(door.get_args());
    let line: Vec<String> = words.map(|word| format!("'{}'", text_of(word))).collect();
    let script = place.folder().join("everything-behind-the-door");
    fs::write(&script, format!("#!/bin/sh\nexec {}\n", line.join(" ")))?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700))?;
    let run = |call: &[&str]| -> anyhow::Result<Value> {
        let program = checkout::root()
            .join(INSPECTOR)
            .join("node_modules/.bin/mcp-inspector");
        let mut inspector = Command::new(program);
        inspector.arg("--cli").arg(&script).args(call);
        let said = processes::fed(&mut inspector, b"")?;
        serde_json::from_str(&said).context("read what the inspector printed")
    };
    let list = run(&["--method", "tools/list"])?["tools"].to_string();
    ensure!(
        list.contains("get-sum") && !list.contains("get-env"),
        "it saw {list}"
    );
    let sum = run(&[
        "--method",
        "tools/call",
        "--tool-name",
        "get-sum",
        "--tool-arg",
        "a=19",
        "--tool-arg",
        "b=23",
    ])?;
    ensure!(sum.to_string().contains("42"), "it got {sum}");
    Ok(())
}

fn text_of(text: &std::ffi::OsStr) -> String {
    text.to_string_lossy().into_owned()
}
