//! `cargo xtask deploy`: what a deployment elsewhere needs made (docs/deploy/README.md): secrets, configs, the schema in a database.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use countersign_domain::Secret;
use countersign_testkit::installed::{LOGIN_ROLES, install, set_password};
use countersign_testkit::secrets::random_secret;
use countersign_testkit::stack::{Keys, Service};
use countersign_testkit::{checkout, files, spawn};
use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions, PgConnection};

/// Where the services find the database, as the deploy files name it.
const DATABASE: &str = "database:5432/countersign";
/// The user that installs.
const INSTALLER_UID: u32 = 60_717;
/// The group that the database's image runs with; it reads the superuser's password too.
const DATABASE_IMAGE_GID: u32 = 70;
/// How long the installer waits for the database to answer.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// What `deploy` does.
#[derive(Subcommand, Debug)]
pub enum DeployCommand {
    /// Make keys, passwords and each service's config in a folder; what is there is kept
    Prepare(PrepareArguments),
    /// Put roles, schema, execution path and passwords into a database; safe to repeat
    Install(InstallArguments),
}

/// What `prepare` needs.
#[derive(Args, Debug)]
pub struct PrepareArguments {
    /// The folder to write to
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    /// The database's host, port and name
    #[arg(long, value_name = "HOST:PORT/NAME", default_value = DATABASE)]
    database: String,
}

/// What `install` needs.
#[derive(Args, Debug)]
pub struct InstallArguments {
    /// The folder with `logins.json` and `superuser`
    #[arg(long, value_name = "FOLDER")]
    secrets: PathBuf,
    /// The database's host, port and name
    #[arg(long, value_name = "HOST:PORT/NAME", default_value = DATABASE)]
    database: String,
}

/// Runs one of them.
///
/// # Errors
/// When a file cannot be read or written, or the database refuses.
pub async fn run(command: DeployCommand) -> anyhow::Result<()> {
    match command {
        DeployCommand::Prepare(arguments) => prepare(&arguments),
        DeployCommand::Install(arguments) => put_in(&arguments).await,
    }
}

fn prepare(arguments: &PrepareArguments) -> anyhow::Result<()> {
    let to = &arguments.to;
    files::make_folder(to, 0o700)?;
    let passwords = passwords(to)?;
    let superuser = to.join("superuser");
    if !superuser.exists() {
        files::write_private(&superuser, random_secret()?.expose())?;
    }
    let filler = Filler {
        keys: Keys::load_or_make(&to.join("keys"))?,
        passwords,
        database: &arguments.database,
        folder: to,
    };
    let is_root = spawn::effective_uid() == 0;
    let mut owners = vec![(to.join("logins.json"), INSTALLER_UID)];
    for service in Service::ALL {
        let name = service.name();
        let template = checkout::root().join(format!("docs/deploy/config/{name}.json"));
        let text = fs::read_to_string(&template)
            .with_context(|| format!("read {}", template.display()))?;
        let config = filler
            .fill(serde_json::from_str(&text)?)
            .with_context(|| format!("fill the config of {name}"))?;
        let file = to.join(format!("{name}.json"));
        files::write_private(&file, &serde_json::to_string_pretty(&config)?)?;
        owners.push((file, service.uid()));
    }
    for (file, uid) in owners {
        if is_root {
            files::change_owner(&file, uid, uid)?;
        }
        println!("{} is for user {uid}", file.display());
    }
    files::set_mode(&superuser, 0o640)?;
    if is_root {
        files::change_owner(&superuser, INSTALLER_UID, DATABASE_IMAGE_GID)?;
    }
    println!(
        "{} is for user {INSTALLER_UID} and group {DATABASE_IMAGE_GID}",
        superuser.display()
    );
    if !is_root {
        println!("Only root can give the files away: chown each to its user before the start.");
    }
    Ok(())
}

