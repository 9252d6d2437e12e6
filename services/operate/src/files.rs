//! The checkout's files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

/// The checkout's root folder.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// A file of the checkout as text.
///
/// # Errors
/// When it cannot be read.
pub fn text(path: &str) -> anyhow::Result<String> {
    fs::read_to_string(root().join(path)).with_context(|| format!("read {path}"))
}

/// A JSON file of the checkout.
///
/// # Errors
/// When it cannot be read or is not JSON.
pub fn json(path: &str) -> anyhow::Result<Value> {
    serde_json::from_str(&text(path)?).with_context(|| format!("read {path} as JSON"))
}

/// Every document of a YAML text.
///
/// # Errors
/// When it is not YAML.
pub fn yaml_documents(text: &str) -> anyhow::Result<Vec<Value>> {
    Ok(serde_saphyr::from_multiple(text)?)
}

/// A YAML text of one document.
///
/// # Errors
/// When it is not YAML, or not one document.
pub fn yaml(text: &str) -> anyhow::Result<Value> {
    Ok(serde_saphyr::from_str(text)?)
}

/// Every file below a folder whose name ends with `ending`, in order.
///
/// # Errors
/// When a folder cannot be read.
pub fn below(folder: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text members of a list, or nothing where there is no list.
#[must_use]
pub fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|one| one.as_str().map(ToOwned::to_owned))
        .collect()
}
