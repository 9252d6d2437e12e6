//! What was approved, kept beside the policy so that a change can be shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_policy::{Pin, definition_pin};
use serde_json::{Map, Value};

use crate::commands::definitions::Definition;
use crate::commands::policy_file::{read_text, replace_file};

/// The definitions that were approved. Pins decide; this only shows.
pub struct Known {
    path: PathBuf,
    tools: Map<String, Value>,
}

impl Known {
    /// Reads what is kept beside a policy; nothing where nothing is.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn beside(policy: &Path) -> anyhow::Result<Self> {
        let mut name = policy.as_os_str().to_owned();
        name.push(".definitions.json");
        let path = PathBuf::from(name);
        let mut tools = Map::new();
        if path.exists() {
            let text = read_text(&path)?;
            tools = serde_json::from_str(&text)
                .with_context(|| format!("read {}: delete it, or mend it", path.display()))?;
        }
        Ok(Self { path, tools })
    }

    /// The definition that was pinned. What is kept and has another hash is none.
    pub fn definition(&self, name: &str, pin: Pin) -> Option<&Value> {
        let kept = self.tools.get(name)?;
        (definition_pin(&kept.to_string()) == Ok(pin)).then_some(kept)
    }

    /// Keeps definitions.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn keep(&mut self, approved: &BTreeMap<String, &Definition>) -> anyhow::Result<()> {
        for (name, definition) in approved {
            let value = serde_json::from_str(&definition.raw).context("keep a definition")?;
            self.tools.insert(name.clone(), value);
        }
        let text = format!("{:#}\n", Value::Object(self.tools.clone()));
        replace_file(&self.path, text.as_bytes())
    }
}
