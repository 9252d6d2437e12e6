//! Definitions of tools, from files.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail};
use countersign_policy::{Pin, Policy, definition_pin};
use countersign_wire::{Caps, Document};

use super::policy_file::read_bytes;
use crate::judge::lists;

/// A tool as a server defines it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The hash of the whole of it.
    pub pin: Pin,
    /// Its JSON as the server wrote it.
    pub raw: Box<str>,
}

/// Definitions by the names that the policy has for tools.
#[derive(Clone, Debug, Default)]
pub struct Definitions(BTreeMap<String, Definition>);

impl Definitions {
    /// Reads files given as `FILE` or `SERVER=FILE`.
    ///
    /// # Errors
    /// When one cannot be read or says the same twice.
    pub fn read(policy: &Policy, files: &[String]) -> anyhow::Result<Self> {
        let mut definitions = Self::default();
        for file in files {
            let (server, file) = match file.split_once('=') {
                Some((server, file)) if policy.server(server).is_some() => (Some(server), file),
                _ => (None, file.as_str()),
            };
            let bytes = read_bytes(Path::new(file))?;
            let server = only_server(policy, server)?;
            definitions
                .add(policy, server, &bytes)
                .with_context(|| format!("read the definitions in {file}"))?;
        }
        Ok(definitions)
    }

    /// Takes in what a server offers: the JSON of a `tools/list` result, of the whole answer, or of
    /// the list alone.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn add(&mut self, policy: &Policy, server: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let document = Document::read(bytes, &Caps::ANSWER)?;
        let root = document.root();
        let result = root.get("result").unwrap_or(root);
        lists::tools(result).context("no list of tools")?;
        let array = result.get("tools").unwrap_or(result);
        for element in array.elements() {
            let name = element.get("name").and_then(|name| name.as_str());
            let Some(name) = name else {
                bail!("a definition has no name");
            };
            let pin = definition_pin(element.raw()).with_context(|| format!("tool {name}"))?;
            let key = key(policy, server, &name);
            let definition = Definition {
                pin,
                raw: element.raw().into(),
            };
            if self.0.insert(key, definition).is_some() {
                bail!("{name} is defined twice");
            }
        }
        Ok(())
    }

    /// A definition, by the name that the policy has for the tool.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.0.get(name)
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Definition)> {
        self.0
            .iter()
            .map(|(name, definition)| (name.as_str(), definition))
    }

    /// All of them as JSON values.
    pub fn values(&self) -> BTreeMap<String, serde_json::Value> {
        let read = self.0.iter().filter_map(|(name, definition)| {
            let value = serde_json::from_str(&definition.raw).ok()?;
            Some((name.clone(), value))
        });
        read.collect()
    }
}

/// The name that a policy has for a server's tool.
pub fn key(policy: &Policy, server: &str, name: &str) -> String {
    match policy.servers().count() {
        0 | 1 => name.to_owned(),
        _ => format!("{server}__{name}"),
    }
}

/// The server that is meant: the named one, or the only one.
///
/// # Errors
/// When there are several and none is named.
pub fn only_server<'p>(policy: &'p Policy, named: Option<&str>) -> anyhow::Result<&'p str> {
    let mut names: Vec<_> = policy.servers().map(|(name, _)| name).collect();
    names.sort_unstable();
    match (named, &names[..]) {
        (Some(named), _) => match names.iter().find(|name| **name == named) {
            Some(name) => Ok(name),
            None => bail!(
                "the policy names no server {named}; it has: {}",
                names.join(", ")
            ),
        },
        (None, [only]) => Ok(only),
        (None, []) => bail!("the policy names no server: add one under `servers`"),
        (None, _) => bail!(
            "the policy names several servers: say which ({})",
            names.join(", ")
        ),
    }
}
