//! `countersign-door pin`: writes the hashes of definitions into a policy file.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use countersign_policy::{Pin, Policy, write_pins};
use countersign_wire::{Caps, Document};

use crate::judge::lists;

/// Pins the tools of a policy to their definitions.
///
/// The definitions are the JSON of a `tools/list` result, of the whole answer, or of the list alone. Look at them
/// before you pin them: from then on exactly they may pass.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The policy file.
    #[arg(long)]
    policy: PathBuf,
    /// The definitions; `-` reads standard input.
    #[arg(long)]
    definitions: PathBuf,
    /// Write the pins into the file; otherwise only say what would change.
    #[arg(long)]
    write: bool,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    let yaml = std::fs::read_to_string(&arguments.policy).context("read the policy file")?;
    let policy = Policy::load(&yaml).context("read the policy file")?;
    let definitions = if arguments.definitions.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .context("read standard input")?;
        bytes
    } else {
        std::fs::read(&arguments.definitions).context("read the definitions")?
    };
    let found = pins(&definitions)?;
    let mut changed = 0;
    for (name, pinned) in policy.tools() {
        match found.get(name) {
            None => println!("{name}: not among the definitions, pin kept"),
            Some(pin) if pinned == Some(*pin) => {}
            Some(pin) => {
                changed += 1;
                println!(
                    "{name}: {}",
                    pinned.map_or_else(|| "new".into(), |old| old.to_string())
                );
                println!("  -> {pin}");
            }
        }
    }
    for name in found.keys().filter(|name| !policy.names_tool(name)) {
        println!("{name}: offered, and not in the policy");
    }
    if arguments.write && changed > 0 {
        let edited = write_pins(&yaml, &found)?;
        std::fs::write(&arguments.policy, edited).context("write the policy file")?;
    }
    println!(
        "{changed} pins {}",
        if arguments.write {
            "written"
        } else {
            "would change"
        }
    );
    if !arguments.write && changed > 0 {
        bail!("run it with --write to pin these definitions");
    }
    Ok(ExitCode::SUCCESS)
}

/// The hash of every definition in a `tools/list` result or answer.
fn pins(bytes: &[u8]) -> anyhow::Result<BTreeMap<String, Pin>> {
    let document = Document::read(bytes, &Caps::ANSWER).context("read the definitions")?;
    let root = document.root();
    let entries =
        lists::tools(root.get("result").unwrap_or(root)).context("read the definitions")?;
    let mut pins = BTreeMap::new();
    for entry in entries {
        let (Some(name), Some(pin)) = (entry.name, entry.pin) else {
            bail!("a definition has no name or cannot be hashed");
        };
        if pins.insert(name.clone(), pin).is_some() {
            bail!("{name} is defined twice");
        }
    }
    Ok(pins)
}
