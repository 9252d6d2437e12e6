//! The wall in the crate graph: who reaches whom, committed, and the paths that must not exist.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

/// Which packages a package's normal and build dependencies lead to directly.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn graph() -> Graph {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--offline",
            "--all-features",
        ])
        .current_dir(countersign_testkit::checkout::root())
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|package| {
            (
                package["id"].as_str().expect("id"),
                package["name"].as_str().expect("name"),
            )
        })
        .collect();
    metadata["resolve"]["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|node| {
            let edges = node["deps"]
                .as_array()
                .expect("deps")
                .iter()
                .filter(|edge| {
                    edge["dep_kinds"]
                        .as_array()
                        .expect("kinds")
                        .iter()
                        .any(|kind| kind["kind"] != "dev")
                })
                .map(|edge| names[edge["pkg"].as_str().expect("pkg")].to_owned());
            (
                names[node["id"].as_str().expect("id")].to_owned(),
                edges.collect(),
            )
        })
        .collect()
}

fn reaches(graph: &Graph, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from.to_owned()];
    while let Some(package) = waiting.pop() {
        if package == to {
            return true;
        }
        if seen.insert(package.clone()) {
            waiting.extend(graph.get(&package).into_iter().flatten().cloned());
        }
    }
    false
}

/// Every broken rule of the wall, in words.
fn broken_rules(graph: &Graph) -> Vec<String> {
    let ours: Vec<&String> = graph
        .keys()
        .filter(|name| name.starts_with("countersign-"))
        .collect();
    let mut broken = Vec::new();
    for package in &ours {
        let may_act = ["countersign-panel", "countersign-execution"].contains(&package.as_str());
        if !may_act && reaches(graph, package, "countersign-execution") {
            broken.push(format!("{package} reaches countersign-execution"));
        }
        let may_ask = ["countersign-bank-mcp", "countersign-pending"].contains(&package.as_str());
        if !may_ask && reaches(graph, package, "countersign-pending") {
            broken.push(format!("{package} reaches countersign-pending"));
        }
        let is_for_tests = [
            "countersign-eval",
            "countersign-soft-passkey",
            "countersign-testkit",
            "countersign-xtask",
        ]
        .contains(&package.as_str());
        if !is_for_tests && reaches(graph, package, "countersign-soft-passkey") {
            broken.push(format!("{package} reaches countersign-soft-passkey"));
        }
    }
    for package in [
        "countersign-agent",
        "countersign-door",
        "countersign-models",
        "countersign-verify",
    ] {
        for forbidden in ["sqlx", "sqlx-core", "sqlx-postgres", "countersign-store"] {
            if reaches(graph, package, forbidden) {
                broken.push(format!("{package} reaches {forbidden}"));
            }
        }
    }
    for package in [
        "countersign-panel",
        "countersign-execution",
        "countersign-bank-mcp",
        "countersign-intake",
    ] {
        if reaches(graph, package, "countersign-models") {
            broken.push(format!("{package} reaches countersign-models"));
        }
    }
    for package in ["countersign-panel", "countersign-execution"] {
        if reaches(graph, package, "countersign-identity") {
            broken.push(format!("{package} reaches countersign-identity"));
        }
    }
    broken
}

#[test]
fn the_crate_graph_is_the_committed_one() {
    let graph = graph();
    let edges: Vec<String> = graph
        .iter()
        .filter(|(package, _)| package.starts_with("countersign-"))
        .map(|(package, edges)| {
            let short = |name: &str| name.trim_start_matches("countersign-").to_owned();
            let to: Vec<String> = edges
                .iter()
                .filter(|name| {
                    name.starts_with("countersign-")
                        || ["sqlx", "rmcp", "reqwest", "axum"].contains(&name.as_str())
                })
                .map(|name| short(name))
                .collect();
            format!("{} -> {}", short(package), to.join(" "))
        })
        .collect();
    insta::assert_snapshot!("crate_graph", edges.join("\n"));
}

#[test]
fn no_path_leads_through_the_wall() {
    assert_eq!(broken_rules(&graph()), Vec::<String>::new());
}

#[test]
fn one_edge_through_the_wall_is_noticed() {
    for (from, to) in [
        ("countersign-agent", "countersign-execution"),
        ("countersign-bank-mcp", "countersign-execution"),
        ("countersign-testkit", "countersign-execution"),
        ("countersign-serve", "countersign-store"),
        ("countersign-domain", "countersign-models"),
        ("countersign-models", "sqlx"),
    ] {
        let mut graph = graph();
        graph
            .get_mut(from)
            .expect("a package")
            .insert(to.to_owned());
        assert_ne!(broken_rules(&graph), Vec::<String>::new(), "{from} -> {to}");
    }
}

#[test]
fn the_cages_state_the_trust_table() {
    use countersign_operate::trust::TrustTable;
    use countersign_testkit::Service;

    let table = TrustTable::read().expect("table");
    assert_eq!(table.services.len(), Service::ALL.len());
    for service in Service::ALL {
        let name = service.name();
        let row = &table.services[name];
        let calls: Vec<&str> = service.calls().iter().map(|one| one.name()).collect();
        assert_eq!(calls, row.calls, "what the cage of {name} lets it call");
        assert_eq!(service.uses_database(), !row.logins.is_empty(), "{name}");
        assert_eq!(service.uid(), row.uid, "{name}");
        assert_eq!(8480 + service.port_offset(), row.port, "{name}");
    }
}
