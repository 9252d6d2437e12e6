//! The suite against the bank's own server, behind its own door: whatever needs no fixture passes.

use countersign_testkit::{Bank, Service};

use super::allowed::{Allowed, Ledger};
use super::suite::{Checks, REQUIREMENTS};
use crate::counts::Counts;
use crate::peers::Peers;

/// Runs both requirement sets against a fresh bank's door.
///
/// # Errors
/// When the bank does not start or the suite does not run.
pub async fn test() -> anyhow::Result<Counts> {
    let peers = Peers::install()?;
    let allowed = Allowed::read()?;
    let mut ledger = Ledger::new(&allowed.bank);
    let bank = Bank::start().await?;
    let origin = bank.origin(Service::Door);
    let address = origin.trim_start_matches("http://");
    let mut counts = Counts::default();
    for requirements in REQUIREMENTS {
        // A token is good for one turn.
        let token = bank.session_token("ada").await?;
        let checks = Checks::run(&peers, requirements, address, Some(&token))?;
        let mut failed = 0;
        for check in checks.failed() {
            if !ledger.take(&check.scenario, &check.id) {
                println!("FAILED: {requirements}: {}", check.whole);
                failed += 1;
            }
        }
        let passed = checks.passed();
        println!("{requirements}: {passed} checks of the bank's own server passed");
        counts.failed += u32::from(failed > 0);
        counts.passed += u32::from(failed == 0 && passed > 0);
    }
    for line in ledger.unused() {
        println!("FAILED: nothing fails of {line}: take it out of what may fail");
        counts.failed += 1;
    }
    Ok(counts)
}
