//! The demonstration: the same attacks on a fake account, without a door and with one.
//!
//! Both ways start the real programs. What an attack got is counted by the misbehaving server itself, in the log of
//! what reached it, and by the client that made it.

mod attacks;
mod outcome;
mod report;
mod speaker;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use self::attacks::ATTACKS;
use self::outcome::Outcome;
pub use self::report::Report;
use self::report::Row;
use self::speaker::Speaker;

/// The program that misbehaves.
const SERVER: &str = "countersign-misbehaving-server";
/// The policy of the door.
const POLICY: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/policy/misbehaving.yaml"
));
/// The name under which the door's record signs its heads.
const ORIGIN: &str = "countersign.example/demo";

/// Runs every attack both ways.
///
/// # Errors
/// When a program is missing or does not start.
pub fn run(server: Option<&Path>) -> anyhow::Result<Report> {
    let server = find_server(server)?;
    let place = Place::new()?;
    let mut rows = Vec::new();
    for (number, attack) in ATTACKS.iter().enumerate() {
        let mut outcomes = Vec::new();
        for door in [false, true] {
            let log = place.folder.join(format!("{number}-{door}.log"));
            let mut command = match door {
                false => Command::new(&server),
                true => place.door(&server, &format!("record-{number}"))?,
            };
            command.arg("--log").arg(&log);
            let mut speaker = Speaker::start(&mut command)?;
            let heard = (attack.make)(&mut speaker)?;
            speaker.end()?;
            outcomes.push(Outcome::new(&heard, &log, attack.tool)?);
        }
        let [without, with] = <[Outcome; 2]>::try_from(outcomes)
            .map_err(|_| anyhow::anyhow!("an attack is made both ways"))?;
        rows.push(Row::new(attack, without, with));
    }
    Ok(Report { rows })
}

fn find_server(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let own = std::env::current_exe().context("find this program")?;
    let beside = own.with_file_name(SERVER);
    if !beside.is_file() {
        bail!(
            "{SERVER} is not beside this program: build it with `cargo build --package {SERVER}`, or name it with \
             --server"
        );
    }
    Ok(beside)
}

/// A folder of the demonstration's own, with a demo key in it. It goes away with it.
struct Place {
    folder: PathBuf,
    program: PathBuf,
}

impl Place {
    fn new() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("countersign-demo-{}", std::process::id()));
        std::fs::create_dir_all(&folder).context("make a folder for the demonstration")?;
        let place = Self {
            program: std::env::current_exe().context("find this program")?,
            folder,
        };
        std::fs::write(place.folder.join("policy.yaml"), POLICY)?;
        let mut keys = Command::new(&place.program);
        keys.args(["keys", "init", "--origin", ORIGIN, "--demo", "--keys"]);
        let made = keys
            .arg(place.folder.join("keys"))
            .stdout(Stdio::null())
            .status()
            .context("make a demo key")?;
        ensure!(made.success(), "no demo key could be made");
        Ok(place)
    }

    /// A door around the server, to which the server's own arguments are still to be added.
    fn door(&self, server: &Path, record: &str) -> anyhow::Result<Command> {
        let mut door = Command::new(&self.program);
        door.args(["run", "--demo", "--policy"]);
        door.arg(self.folder.join("policy.yaml"));
        door.arg("--keys").arg(self.folder.join("keys"));
        door.arg("--log").arg(self.folder.join(record));
        door.arg("--").arg(server);
        Ok(door)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
