//! `countersign-door init`: a policy to start with, and what clients need to start the door.

mod clients;
mod starter;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use countersign_policy::{Policy, check_name};

use self::clients::{CLIENTS, Client};
use super::ask::Place;
use super::definitions::{Definition, Definitions};
use super::pin::known::Known;

/// Something was there already and was left as it is.
const LEFT: u8 = 1;

/// Writes a policy to start with for one server, and the configuration of clients.
///
/// The server is started once and asked what it offers: its read tools are allowed with their arguments and pinned,
/// its payment and write tools are named and left out. Without --dir everything is printed. Files that exist are left
/// as they are. Exit code 0: done; 1: some file was there already.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name of the server, and of the policy.
    #[arg(long, default_value = "server")]
    name: String,
    /// The folder to write policy.yaml and clients/ into.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The server's address, instead of a command.
    #[arg(long, conflicts_with = "command")]
    url: Option<String>,
    /// What the server offers: the JSON of a `tools/list` answer. Then it is not asked.
    #[arg(long)]
    definitions: Option<PathBuf>,
    /// Do not ask the server: leave the tools to be written by hand.
    #[arg(long)]
    offline: bool,
    /// Only this client's configuration; may be given several times.
    #[arg(long = "client")]
    clients: Vec<String>,
    /// The server's program and its arguments.
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    if !check_name(&arguments.name, false) {
        bail!("a name is letters, digits, `_` and `-`: {}", arguments.name);
    }
    let clients = chosen(&arguments.clients)?;
    let command: Vec<String> = arguments
        .command
        .iter()
        .map(|word| match word.to_str() {
            Some(word) => Ok(word.to_owned()),
            None => bail!("the command is no UTF-8 text"),
        })
        .collect::<anyhow::Result<_>>()?;
    let head = starter::head(&arguments.name, &command, arguments.url.as_deref());
    let policy = Policy::load(&head).context("write a policy")?;
    let definitions = definitions(arguments, &head, &policy)?;
    let yaml = starter::policy(&head, definitions.as_ref());
    Policy::load(&yaml).context("write a policy")?;
    let directory = arguments.dir.as_deref();
    let policy_path = policy_path(directory)?;
    let door = std::env::current_exe().context("find this program")?;
    let configurations: Vec<_> = clients
        .iter()
        .map(|client| {
            (
                *client,
                client.configuration(&arguments.name, &door, &policy_path),
            )
        })
        .collect();
    match directory {
        None => {
            print(&yaml, &configurations);
            Ok(ExitCode::SUCCESS)
        }
        Some(directory) => write(directory, &yaml, definitions.as_ref(), &configurations),
    }
}

/// Where the policy will lie; clients start the door from anywhere.
fn policy_path(directory: Option<&Path>) -> anyhow::Result<PathBuf> {
    let directory = directory.unwrap_or(Path::new("."));
    let directory = std::path::absolute(directory).context("find the folder")?;
    Ok(directory.join("policy.yaml"))
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Client>> {
    if names.is_empty() {
        return Ok(CLIENTS.iter().collect());
    }
    let find = |name: &String| {
        let found = CLIENTS.iter().find(|client| client.name == name);
        found.with_context(|| {
            let known: Vec<_> = CLIENTS.iter().map(|client| client.name).collect();
            format!(
                "no client {name} is known here; these are: {}",
                known.join(", ")
            )
        })
    };
    names.iter().map(find).collect()
}

/// What the server offers; none where nobody is asked.
fn definitions(
    arguments: &Args,
    head: &str,
    policy: &Policy,
) -> anyhow::Result<Option<Definitions>> {
    let mut definitions = Definitions::default();
    if let Some(file) = &arguments.definitions {
        let bytes = super::policy_file::read_bytes(file)?;
        definitions
            .add(policy, &arguments.name, &bytes)
            .with_context(|| format!("read the definitions in {}", file.display()))?;
        return Ok(Some(definitions));
    }
    if arguments.offline || (arguments.command.is_empty() && arguments.url.is_none()) {
        return Ok(None);
    }
    let environment = |name: &str| std::env::var(name).ok();
    let filled =
        Policy::load_with(head, &environment).context("read the command or the address")?;
    let answer = Place::of(&filled, &arguments.name, &[])?
        .tools()
        .context("ask the server what it offers, or leave it with --offline")?;
    definitions
        .add(policy, &arguments.name, &answer)
        .context("read what the server offers")?;
    Ok(Some(definitions))
}

fn print(yaml: &str, configurations: &[(&Client, String)]) {
    say!("# policy.yaml\n{yaml}");
    for (client, configuration) in configurations {
        say!("# {}: {}\n{configuration}", client.title, client.place);
    }
    say!("# Nothing was written. Run it again with --dir FOLDER to write these files.");
}

fn write(
    directory: &Path,
    yaml: &str,
    definitions: Option<&Definitions>,
    configurations: &[(&Client, String)],
) -> anyhow::Result<ExitCode> {
    let clients = directory.join("clients");
    std::fs::create_dir_all(&clients)
        .with_context(|| format!("make the folder {}", clients.display()))?;
    let policy = directory.join("policy.yaml");
    let mut left = 0;
    if create(&policy, yaml)? {
        if let Some(definitions) = definitions {
            let kept: BTreeMap<String, &Definition> = definitions
                .iter()
                .map(|(name, definition)| (name.to_owned(), definition))
                .collect();
            Known::beside(&policy)?.keep(&kept)?;
        }
    } else {
        left += 1;
    }
    for (client, configuration) in configurations {
        let path = clients.join(client.file);
        let note = format!("for {}", client.place);
        match create(&path, configuration)? {
            true => say!("  {note}"),
            false => left += 1,
        }
    }
    say!(
        "\nNext: look {} over, run `countersign-door lint --policy {}`, make a key with \
         `countersign-door keys init`, and put a client's configuration in its place. What is decided is \
         recorded in a folder of ~/.local/state/countersign-door; `countersign-verify log` checks it.",
        policy.display(),
        policy.display()
    );
    Ok(ExitCode::from(if left > 0 { LEFT } else { 0 }))
}

/// Writes a file that is not there yet, and says what came of it.
fn create(path: &Path, text: &str) -> anyhow::Result<bool> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    match file {
        Ok(mut file) => {
            file.write_all(text.as_bytes())
                .with_context(|| format!("write {}", path.display()))?;
            say!("{}: written", path.display());
            Ok(true)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            say!("{}: there already, left as it is", path.display());
            Ok(false)
        }
        Err(error) => Err(error).with_context(|| format!("write {}", path.display())),
    }
}
