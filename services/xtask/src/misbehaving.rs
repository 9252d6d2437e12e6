//! The door's own report about the misbehaving server, held against the published one.

use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use crate::attack_lines::compare;
use crate::counts::Counts;
use crate::{doors, processes};

/// The published page.
const PAGE: &str = "docs/misbehaving-server.md";

/// Makes the report in both forms and counts what was stopped.
///
/// # Errors
/// When a program does not start.
pub fn test() -> anyhow::Result<Counts> {
    let mut counts = Counts::default();
    let markdown = processes::fed(Command::new(doors::program()?).arg("report"), b"");
    let json = Command::new(doors::program()?)
        .args(["report", "--format", "json"])
        .output()?;
    let report: Value = serde_json::from_slice(&json.stdout).context("read the report")?;
    for row in report["rows"].as_array().context("the report has rows")? {
        let without = &row["without"];
        let harmless = without["stolen_cents"] == 0
            && without["reached"] != true
            && without["got"].as_array().is_none_or(Vec::is_empty);
        let good = row["stopped"] == true && row["with"]["stolen_cents"] == 0 && !harmless;
        counts.passed += u32::from(good);
        counts.failed += u32::from(!good);
        if !good {
            println!("FAILED: {row}");
        }
    }
    if let Ok(markdown) = markdown {
        compare(PAGE, &markdown, &mut counts)?;
    }
    Ok(counts)
}
