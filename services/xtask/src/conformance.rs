//! The official conformance suite, against a conforming server directly and through the door: the door must
//! not be seen, except where its policy denies on purpose.

mod allowed;
pub mod bank;
mod suite;

use std::process::Command;

use anyhow::{Context, ensure};
use countersign_testkit::stack::programs;

use crate::counts::Counts;
use crate::doors::DoorPlace;
use crate::peers::Peers;
use crate::processes::{self, Listening};
use allowed::{Allowed, Ledger};
use suite::{Checks, REQUIREMENTS};

/// How often the server is run directly, to know that two runs of it are the same.
const DIRECT_RUNS: usize = 3;
/// Scenarios of extensions that no revision requires and that the conforming server does not offer.
const NOT_OFFERED: &str = "tasks-";
/// The conforming server's program.
const SERVER: &str = "countersign-conforming-server";

/// The conforming server's name in its policy, and the policy's own.
const NAME: &str = "conforming";

/// Runs everything.
///
/// # Errors
/// When a tool is missing or a program does not start.
pub fn test() -> anyhow::Result<Counts> {
    let peers = Peers::install()?;
    let allowed = Allowed::read()?;
    let folder = programs::build_fixtures(true)?;
    let program = folder.join(SERVER);
    let server = Listening::start(Command::new(&program).args(["--http", "127.0.0.1:0"]), None)?;
    let place = DoorPlace::new("conformance")?;
    let definitions = processes::fed(Command::new(&program).arg("--definitions"), b"")?;
    let policy = place.pinned_policy(NAME, definitions.as_bytes())?;
    let url = format!("http://{}/mcp", server.address());
    let program = program.to_string_lossy();
    let mut ways = [
        Way {
            name: "HTTP to HTTP",
            door: place.serve(&policy, "http", &format!("url: \"{url}\""))?,
            has_another_transport: false,
            ledger: Ledger::new(&allowed.door),
        },
        Way {
            name: "HTTP to a program",
            has_another_transport: true,
            door: place.serve(&policy, "program", &format!("command: [\"{program}\"]"))?,
            ledger: Ledger::new(&allowed.door_before_a_program),
        },
    ];
    let mut counts = Counts::default();
    for requirements in REQUIREMENTS {
        let direct = direct(&peers, requirements, server.address())?;
        println!(
            "ok: {requirements}: {} checks, the same in {DIRECT_RUNS} direct runs",
            direct.count()
        );
        counts.passed += 1;
        for way in &mut ways {
            let through = Checks::run(&peers, requirements, way.door.address(), None)?;
            let refused = match way.has_another_transport {
                false => compare(&direct, &through, &mut way.ledger),
                true => compare(&direct.verdicts(), &through.verdicts(), &mut way.ledger),
            };
            println!(
                "{requirements}: {}: {refused} differences that nothing allows",
                way.name
            );
            counts.passed += u32::from(refused == 0);
            counts.failed += u32::from(refused > 0);
        }
    }
    for way in &ways {
        for line in way.ledger.unused() {
            println!(
                "FAILED: {}: nothing differs in {line}: take it out of what may differ",
                way.name
            );
            counts.failed += 1;
        }
    }
    Ok(counts)
}

/// A door on a way to the server, and what may differ on it.
struct Way<'a> {
    name: &'static str,
    door: Listening,
    /// The server is spoken to over pipes, and what the client sees of HTTP is the door's own: verdicts are
    /// compared, and not how answers are streamed.
    has_another_transport: bool,
    ledger: Ledger<'a>,
}

/// Shows what was checked differently through the door, and counts what no line allows.
///
/// Where the door answers in the server's place, its words differ and the verdict must not.
fn compare(direct: &Checks, through: &Checks, ledger: &mut Ledger<'_>) -> usize {
    let mut lost: Vec<_> = direct.beyond(through).collect();
    let mut gained: Vec<_> = through.beyond(direct).collect();
    gained.retain(|own| {
        let same = lost.iter().position(|check| own.is_the_doors_own(check));
        same.map(|place| lost.swap_remove(place)).is_none()
    });
    let mut refused = 0;
    let lost = lost.into_iter().map(|check| ("direct", check));
    let gained = gained.into_iter().map(|check| ("door  ", check));
    for (way, check) in lost.chain(gained) {
        if !ledger.take(&check.scenario, &check.id) {
            println!("DIFFERENT: {way} {} {}", check.scenario, check.whole);
            refused += 1;
        }
    }
    refused
}

/// Several direct runs that must not differ, and that fail nothing they should pass.
fn direct(peers: &Peers, requirements: &str, address: &str) -> anyhow::Result<Checks> {
    let first = Checks::run(peers, requirements, address, None)?;
    for failed in first.failed() {
        ensure!(
            failed.scenario.starts_with(NOT_OFFERED),
            "the conforming server fails {} of {}: {}",
            failed.id,
            failed.scenario,
            failed.whole
        );
    }
    for _ in 1..DIRECT_RUNS {
        let again = Checks::run(peers, requirements, address, None)?;
        let different = first.beyond(&again).chain(again.beyond(&first)).next();
        if let Some(check) = different {
            Err(anyhow::anyhow!("{check:#?}"))
                .context("two direct runs of the conforming server differ")?;
        }
    }
    Ok(first)
}
