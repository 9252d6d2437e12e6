//! The targets over pipes.

use serde_json::{Value, json};

use crate::workshop::Workshop;

/// No door.
pub const DIRECT: &str = "stdio direct";
/// A relay of lines, the floor of any proxy.
pub const RELAY: &str = "stdio relay of lines";
/// The door with its record handed to the kernel before each forward.
pub const WRITTEN: &str = "stdio door, written";
/// The door with its record on the disk before each forward.
pub const DURABLE: &str = "stdio door, durable";
/// The door with a signature for each decision.
pub const SIGNED: &str = "stdio door, sign each";
/// The door with redaction and injection screening of every result.
pub const SCREENED: &str = "stdio door, screening";

/// Allows the echo tool, and nothing else.
pub const POLICY: &str = r#"version: 1
id: bench
default: deny
mode: enforce
require_pins: false
message_rate_per_minute: 60000000
rate_per_minute: 60000000
tools:
  echo:
    args:
      text: {type: string, required: true, max_length: 4096}
"#;

/// The one server behind it; its command is given on the command line.
const SERVER: &str = "servers:\n  echo: {}\n";

/// Screening switched on, on top of it.
pub const SCREENING: &str =
    "redaction:\n  results: true\ninjection:\n  results: flag\n  definitions: flag\n";

/// Every target over pipes.
///
/// # Errors
/// When a file of theirs cannot be written.
pub fn targets(workshop: &Workshop) -> anyhow::Result<Vec<Value>> {
    let mut targets = vec![
        json!({"name": DIRECT, "kind": "stdio", "cmd": ["{server...}"]}),
        json!({"name": RELAY, "kind": "stdio", "cmd": [workshop.relay, "lines", "{server...}"]}),
    ];
    let policy = workshop.write("policy.yaml", &format!("{POLICY}{SERVER}"))?;
    let screening = workshop.write("screening.yaml", &format!("{POLICY}{SERVER}{SCREENING}"))?;
    for (name, policy, record) in [
        (WRITTEN, &policy, "written"),
        (DURABLE, &policy, "durable"),
        (SIGNED, &policy, "sign-each"),
        (SCREENED, &screening, "written"),
    ] {
        let log = workshop.record(&name.replace([' ', ','], "-"))?;
        targets.push(json!({
            "name": name, "kind": "stdio",
            "cmd": [
                workshop.door, "run", "--policy", policy, "--log", log, "--keys", workshop.keys()?, "--record", record,
                "--", "{server...}",
            ],
        }));
    }
    Ok(targets)
}
