//! The bill of materials: CycloneDX 1.6 of everything that is linked into the released programs.
//!
//! Written from `cargo metadata` and `Cargo.lock`, which know name, version, licence and checksum of every crate. The same lock gives the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::files;

/// The bill, as JSON.
///
/// # Errors
/// When cargo does not answer.
pub fn materials() -> anyhow::Result<Value> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(files::root())
        .output()
        .context("start cargo")?;
    ensure!(
        output.status.success(),
        "cargo tells no metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let checksums = checksums()?;
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .iter()
        .filter_map(|one| Some((one["id"].as_str()?, one)))
        .collect();
    let edges: BTreeMap<&str, Vec<&str>> = list(&metadata["resolve"]["nodes"])
        .iter()
        .filter_map(|node| {
            let linked = list(&node["deps"]).iter().filter(|edge| {
                list(&edge["dep_kinds"])
                    .iter()
                    .any(|kind| kind["kind"].is_null())
            });
            let ids = linked.filter_map(|edge| edge["pkg"].as_str()).collect();
            Some((node["id"].as_str()?, ids))
        })
        .collect();
    let programs = [
        "panel",
        "intake",
        "agent",
        "door",
        "bank-mcp",
        "dashboard",
        "verify",
    ]
    .map(|name| format!("countersign-{name}"));
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = packages
        .iter()
        .filter(|(_, one)| programs.iter().any(|name| one["name"] == **name))
        .map(|(id, _)| *id)
        .collect();
    while let Some(id) = waiting.pop() {
        if reached.insert(id) {
            waiting.extend(edges.get(id).into_iter().flatten());
        }
    }
    let mut components: Vec<Value> = Vec::new();
    let mut dependencies: Vec<Value> = Vec::new();
    for id in &reached {
        let Some(package) = packages.get(id) else {
            continue;
        };
        components.push(component(package, &checksums));
        let mut on: Vec<String> = edges
            .get(id)
            .into_iter()
            .flatten()
            .filter_map(|edge| packages.get(edge))
            .map(|package| reference(package))
            .collect();
        on.sort();
        on.dedup();
        dependencies.push(json!({"ref": reference(package), "dependsOn": on}));
    }
    let by =
        |key: &'static str| move |one: &Value| one[key].as_str().unwrap_or_default().to_owned();
    components.sort_by_key(by("bom-ref"));
    dependencies.sort_by_key(by("ref"));
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": "countersign", "name": "countersign", "version": env!("CARGO_PKG_VERSION"),
            "licenses": [{"expression": "Apache-2.0"}],
        }},
        "components": components,
        "dependencies": dependencies,
    }))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn reference(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

fn component(package: &Value, checksums: &BTreeMap<(String, String), String>) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "purl": reference(package),
        "name": text("name"),
        "version": text("version"),
    });
    // Older manifests write `MIT/Apache-2.0`, which SPDX calls OR.
    let licence = text("license").replace('/', " OR ").replace("  ", " ");
    if !licence.is_empty() {
        component["licenses"] = json!([{"expression": licence}]);
    }
    if let Some(checksum) = checksums.get(&(text("name"), text("version"))) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// Checksums of the lock file, by name and version.
fn checksums() -> anyhow::Result<BTreeMap<(String, String), String>> {
    let lock = files::text("Cargo.lock")?;
    let value = |block: &str, key: &str| {
        let line = block
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
        line.strip_suffix('"').map(ToOwned::to_owned)
    };
    Ok(lock
        .split("[[package]]")
        .filter_map(|block| {
            let key = (value(block, "name")?, value(block, "version")?);
            Some((key, value(block, "checksum")?))
        })
        .collect())
}
