//! What the load client measured, and how it is compared: inside a round first, then the median over rounds.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::workshop::Workshop;

/// One target in one round.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Figures {
    /// From the start to the answer of `initialize`, in milliseconds.
    pub cold_ms: f64,
    /// The fastest tenth of one call at a time ends here, in microseconds. Other work on the machine
    /// disturbs it least.
    pub p10_us: f64,
    /// Median of one call at a time, in microseconds.
    pub p50_us: f64,
    /// The slowest hundredth of those.
    pub p99_us: f64,
    /// Calls a second with 32 in flight.
    pub rps32: f64,
    /// Processor time a call with 32 in flight, in microseconds.
    pub cpu_us: f64,
    /// Memory of its own, in mebibytes.
    pub anonymous_mib: f64,
    /// Answers that were errors.
    pub errors: u32,
}

/// All targets in all rounds. A round that failed is a hole.
#[derive(Debug, Deserialize)]
pub struct Table {
    rows: BTreeMap<String, Vec<Option<Figures>>>,
    #[serde(skip)]
    order: Vec<String>,
}

/// Runs the load client over these targets.
///
/// # Errors
/// When it cannot be started or its answer cannot be read.
pub fn measure(workshop: &Workshop, targets: &[Value], rounds: u32) -> anyhow::Result<Table> {
    let file = workshop.write("targets.json", &serde_json::to_string_pretty(targets)?)?;
    let output = Command::new("python3")
        .arg(Workshop::sources().join("load"))
        .arg(file)
        .args(["--rounds", &rounds.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .context("start the load client; Python 3 is needed")?;
    ensure!(output.status.success(), "the load client failed");
    let mut table: Table = serde_json::from_slice(&output.stdout)?;
    let name = |target: &Value| target["name"].as_str().unwrap_or_default().to_owned();
    table.order = targets.iter().map(name).collect();
    Ok(table)
}

impl Table {
    /// The median of a figure of one target.
    pub fn median(&self, name: &str, figure: impl Fn(&Figures) -> f64) -> Option<f64> {
        middle(self.rows.get(name)?.iter().flatten().map(figure).collect())
    }

    /// The median over rounds of a comparison of two targets inside each round.
    pub fn compared(
        &self,
        name: &str,
        base: &str,
        compare: impl Fn(&Figures, &Figures) -> f64,
    ) -> Option<f64> {
        let rounds = self.rows.get(name)?.iter().zip(self.rows.get(base)?);
        middle(
            rounds
                .filter_map(|(own, base)| Some(compare(own.as_ref()?, base.as_ref()?)))
                .collect(),
        )
    }

    /// What a target adds to the median of one call at a time, in microseconds.
    pub fn added(&self, name: &str, base: &str) -> Option<f64> {
        self.compared(name, base, |own, base| own.p50_us - base.p50_us)
    }

    /// A target's calls a second with 32 in flight, as a share of another's.
    pub fn share(&self, name: &str, base: &str) -> Option<f64> {
        self.compared(name, base, |own, base| own.rps32 / base.rps32)
    }

    /// Prints every target's medians.
    pub fn print(&self) {
        println!(
            "\n| target | p50 µs | added µs | added, fastest tenth | p99 µs | calls/s at 32 | of direct | CPU µs/call | cold ms | memory MiB | errors |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
        for name in &self.order {
            let base = if name.starts_with("stdio") {
                crate::stdio::DIRECT
            } else {
                crate::http::DIRECT
            };
            let shown = |figure: fn(&Figures) -> f64| {
                self.median(name, figure)
                    .map_or_else(|| "failed".to_owned(), |value| format!("{value:.1}"))
            };
            let errors: u32 = self
                .rows
                .get(name)
                .into_iter()
                .flatten()
                .flatten()
                .map(|row| row.errors)
                .sum();
            println!(
                "| {name} | {} | {:.1} | {:.1} | {} | {} | {:.2} | {} | {} | {} | {errors} |",
                shown(|row| row.p50_us),
                self.added(name, base).unwrap_or(f64::NAN),
                self.compared(name, base, |own, base| own.p10_us - base.p10_us)
                    .unwrap_or(f64::NAN),
                shown(|row| row.p99_us),
                shown(|row| row.rps32),
                self.share(name, base).unwrap_or(f64::NAN),
                shown(|row| row.cpu_us),
                shown(|row| row.cold_ms),
                shown(|row| row.anonymous_mib),
            );
        }
    }
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
