//! The official conformance suite, against a conforming server directly and through the door: the door must
//! not be seen, except where its policy denies on purpose.

mod suite;

use std::process::Command;

use anyhow::{Context, ensure};
use countersign_testkit::stack::programs;

use crate::counts::Counts;
use crate::peers::Peers;
use crate::processes::Listening;
use suite::{Checks, REQUIREMENTS};

/// How often the server is run directly, to know that two runs of it are the same.
const DIRECT_RUNS: usize = 3;
/// Scenarios of extensions that no revision requires and that the conforming server does not offer.
const NOT_OFFERED: &str = "tasks-";
/// The conforming server's program.
const SERVER: &str = "countersign-conforming-server";

/// Runs everything.
///
/// # Errors
/// When a tool is missing or a program does not start.
pub fn test() -> anyhow::Result<Counts> {
    let peers = Peers::install()?;
    let folder = programs::build_fixtures(true)?;
    let mut server = Command::new(folder.join(SERVER));
    let server = Listening::start(server.args(["--http", "127.0.0.1:0"]), None)?;
    let mut counts = Counts::default();
    for requirements in REQUIREMENTS {
        let direct = direct(&peers, requirements, server.address())?;
        counts.passed += 1;
        println!(
            "ok: {requirements}: {} checks, the same in {DIRECT_RUNS} direct runs",
            direct.count()
        );
    }
    Ok(counts)
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
