//! The figures and how they are printed.

use std::time::Duration;

/// What one turn cost.
#[derive(Debug)]
pub struct Turn {
    /// From the press of Enter to the agent's first byte.
    pub sent_to_agent: Duration,
    /// From the press of Enter to the page's hearing that the message is on record.
    pub sent_to_recorded: Duration,
    /// From the moment that stands in the record to the agent's first byte; the commit is part of it.
    pub stored_to_agent: Duration,
    /// From each of the agent's lines to what it made the browser see.
    pub agent_to_browser: Vec<Duration>,
}

/// Everything that was measured.
#[derive(Debug)]
pub struct Figures {
    /// Commits of one row each.
    pub commits: Vec<Duration>,
    /// The turns.
    pub turns: Vec<Turn>,
}

impl Figures {
    fn of(&self, what: impl Fn(&Turn) -> Duration) -> Vec<Duration> {
        self.turns.iter().map(what).collect()
    }

    fn back(&self) -> Vec<Duration> {
        let lines = self.turns.iter().flat_map(|turn| &turn.agent_to_browser);
        lines.copied().collect()
    }

    /// The slowest hundredth there and back.
    pub fn slowest_hundredth(&self) -> (Duration, Duration) {
        (
            p(&self.of(|turn| turn.stored_to_agent), 99),
            p(&self.back(), 99),
        )
    }

    /// Prints a table.
    pub fn print(&self) {
        println!("\n| what | number | p50 ms | p90 ms | p99 ms | longest ms |");
        println!("|---|---|---|---|---|---|");
        for (name, durations) in [
            ("one commit, in the same seconds", self.commits.clone()),
            (
                "Enter to on record, in the browser",
                self.of(|turn| turn.sent_to_recorded),
            ),
            (
                "Enter to the agent's first byte",
                self.of(|turn| turn.sent_to_agent),
            ),
            (
                "stored message to the agent's first byte",
                self.of(|turn| turn.stored_to_agent),
            ),
            ("agent's line to the browser", self.back()),
        ] {
            let shown = |percent| milliseconds(p(&durations, percent));
            println!(
                "| {name} | {} | {} | {} | {} | {} |",
                durations.len(),
                shown(50),
                shown(90),
                shown(99),
                shown(100)
            );
        }
        println!();
    }
}

/// A duration in milliseconds, with two digits behind the point.
pub fn milliseconds(duration: Duration) -> String {
    let micros = duration.as_micros();
    format!("{}.{:02}", micros / 1000, micros % 1000 / 10)
}

/// The duration that so many hundredths stay under.
pub fn p(durations: &[Duration], percent: usize) -> Duration {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or_default()
}