/// The logins' passwords, made once.
fn passwords(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let file = folder.join("logins.json");
    let mut passwords: BTreeMap<String, String> = if file.exists() {
        read_json(&file)?
    } else {
        BTreeMap::new()
    };
    for role in LOGIN_ROLES {
        if !passwords.contains_key(role) {
            passwords.insert(role.to_owned(), random_secret()?.expose().to_owned());
        }
    }
    files::write_private(&file, &serde_json::to_string_pretty(&passwords)?)?;
    Ok(passwords)
}

fn read_json<T: serde::de::DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    // The parser's own words could quote a secret.
    serde_json::from_str(&text)
        .map_err(|_| anyhow::anyhow!("{} is not of its form", file.display()))
}

/// Fills the places of a template.
struct Filler<'a> {
    keys: Keys,
    passwords: BTreeMap<String, String>,
    database: &'a str,
    folder: &'a Path,
}

impl Filler<'_> {
    fn fill(&self, value: Value) -> anyhow::Result<Value> {
        match value {
            Value::Array(list) => list.into_iter().map(|one| self.fill(one)).collect(),
            Value::Object(members) => {
                if let [(kind, Value::String(name))] = &members.iter().collect::<Vec<_>>()[..]
                    && kind.starts_with('$')
                {
                    return self.place(kind, name);
                }
                let filled = members
                    .into_iter()
                    .map(|(name, one)| Ok((name, self.fill(one)?)));
                Ok(Value::Object(filled.collect::<anyhow::Result<_>>()?))
            }
            other => Ok(other),
        }
    }

    fn place(&self, kind: &str, name: &str) -> anyhow::Result<Value> {
        let key = || match name {
            "session" => Ok(&self.keys.session),
            "request" => Ok(&self.keys.request),
            "receipt" => Ok(&self.keys.receipt),
            "notary" => Ok(&self.keys.notary),
            _ => bail!("there is no key called {name}"),
        };
        Ok(match kind {
            "$key" => serde_json::to_value(key()?)?,
            "$public" => serde_json::to_value(key()?.verifying_key_file()?)?,
            "$login" => {
                let password = self
                    .passwords
                    .get(name)
                    .with_context(|| format!("there is no login called {name}"))?;
                json!(format!("postgres://{name}:{password}@{}", self.database))
            }
            "$file" => json!(fs::read_to_string(checkout::root().join(name))?),
            // What others made: a file of its name in the folder, beside what is made here.
            "$secret" => {
                let file = self.folder.join(name);
                match fs::read_to_string(&file) {
                    Ok(text) => json!(text.trim_end()),
                    Err(_) => bail!("put the secret into {} first", file.display()),
                }
            }
            _ => bail!("{kind} is no kind of place"),
        })
    }
}

async fn put_in(arguments: &InstallArguments) -> anyhow::Result<()> {
    let passwords: BTreeMap<String, String> = read_json(&arguments.secrets.join("logins.json"))?;
    let superuser = arguments.secrets.join("superuser");
    let password =
        fs::read_to_string(&superuser).with_context(|| format!("read {}", superuser.display()))?;
    let options: PgConnectOptions = format!("postgres://postgres@{}", arguments.database)
        .parse()
        .context("the database is host:port/name")?;
    let options = options
        .password(password.trim_end())
        .ssl_mode(PgSslMode::Prefer);
    let mut database = connect(&options).await?;
    install(&mut database).await?;
    for role in LOGIN_ROLES {
        let password = passwords
            .get(role)
            .with_context(|| format!("logins.json has a password of {role}"))?;
        ensure!(
            password.len() >= 32,
            "the password of {role} is shorter than 32 characters"
        );
        set_password(&mut database, role, &Secret::new(password.as_str())).await?;
    }
    println!(
        "Roles, schema and passwords of {} logins are in {}.",
        LOGIN_ROLES.len(),
        arguments.database
    );
    Ok(())
}

async fn connect(options: &PgConnectOptions) -> anyhow::Result<PgConnection> {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        match options.connect().await {
            Ok(connection) => return Ok(connection),
            Err(error) if std::time::Instant::now() > deadline => {
                return Err(error).context("reach the database");
            }
            Err(_) => tokio::time::sleep(std::time::Duration::from_secs(1)).await,
        }
    }
}
