//! Processor time of the servers, as the kernel counts it (proc(5)).

use std::path::Path;

use anyhow::Context as _;

/// Ticks in a second: what Linux shows programs, on every machine.
const TICKS: f64 = 100.0;

/// A PostgreSQL server: its first process and those that it started.
pub struct Server {
    first: u32,
}

impl Server {
    /// The server of a data folder.
    pub fn of(data: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(data.join("postmaster.pid"))?;
        let first = text.lines().next().context("a process")?.trim().parse()?;
        Ok(Self { first })
    }

    /// Seconds used until now, by processes that ended too.
    pub fn used(&self) -> anyhow::Result<f64> {
        let mut used = fields(self.first, 11..15)?;
        for entry in std::fs::read_dir("/proc")?.flatten() {
            let Some(process) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            // One that ended meanwhile is counted in what it was started by.
            if parent(process).is_some_and(|parent| parent == self.first) {
                used += fields(process, 11..13).unwrap_or_default();
            }
        }
        Ok(used)
    }
}

/// Seconds that a process used until now.
pub fn of_process(process: u32) -> anyhow::Result<f64> {
    fields(process, 11..13)
}

fn parent(process: u32) -> Option<u32> {
    after_name(process).ok()?.split(' ').nth(1)?.parse().ok()
}

/// The sum of some fields behind the name, which may hold anything.
fn fields(process: u32, which: std::ops::Range<usize>) -> anyhow::Result<f64> {
    let text = after_name(process)?;
    let wanted = text.split(' ').skip(which.start).take(which.len());
    let ticks: u32 = wanted
        .map(|field| field.parse::<u32>().unwrap_or_default())
        .sum();
    Ok(f64::from(ticks) / TICKS)
}

fn after_name(process: u32) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, rest) = text.rsplit_once(") ").context("a process")?;
    Ok(rest.to_owned())
}
