//! `countersign-door pin`: which definitions may pass, and what changed in them.

pub(super) mod difference;
pub(super) mod known;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use countersign_policy::{Pin, Policy, Proposal, write_pins};

use self::difference::{difference, visible};
use self::known::Known;
use super::ask::Place;
use super::definitions::{Definition, Definitions, only_server};
use super::policy_file::{read_policy, replace_file};

/// There is something to look at.
const TO_LOOK_AT: u8 = 1;

/// Compares the tools of a policy with what its servers offer, and pins them.
///
/// Definitions come from the servers of the policy, from the command after `--`, or from files. Look at them before
/// you approve them: from then on exactly they may pass. What was approved is kept beside the policy, so that the next
/// difference can be shown.
///
/// Exit code 0: every tool is as pinned, or was pinned now; 1: there is something to look at.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The policy file.
    #[arg(long)]
    policy: PathBuf,
    /// Definitions instead of a server's answer: the JSON of a `tools/list` answer, as SERVER=FILE or as FILE where
    /// the policy names one server. `-` reads standard input.
    #[arg(long)]
    definitions: Vec<String>,
    /// The server to ask; all of the policy's when not given.
    #[arg(long)]
    server: Option<String>,
    /// Show what changed, member by member.
    #[arg(long)]
    diff: bool,
    /// Write the pins into the policy.
    #[arg(long, alias = "write")]
    approve: bool,
    /// Only this tool; may be given several times.
    #[arg(long = "tool")]
    tools: Vec<String>,
    /// The server's program and its arguments.
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// How a tool stands to its pin.
enum Standing<'d> {
    AsPinned,
    New(&'d Definition),
    Changed(Pin, &'d Definition),
    Gone,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    let (yaml, policy) = read_policy(&arguments.policy)?;
    for name in &arguments.tools {
        if !policy.tools().any(|(tool, _)| tool == name) {
            bail!("the policy has no tool {name}: add it under `tools` first");
        }
    }
    let (found, asked) = definitions(arguments, &yaml, &policy)?;
    let known = Known::beside(&arguments.policy)?;
    let mut tools: Vec<_> = policy.tools().collect();
    tools.sort_unstable_by_key(|(name, _)| *name);
    let mut approved = BTreeMap::new();
    let (mut same, mut gone) = (0, 0);
    for (name, pinned) in tools {
        let meant = arguments.tools.is_empty() || arguments.tools.iter().any(|tool| tool == name);
        let of_asked = asked.iter().any(|server| is_of(&policy, name, server));
        if !meant || !of_asked {
            continue;
        }
        match standing(pinned, found.get(name)) {
            Standing::AsPinned => {
                same += 1;
                // Known from now on, where it was pinned without being kept.
                if arguments.approve {
                    approved.extend(
                        found
                            .get(name)
                            .map(|definition| (name.to_owned(), definition)),
                    );
                }
            }
            Standing::Gone => {
                gone += 1;
                say!("{name}: not offered; its pin is kept, its calls are refused");
            }
            Standing::New(definition) => {
                say!("{name}: new\n  + {}", definition.pin);
                show(arguments, None, definition);
                approved.insert(name.to_owned(), definition);
            }
            Standing::Changed(pin, definition) => {
                say!("{name}: changed\n  - {pin}\n  + {}", definition.pin);
                show(arguments, known.definition(name, pin), definition);
                approved.insert(name.to_owned(), definition);
            }
        }
    }
    if arguments.tools.is_empty() {
        not_in_policy(arguments, &policy, &found);
    }
    finish(arguments, &yaml, &policy, known, &approved, (same, gone))
}

fn standing(pinned: Option<Pin>, found: Option<&Definition>) -> Standing<'_> {
    match (pinned, found) {
        (_, None) => Standing::Gone,
        (Some(pin), Some(definition)) if pin == definition.pin => Standing::AsPinned,
        (Some(pin), Some(definition)) => Standing::Changed(pin, definition),
        (None, Some(definition)) => Standing::New(definition),
    }
}

/// Whether a tool of the policy belongs to a server.
fn is_of(policy: &Policy, name: &str, server: &str) -> bool {
    let own = policy.tools_of(server);
    own.map(|(own, _)| super::definitions::key(policy, server, own))
        .any(|key| key == name)
}

