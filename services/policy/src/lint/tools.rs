//! `tools` and `methods`.

use std::collections::BTreeMap;

use super::{Lint, arguments};
use crate::file::ToolFile;

/// Longest name that common clients take; they cut off or refuse what is longer.
const CLIENT_NAME_MAX: usize = 64;

pub(super) fn look(lint: &mut Lint<'_>) {
    let file = lint.file;
    let mut alike: BTreeMap<String, &str> = BTreeMap::new();
    for (name, tool) in &file.tools {
        let path = format!("tools.{name}");
        look_at_name(lint, &path, name, tool);
        let folded: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|character| character.to_ascii_lowercase())
            .collect();
        if let Some(other) = alike.insert(folded, name) {
            lint.warn(
                "names_alike",
                &path,
                format!("some clients take it for `{other}`: rename one at its server"),
            );
        }
        if tool.schema_sha256.is_none() {
            let what = match file.require_pins {
                true => "it has no pin and is refused",
                false => "it has no pin and may change what it does",
            };
            lint.warn(
                "no_pin",
                &path,
                format!("{what}: look at its definition and run `countersign-door pin`"),
            );
        }
        if !lint.is_written(&format!("{path}.args")) {
            lint.warn(
                "no_args",
                &path,
                "it says nothing about arguments, so each one is refused: declare them, or write \
                 `args: {}`",
            );
        }
        let acknowledged = tool.acknowledged.is_some();
        let no_rate = tool.rate_per_minute.or(file.rate_per_minute).is_none();
        if acknowledged && no_rate {
            lint.warn(
                "no_rate",
                &path,
                "a payment or write tool without `rate_per_minute` may be called without end",
            );
        }
        arguments::look(lint, &format!("{path}.args"), &tool.args, acknowledged);
    }
    for (name, method) in &file.methods {
        let path = format!("methods.{name}.args");
        arguments::look(lint, &path, &method.args, false);
    }
}

fn look_at_name(lint: &mut Lint<'_>, path: &str, name: &str, tool: &ToolFile) {
    let servers = &lint.file.servers;
    let own = match servers.len() {
        0 | 1 => name,
        _ => name.split_once("__").map_or(name, |(_, own)| own),
    };
    if let (Some(word), None) = (lint.words.found_in(own), tool.acknowledged) {
        lint.error(
            "unacknowledged_write_tool",
            path,
            format!(
                "its name holds `{word}`, a payment or write word, so it is refused. Where it only \
                 asks for what a person confirms elsewhere, write `acknowledged: \
                 creates-a-request-only`; else take it out"
            ),
        );
    }
    if let (1, Some((server, _))) = (servers.len(), name.split_once("__"))
        && servers.contains_key(server)
    {
        lint.warn(
            "needless_prefix",
            path,
            "with one server a tool goes by its own name, without the server's in front",
        );
    }
    if name.len() > CLIENT_NAME_MAX {
        lint.warn(
            "long_name",
            path,
            format!("longer than the {CLIENT_NAME_MAX} characters that common clients take"),
        );
    }
}
