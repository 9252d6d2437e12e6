//! `docs/deploy/kubernetes`: deployments, and network policies that state the trust table.

use anyhow::{Context, bail};
use serde_json::Value;

use crate::edges::{Edges, End};
use crate::files::{self, root};

/// Where the manifests stand.
pub const FOLDER: &str = "docs/deploy/kubernetes";
/// The namespace of the ingress controller, which is the edge.
const EDGE_NAMESPACE: &str = "ingress-nginx";

/// Every manifest.
#[derive(Debug)]
pub struct Manifests(pub Vec<Value>);

impl Manifests {
    /// Reads the manifests of the checkout: the ones that a `kustomization.yaml` names, and no others.
    ///
    /// # Errors
    /// When one is missing or not YAML, or one stands there that no kustomization names.
    pub fn read() -> anyhow::Result<Self> {
        let mut manifests = Vec::new();
        for folder in ["bank", "model"] {
            let folder = format!("{FOLDER}/{folder}");
            let kustomization =
                files::yaml(&files::text(&format!("{folder}/kustomization.yaml"))?)?;
            let named = files::texts(&kustomization["resources"]);
            for file in files::below(&root().join(&folder), ".yaml")? {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                if name == "kustomization.yaml" {
                    continue;
                }
                if !named.iter().any(|one| *one == name) {
                    bail!("{folder}/{name} is named by no kustomization");
                }
                let text = files::text(&format!("{folder}/{name}"))?;
                manifests.extend(files::yaml_documents(&text)?);
            }
        }
        Ok(Self(manifests))
    }

    /// Every manifest of a kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter(move |one| one["kind"] == kind)
    }

    /// The one manifest of a kind and name.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(&self, kind: &str, name: &str) -> anyhow::Result<&Value> {
        self.0
            .iter()
            .find(|one| one["kind"] == kind && one["metadata"]["name"] == name)
            .with_context(|| format!("a {kind} called {name}"))
    }

    /// The edges that both ends' policies agree to, or say why not: a connection passes when the sender's egress and the receiver's
    /// ingress allow it.
    ///
    /// # Errors
    /// When a policy has a form that this reader does not know, or only one end allows a connection.
    pub fn edges(&self) -> anyhow::Result<Edges> {
        let mut leaving = Edges::default();
        let mut arriving = Edges::default();
        for policy in self.of_kind("NetworkPolicy") {
            let name = policy["metadata"]["name"].as_str().unwrap_or_default();
            let spec = &policy["spec"];
            if name == "names" {
                continue;
            }
            let Some(own) = spec["podSelector"]["matchLabels"]["app"].as_str() else {
                let rules = spec["ingress"].is_null() && spec["egress"].is_null();
                if name == "default-deny" && rules {
                    continue;
                }
                bail!("the policy {name} is for every pod and allows something");
            };
            for (rules, ends, edges) in [
                ("egress", "to", &mut leaving),
                ("ingress", "from", &mut arriving),
            ] {
                let list = spec[rules]
                    .as_array()
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                for rule in list {
                    let others = rule[ends]
                        .as_array()
                        .filter(|list| !list.is_empty())
                        .with_context(|| format!("{name}: a rule of {rules} names its ends"))?;
                    for other in others {
                        add(edges, own, other, rule, rules == "egress")
                            .with_context(|| format!("the policy {name}"))?;
                    }
                }
            }
        }
        // The ingress controller's own policies are not among these manifests.
        Edges::agree(&leaving, &arriving, |from| *from == End::Edge)?;
        leaving.0.extend(arriving.0);
        Ok(leaving)
    }
}

fn add(
    edges: &mut Edges,
    own: &str,
    other: &Value,
    rule: &Value,
    leaves: bool,
) -> anyhow::Result<()> {
    let ports: Vec<u16> = rule["ports"]
        .as_array()
        .filter(|ports| !ports.is_empty())
        .context("a rule names its ports")?
        .iter()
        .map(|port| {
            let number = port["port"].as_u64().context("a port is a number")?;
            Ok(u16::try_from(number)?)
        })
        .collect::<anyhow::Result<_>>()?;
    let own = End::named(own);
    if other["ipBlock"].is_object() {
        anyhow::ensure!(leaves, "an address lets itself in");
        let except = files::texts(&other["ipBlock"]["except"]);
        for private in [
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "169.254.0.0/16",
        ] {
            anyhow::ensure!(
                except.iter().any(|one| one == private),
                "the way outside leads to {private}, where the cluster itself may be"
            );
        }
        edges.add_outside(own);
        return Ok(());
    }
    let end = if let Some(app) = other["podSelector"]["matchLabels"]["app"].as_str() {
        anyhow::ensure!(
            other["namespaceSelector"].is_null(),
            "{app} is of another namespace"
        );
        End::named(app)
    } else {
        let namespace = &other["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"];
        anyhow::ensure!(
            namespace == EDGE_NAMESPACE,
            "an end that nobody knows: {other}"
        );
        End::Edge
    };
    for port in ports {
        if leaves {
            edges.add(own.clone(), end.clone(), port);
        } else {
            edges.add(end.clone(), own.clone(), port);
        }
    }
    Ok(())
}