/// What is offered, and by which servers.
fn definitions(
    arguments: &Args,
    yaml: &str,
    policy: &Policy,
) -> anyhow::Result<(Definitions, Vec<String>)> {
    let mut servers: Vec<String> = policy.servers().map(|(name, _)| name.to_owned()).collect();
    servers.sort_unstable();
    if !arguments.definitions.is_empty() {
        let definitions = Definitions::read(policy, &arguments.definitions)?;
        let named = |server: &String| {
            let start = format!("{server}=");
            arguments
                .definitions
                .iter()
                .any(|file| file.starts_with(&start))
        };
        if servers.len() > 1 {
            servers.retain(named);
        }
        return Ok((definitions, servers));
    }
    if arguments.server.is_some() || !arguments.command.is_empty() {
        servers = vec![only_server(policy, arguments.server.as_deref())?.to_owned()];
    }
    if servers.is_empty() {
        bail!("the policy names no server: add one under `servers`");
    }
    // Only now: whoever gives files needs no secrets.
    let environment = |name: &str| std::env::var(name).ok();
    let filled = Policy::load_with(yaml, &environment)
        .with_context(|| format!("read {}", arguments.policy.display()))?;
    let mut definitions = Definitions::default();
    for server in &servers {
        let place = Place::of(&filled, server, &arguments.command)?;
        let answer = place
            .tools()
            .with_context(|| format!("ask the server {server}"))?;
        definitions
            .add(policy, server, &answer)
            .with_context(|| format!("read what the server {server} offers"))?;
    }
    Ok((definitions, servers))
}

fn show(arguments: &Args, before: Option<&serde_json::Value>, definition: &Definition) {
    if !arguments.diff {
        return;
    }
    // The strict reader has read it before.
    let Ok(now) = serde_json::from_str(&definition.raw) else {
        return;
    };
    if before.is_none() {
        say!("  nothing was kept to compare it with; all of it:");
    }
    for line in difference(before, &now) {
        say!("  {line}");
    }
}

/// Names what is offered and not allowed, with the lines that would allow it.
fn not_in_policy(arguments: &Args, policy: &Policy, found: &Definitions) {
    for (name, definition) in found.iter() {
        if policy.tools().any(|(tool, _)| tool == name) {
            continue;
        }
        say!("{}: offered, and not in the policy", visible(name));
        let value = serde_json::from_str(&definition.raw).ok();
        let Some(proposal) = value.as_ref().and_then(Proposal::read) else {
            continue;
        };
        if !arguments.diff || !countersign_policy::check_name(name, true) {
            continue;
        }
        match proposal.write_word {
            Some(word) => say!("  its name holds `{word}`, a payment or write word"),
            None => super::put(&format!(
                "  to allow it, add under `tools`:\n  {name}:\n    schema_sha256: \"{}\"\n{}",
                definition.pin,
                proposal.args_yaml(4)
            )),
        }
    }
}

fn finish(
    arguments: &Args,
    yaml: &str,
    policy: &Policy,
    mut known: Known,
    approved: &BTreeMap<String, &Definition>,
    (same, gone): (usize, usize),
) -> anyhow::Result<ExitCode> {
    let changed: BTreeMap<String, Pin> = approved
        .iter()
        .filter(|(name, definition)| policy.pin(name) != Some(definition.pin))
        .map(|(name, definition)| (name.clone(), definition.pin))
        .collect();
    let count = changed.len();
    if arguments.approve {
        if count > 0 {
            let edited = write_pins(yaml, &changed)?;
            replace_file(&arguments.policy, edited.as_bytes())?;
        }
        known.keep(approved)?;
        say!("{count} pinned, {same} as before, {gone} not offered.");
        if count > 0 {
            say!("A running door takes them up when it reloads its policy.");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if count + gone == 0 {
        say!("{same} as pinned. Nothing to do.");
        return Ok(ExitCode::SUCCESS);
    }
    let next = match (count, arguments.diff) {
        (0, _) => "Ask the server why, or take them out of the policy.",
        (_, false) => "Look at them with --diff, then pin them with --approve.",
        (_, true) => "If they are good, pin them with --approve.",
    };
    say!("{count} to pin, {same} as pinned, {gone} not offered. {next}");
    Ok(ExitCode::from(TO_LOOK_AT))
}
