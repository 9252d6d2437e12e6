//! The official filesystem, memory and test servers behind the door, with the presets as they are committed: what they
//! allow works, and what they do not is refused before the server hears of it.

use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::counts::Counts;
use crate::doors::DoorPlace;
use crate::peers::Peers;
use crate::speaker::Speaker;

/// A file for the filesystem server.
const NOTE: &str = "a note for whoever reads files";

/// Runs all three.
///
/// # Errors
/// When a tool is missing.
pub fn test() -> anyhow::Result<Counts> {
    let peers = Peers::install()?;
    let place = DoorPlace::new("real-servers")?;
    let mut counts = Counts::default();
    for (name, visit) in [
        ("filesystem", filesystem as Visit),
        ("memory", memory),
        ("everything", everything),
    ] {
        match visit(&peers, &place) {
            Ok(()) => {
                println!("ok: the official {name} server behind the door");
                counts.passed += 1;
            }
            Err(error) => {
                println!("FAILED: the official {name} server behind the door: {error:#}");
                counts.failed += 1;
            }
        }
    }
    Ok(counts)
}

type Visit = fn(&Peers, &DoorPlace) -> anyhow::Result<()>;

/// A client of an official server behind a door with the preset of the same name.
fn client(
    peers: &Peers,
    place: &DoorPlace,
    name: &str,
    arguments: &[&str],
) -> anyhow::Result<Speaker> {
    Speaker::greeting(&mut command(peers, place, name, arguments)?)
}

/// `countersign-door run` around an official server, with the preset of the same name.
///
/// # Errors
/// When the preset cannot be copied.
pub fn command(
    peers: &Peers,
    place: &DoorPlace,
    name: &str,
    arguments: &[&str],
) -> anyhow::Result<Command> {
    let policy = place.policy(name)?;
    let mut door = place.run(&policy, &format!("{name}-record"))?;
    door.arg(peers.node());
    door.arg(peers.file(&format!(
        "@modelcontextprotocol/server-{name}/dist/index.js"
    )));
    door.args(arguments);
    Ok(door)
}

fn filesystem(peers: &Peers, place: &DoorPlace) -> anyhow::Result<()> {
    let folder = place.folder().join("files");
    fs::create_dir_all(&folder)?;
    let note = folder.join("note.txt");
    fs::write(&note, NOTE)?;
    let folder = folder.to_string_lossy().into_owned();
    let mut client = client(peers, place, "filesystem", &[&folder])?;
    shows(
        &mut client,
        &["read_text_file", "list_directory"],
        &["write_file", "edit_file", "move_file"],
    )?;
    let read = call(&mut client, "read_text_file", &json!({"path": note}))?;
    ensure!(
        read.to_string().contains(NOTE),
        "the file was not read: {read}"
    );
    let written = folder.clone() + "/other.txt";
    refuses(
        &mut client,
        "write_file",
        &json!({"path": written, "content": "x"}),
        "write_word",
    )?;
    refuses(
        &mut client,
        "read_text_file",
        &json!({"path": note, "follow": true}),
        "undeclared_argument",
    )?;
    ensure!(!fs::exists(&written)?, "a file was written");
    Ok(())
}

fn memory(peers: &Peers, place: &DoorPlace) -> anyhow::Result<()> {
    let mut client = client(peers, place, "memory", &[])?;
    shows(
        &mut client,
        &["read_graph", "search_nodes", "open_nodes"],
        &["create_entities", "delete_entities"],
    )?;
    let graph = call(&mut client, "read_graph", &json!({}))?;
    ensure!(graph.to_string().contains("entities"), "no graph: {graph}");
    refuses(
        &mut client,
        "create_entities",
        &json!({"entities": [{"name": "x", "entityType": "y", "observations": []}]}),
        "write_word",
    )
}

fn everything(peers: &Peers, place: &DoorPlace) -> anyhow::Result<()> {
    let mut client = client(peers, place, "everything", &[])?;
    shows(&mut client, &["echo", "get-sum"], &["get-env"])?;
    let echo = call(
        &mut client,
        "echo",
        &json!({"message": "hello through the door"}),
    )?;
    ensure!(
        echo.to_string().contains("hello through the door"),
        "no echo: {echo}"
    );
    let sum = call(&mut client, "get-sum", &json!({"a": 19, "b": 23}))?;
    ensure!(sum.to_string().contains("42"), "no sum: {sum}");
    refuses(&mut client, "get-env", &json!({}), "denied_by_rule")
}

fn shows(client: &mut Speaker, there: &[&str], hidden: &[&str]) -> anyhow::Result<()> {
    let list = client.ask("tools/list", &json!({}))?;
    let tools = list["tools"].as_array().context("a list of tools")?;
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    ensure!(
        there.iter().all(|name| names.contains(name)),
        "only {names:?} are shown"
    );
    ensure!(
        !hidden.iter().any(|name| names.contains(name)),
        "{names:?} are shown"
    );
    Ok(())
}

fn call(client: &mut Speaker, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
    let result = client.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
    ensure!(result["isError"] != true, "{tool} failed: {result}");
    Ok(result)
}

fn refuses(
    client: &mut Speaker,
    tool: &str,
    arguments: &Value,
    reason: &str,
) -> anyhow::Result<()> {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = client.answer_to("tools/call", &params)?;
    let found = answer["error"]["data"]["reason"].as_str();
    ensure!(found == Some(reason), "{tool} was answered with {answer}");
    Ok(())
}
