//! Several servers under one endpoint.

mod http;
mod isolation;
mod names;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::piped::{Piped, server_program};

/// The folder of the real servers' programs, built when they are not fresh.
pub fn fixtures() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let program = server_program();
        let folder = program.ancestors().nth(2).unwrap().to_owned();
        if std::env::var_os("COUNTERSIGN_PROGRAMS_BUILT").is_none() {
            let mut build = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
            build.args(["build", "--quiet"]).stdin(Stdio::null());
            for name in [
                "countersign-conforming-server",
                "countersign-misbehaving-server",
            ] {
                build.args(["--package", name, "--bin", name]);
            }
            // What cargo told this program about its own package must not reach another build.
            for (name, _) in std::env::vars_os() {
                if name.to_string_lossy().starts_with("CARGO_PKG_") {
                    build.env_remove(&name);
                }
            }
            assert!(build.status().unwrap().success());
        }
        folder
    });
    built.clone()
}

/// The entry of a server for tests among several.
pub fn toy(name: &str, more: &str) -> String {
    format!(
        "  {name}: {{command: ['{}', '{name}', among{more}]}}\n",
        server_program().display()
    )
}

/// A policy with these servers, which allows these tools with a text each.
pub fn policy(servers: &[String], tools: &[&str], more: &str) -> String {
    let tools: String = tools
        .iter()
        .map(|tool| format!("  {tool}: {{args: {{text: {{type: string}}}}}}\n"))
        .collect();
    format!(
        "version: 1\nid: several\ndefault: deny\nrequire_pins: false\nservers:\n{}tools:\n{tools}{more}",
        servers.concat()
    )
}

/// A door on pipes before two servers for tests, `one` and `two`.
pub fn two(tools: &[&str], more: &str) -> Piped {
    let mut door = Piped::started(
        &policy(&[toy("one", ""), toy("two", "")], tools, more),
        &[],
        &[],
    );
    door.initialize();
    door
}

/// The names in a list.
pub fn names(answer: &serde_json::Value, list: &str) -> Vec<String> {
    let entries = answer["result"][list].as_array();
    let entries = entries.unwrap_or_else(|| panic!("{answer}"));
    let name = |entry: &serde_json::Value| entry["name"].as_str().unwrap().to_owned();
    entries.iter().map(name).collect()
}
