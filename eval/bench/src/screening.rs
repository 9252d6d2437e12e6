//! What a clean result of 10 KB costs to read, redact and screen, beside a pass of memchr over its bytes.

use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::workshop::Workshop;

/// The row that the bar is about.
const ALL: &str = "read, redact, screen";

/// Runs the screens' own measurement, prints its rows, and returns the median of all of it in microseconds.
///
/// # Errors
/// When it cannot be run or says something else.
pub fn measure(workshop: &Workshop) -> anyhow::Result<f64> {
    let output = Command::new(&workshop.throughput)
        .output()
        .context("start the measurement of the screens")?;
    ensure!(
        output.status.success(),
        "the measurement of the screens failed"
    );
    let text = String::from_utf8(output.stdout)?;
    println!("\nScreening a clean result: {text}");
    let row = text.lines().find_map(|line| line.strip_prefix(ALL));
    let figure = row.and_then(|row| row.split_whitespace().next());
    figure
        .context("the measurement of the screens has no such row")?
        .parse()
        .context("read a duration")
}
