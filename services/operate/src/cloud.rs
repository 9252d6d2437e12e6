//! `docs/deploy/cloud/template.yaml`: the trust table as security groups, what stays after a teardown (nothing), and what an hour costs.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::edges::{Edges, End, RELAY_PORT};
use crate::{files, source};

/// Where the template stands.
pub const FILE: &str = "docs/deploy/cloud/template.yaml";
/// Where the prices stand.
pub const PRICES: &str = "docs/deploy/cloud/prices.yaml";

/// The template, read.
#[derive(Debug)]
pub struct Template {
    document: Value,
}

/// What an hour of each resource costs, in millionths of the currency.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Of which region, when, in which currency.
    pub stated: String,
    /// By type, or by type and size (`type size`), in millionths an hour. A type that is not here is an error.
    pub micros_per_hour: BTreeMap<String, u64>,
}

impl Template {
    /// Reads the template of the checkout.
    ///
    /// # Errors
    /// When it is not there or not YAML.
    pub fn read() -> anyhow::Result<Self> {
        Self::parse(&files::text(FILE)?)
    }

    /// Reads a template.
    ///
    /// # Errors
    /// When it is not YAML.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(Self {
            document: files::yaml(text)?,
        })
    }

    /// Every resource: name, type, properties.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        let all = self.document["Resources"].as_object();
        all.into_iter().flatten().map(|(name, resource)| {
            let kind = resource["Type"].as_str().unwrap_or_default();
            (name.as_str(), kind, &resource["Properties"])
        })
    }

    /// One resource's properties.
    #[must_use]
    pub fn properties(&self, name: &str) -> &Value {
        &self.document["Resources"][name]["Properties"]
    }

    fn of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.resources()
            .filter(move |(_, own, _)| *own == kind)
            .map(|(name, _, properties)| (name, properties))
    }

    /// The edges that the security groups open. What a task needs to start (private endpoints, layers of images) and the door's disk
    /// are not edges between processes.
    ///
    /// # Errors
    /// When a group has rules of its own, or a rule has only one side.
    pub fn edges(&self) -> anyhow::Result<Edges> {
        for (name, group) in self.of_type("AWS::EC2::SecurityGroup") {
            let inline = &group["SecurityGroupEgress"];
            let nothing = inline
                .as_array()
                .is_some_and(|rules| rules.len() == 1 && rules[0]["CidrIp"] == "127.0.0.1/32");
            ensure!(
                nothing && group["SecurityGroupIngress"].is_null(),
                "{name} opens something by itself"
            );
        }
        let mut leaving = Edges::default();
        for (name, rule) in self.of_type("AWS::EC2::SecurityGroupEgress") {
            let from = end(&rule["GroupId"])?;
            let port = port(rule).with_context(|| name.to_owned())?;
            if rule["DestinationSecurityGroupId"].is_object() {
                leaving.add(from, end(&rule["DestinationSecurityGroupId"])?, port);
            } else if rule["CidrIp"]["Ref"] == "BankNetworkCidr" {
                leaving.add_outside(from);
            } else if rule["DestinationPrefixListId"]["Ref"] != "StoragePrefixList" {
                bail!("{name} leads somewhere that nobody knows");
            }
        }
        let mut arriving = Edges::default();
        for (name, rule) in self.of_type("AWS::EC2::SecurityGroupIngress") {
            let to = end(&rule["GroupId"])?;
            let port = port(rule).with_context(|| name.to_owned())?;
            if rule["SourceSecurityGroupId"].is_object() {
                arriving.add(end(&rule["SourceSecurityGroupId"])?, to, port);
            } else {
                ensure!(
                    to == End::Edge && port == 443,
                    "{name} lets the internet in to {to}"
                );
            }
        }
        Edges::agree(&leaving, &arriving, |_| false)?;
        let mut edges = Edges::default();
        for edge in leaving.0 {
            if let End::Named(to) = &edge.1 {
                match to.as_str() {
                    "endpoint" | "record" => continue,
                    "model" => {
                        // The private endpoint is the passage: it leads to the model and nowhere else.
                        let relay = End::named("model-relay");
                        edges.add(edge.0, relay.clone(), RELAY_PORT);
                        edges.add_outside(relay);
                        continue;
                    }
                    _ => {}
                }
            }
            edges.0.insert(edge);
        }
        Ok(edges)
    }

    /// What would stay after the stack is deleted, or could not be deleted.
    #[must_use]
    pub fn leftovers(&self) -> Vec<String> {
        let mut left = Vec::new();
        let all = self.document["Resources"].as_object();
        for (name, resource) in all.into_iter().flatten() {
            for policy in ["DeletionPolicy", "UpdateReplacePolicy"] {
                if resource[policy] != "Delete" {
                    left.push(format!("{name}: {policy} is not Delete"));
                }
            }
            let kind = resource["Type"].as_str().unwrap_or_default();
            let properties = &resource["Properties"];
            match kind {
                "AWS::RDS::DBInstance" => {
                    if properties["DeletionProtection"] != false {
                        left.push(format!("{name}: DeletionProtection is not false"));
                    }
                    if properties["DeleteAutomatedBackups"] != true {
                        left.push(format!("{name}: automated backups stay"));
                    }
                }
                "AWS::ElasticLoadBalancingV2::LoadBalancer" => {
                    let attributes = properties["LoadBalancerAttributes"].as_array();
                    let open = attributes.into_iter().flatten().any(|one| {
                        one["Key"] == "deletion_protection.enabled" && one["Value"] == "false"
                    });
                    if !open {
                        left.push(format!("{name}: the balancer is protected from deletion"));
                    }
                }
                "AWS::EFS::FileSystem" if properties["BackupPolicy"]["Status"] != "DISABLED" => {
                    left.push(format!("{name}: backups of the disk stay"));
                }
                // What cannot be deleted while something is in it, or only after a wait.
                "AWS::S3::Bucket"
                | "AWS::ECR::Repository"
                | "AWS::KMS::Key"
                | "AWS::Backup::BackupVault" => {
                    left.push(format!("{name}: a {kind} outlives its stack"));
                }
                "AWS::ECS::TaskDefinition" => {
                    let text = properties.to_string();
                    if text.contains("awslogs-create-group") {
                        left.push(format!("{name}: its log group would not be the stack's"));
                    }
                }
                _ => {}
            }
        }
        left
    }

    /// What leads from the bank's subnets to the internet; nothing, when the template is right.
    #[must_use]
    pub fn ways_to_the_internet(&self) -> Vec<String> {
        let mut ways = Vec::new();
        for (name, kind, properties) in self.resources() {
            let way = match kind {
                "AWS::EC2::NatGateway"
                | "AWS::EC2::EIP"
                | "AWS::EC2::EgressOnlyInternetGateway" => true,
                "AWS::EC2::Route" => properties["RouteTableId"]["Ref"] != "EdgeRoutes",
                "AWS::EC2::Subnet" => properties["MapPublicIpOnLaunch"] != false,
                "AWS::ECS::Service" => {
                    let network = &properties["NetworkConfiguration"]["AwsvpcConfiguration"];
                    let subnets = network["Subnets"].to_string();
                    network["AssignPublicIp"] != "DISABLED" || subnets.contains("Edge")
                }
                "AWS::RDS::DBInstance" => properties["PubliclyAccessible"] != false,
                _ => false,
            };
            if way {
                ways.push(format!("{name} ({kind})"));
            }
        }
        ways
    }

    /// What an hour costs, by resource, in millionths of the prices' currency. Traffic and disk operations come on top.
    ///
    /// # Errors
    /// When a resource has no price.
    pub fn cost(&self, prices: &Prices) -> anyhow::Result<Vec<(String, u64)>> {
        let mut lines = Vec::new();
        for (name, kind, properties) in self.resources() {
            let (key, count) = self.priced_as(kind, properties);
            let price = prices
                .micros_per_hour
                .get(&key)
                .with_context(|| format!("{name}: {PRICES} has no price of `{key}`"))?;
            if *price > 0 {
                lines.push((name.to_owned(), price * count));
            }
        }
        Ok(lines)
    }

    fn priced_as(&self, kind: &str, properties: &Value) -> (String, u64) {
        let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        match kind {
            "AWS::RDS::DBInstance" => {
                let zones = if properties["MultiAZ"] == true {
                    "two zones"
                } else {
                    "one zone"
                };
                let class = text(&properties["DBInstanceClass"]);
                let disk = text(&properties["AllocatedStorage"]);
                (format!("{kind} {class} {disk} GB {zones}"), 1)
            }
            "AWS::EC2::VPCEndpoint" => {
                let zones = properties["SubnetIds"].as_array().map_or(1, Vec::len) as u64;
                (
                    format!("{kind} {}", text(&properties["VpcEndpointType"])),
                    zones,
                )
            }
            "AWS::ECS::Service" => {
                let task = properties["TaskDefinition"]["Ref"]
                    .as_str()
                    .unwrap_or_default();
                let task = self.properties(task);
                let size = format!("{} cpu {} MB", text(&task["Cpu"]), text(&task["Memory"]));
                (
                    format!("{kind} {size}"),
                    properties["DesiredCount"].as_u64().unwrap_or(1),
                )
            }
            _ => (kind.to_owned(), 1),
        }
    }
}

impl Prices {
    /// Reads the prices of the checkout.
    ///
    /// # Errors
    /// When they are not there or have another form.
    pub fn read() -> anyhow::Result<Self> {
        Ok(serde_saphyr::from_str(&files::text(PRICES)?)?)
    }
}

/// The process that a security group is of: `BankMcpGroup` is `bank-mcp`.
fn end(group: &Value) -> anyhow::Result<End> {
    let name = group["Ref"]
        .as_str()
        .and_then(|name| name.strip_suffix("Group"));
    let name = name.with_context(|| format!("{group} is a group of this template"))?;
    Ok(End::named(&source::kebab(name)))
}

fn port(rule: &Value) -> anyhow::Result<u16> {
    ensure!(
        rule["IpProtocol"] == "tcp" && rule["FromPort"] == rule["ToPort"],
        "a rule opens one TCP port"
    );
    let port = rule["FromPort"].as_u64().context("a port is a number")?;
    Ok(u16::try_from(port)?)
}
