//! Two tools of the door's own, offered only where it was asked to: how it stands, and what it
//! lately decided about this caller. They read, and they show nobody anything of another.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use countersign_journal::Files;
use countersign_policy::Mode;
use countersign_receipts::leaf_hash;
use countersign_wire::Value;
use serde_json::json;

use crate::clock;
use crate::door::Door;

/// Tells how the door stands.
const STATUS: &str = "door__status";
/// Tells what was lately decided about the caller's messages.
const RECENT: &str = "door__recent_events";
/// How much of the record's end is read for recent events, in bytes.
const TAIL_BYTES: u64 = 64 << 10;
/// Most events told at once, and how many where the call does not say.
const EVENTS_MAX: i64 = 50;
const EVENTS_DEFAULT: i64 = 10;

/// The definitions as `tools/list` shows them, separated by a comma.
pub const DEFINITIONS: &str = r#"{"name":"door__status","description":"How the door between you and this server stands: its version, policy and servers, and how many of your calls are held for a person.","inputSchema":{"type":"object","additionalProperties":false},"annotations":{"readOnlyHint":true}},{"name":"door__recent_events","description":"What the door lately decided about your calls, newest first: event, tool, rule, reason, receipt. No values.","inputSchema":{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":50}},"additionalProperties":false},"annotations":{"readOnlyHint":true}}"#;

/// The tools of one door.
pub struct OwnTools {
    lines: PathBuf,
    since: String,
}

/// The arguments are not the declared ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("call a tool of the door's own: undeclared arguments")]
pub struct UndeclaredArguments;

impl OwnTools {
    /// The tools of the door whose record lies in this folder.
    pub fn new(directory: &Path) -> Self {
        Self {
            lines: Files::new(directory).lines(),
            since: clock::timestamp(),
        }
    }

    /// Whether a name is that of one of these tools.
    pub fn has(name: &str) -> bool {
        name == STATUS || name == RECENT
    }

    /// The result of a call, as JSON.
    ///
    /// # Errors
    /// [`UndeclaredArguments`].
    pub fn call(
        &self,
        door: &Door,
        identity: &str,
        name: &str,
        arguments: Option<Value<'_>>,
    ) -> Result<String, UndeclaredArguments> {
        let limit = limit(name, arguments)?;
        let told = match name == STATUS {
            true => self.status(door, identity),
            false => json!({"events": self.recent(identity, limit)}),
        };
        let text = told.to_string();
        Ok(
            json!({"content": [{"type": "text", "text": text}], "structuredContent": told})
                .to_string(),
        )
    }

    fn status(&self, door: &Door, identity: &str) -> serde_json::Value {
        let rules = door.rules();
        let servers: Vec<_> = door.servers.iter().map(|server| &*server.name).collect();
        json!({
            "door": env!("CARGO_PKG_VERSION"),
            "since": self.since,
            "mode": match rules.policy.mode() {
                Mode::Enforce => "enforce",
                Mode::Observe => "observe",
            },
            "policy": {"id": rules.mark.id(), "sha256": rules.mark.sha256()},
            "servers": servers,
            "record": {"origin": door.log.origin(), "key": door.log.key_id()},
            "held": door.holds().map_or(0, |holds| holds.held_of(identity)),
        })
    }

    /// The last events about this caller, newest first. A record that cannot be read tells nothing.
    fn recent(&self, identity: &str, limit: usize) -> Vec<serde_json::Value> {
        let tail = match tail(&self.lines) {
            Ok(tail) => tail,
            Err(error) => {
                tracing::warn!(%error, "The end of the record cannot be read");
                return Vec::new();
            }
        };
        let mut lines: Vec<_> = tail.split(|byte| *byte == b'\n').collect();
        // What does not end yet is still being written.
        lines.pop();
        let mut events = Vec::new();
        for line in lines.iter().rev() {
            if events.len() == limit {
                break;
            }
            // The first line may be cut, and is then none.
            let Ok(read) = serde_json::from_slice::<serde_json::Value>(line) else {
                continue;
            };
            let is_callers = ["customer", "identity"]
                .iter()
                .any(|member| read[member] == identity);
            if !is_callers {
                continue;
            }
            let mut event = serde_json::Map::new();
            for member in [
                "at", "event", "server", "method", "tool", "rule", "reason", "call",
            ] {
                if let Some(value) = read.get(member) {
                    event.insert(member.to_owned(), value.clone());
                }
            }
            event.insert("receipt".to_owned(), leaf_hash(line).to_string().into());
            events.push(event.into());
        }
        events
    }
}

fn limit(name: &str, arguments: Option<Value<'_>>) -> Result<usize, UndeclaredArguments> {
    let mut limit = EVENTS_DEFAULT;
    for (member, value) in arguments.iter().flat_map(Value::members) {
        match (name, &*member, value.as_exact_integer()) {
            (RECENT, "limit", Some(asked)) if (1..=EVENTS_MAX).contains(&asked) => limit = asked,
            _ => return Err(UndeclaredArguments),
        }
    }
    Ok(usize::try_from(limit).unwrap_or(0))
}

fn tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    Ok(tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_wire::{Caps, Document};

    #[test]
    fn the_definitions_are_those_of_the_tools() {
        let list: serde_json::Value = serde_json::from_str(&format!("[{DEFINITIONS}]")).unwrap();
        let names: Vec<_> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, [STATUS, RECENT]);
        assert!(names.iter().all(|name| OwnTools::has(name)));
        assert!(!OwnTools::has("door__") && !OwnTools::has("status"));
    }

    #[test]
    fn only_declared_arguments_pass() {
        let limit = |name: &str, text: &str| {
            let document = Document::read(text.as_bytes(), &Caps::MESSAGE).unwrap();
            limit(name, Some(document.root()))
        };
        assert_eq!(limit(STATUS, "{}"), Ok(10));
        assert_eq!(limit(RECENT, r#"{"limit":50}"#), Ok(50));
        for (name, text) in [
            (STATUS, r#"{"limit":1}"#),
            (RECENT, r#"{"limit":0}"#),
            (RECENT, r#"{"limit":51}"#),
            (RECENT, r#"{"limit":"1"}"#),
            (RECENT, r#"{"identity":"ada"}"#),
        ] {
            assert_eq!(limit(name, text), Err(UndeclaredArguments), "{name} {text}");
        }
    }

    #[test]
    fn a_caller_is_told_of_their_own_events_alone() {
        let directory = std::env::temp_dir().join(format!("door-own-tools-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let tools = OwnTools::new(&directory);
        assert!(tools.recent("ada", 10).is_empty());
        let line = |number: u64, who: &str| {
            json!({"at": number, "event": "denied", "tool": "t", who: "ada", "arguments": {"names": ["secret"]}}).to_string()
        };
        let other = json!({"at": 9, "event": "allowed", "identity": "eve"}).to_string();
        let text = format!(
            "{}\n{other}\n{}\n{{\"identity\":\"ada\"",
            line(1, "customer"),
            line(2, "identity")
        );
        std::fs::write(&tools.lines, text).unwrap();
        let events = tools.recent("ada", 10);
        assert_eq!(events.len(), 2);
        assert_eq!(events[0]["at"], 2);
        assert_eq!(
            events[0]["receipt"],
            leaf_hash(line(2, "identity").as_bytes()).to_string()
        );
        assert!(!serde_json::to_string(&events).unwrap().contains("secret"));
        assert_eq!(tools.recent("ada", 1).len(), 1);
        assert_eq!(tools.recent("eve", 10).len(), 1);
    }
}
