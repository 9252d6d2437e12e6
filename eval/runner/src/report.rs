//! What came of a run, for people and for machines: Markdown, one HTML page, JUnit XML, JSON.

pub mod coverage;
mod html;
mod junit;
mod markdown;

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use anyhow::Context;
use serde::Serialize;

use crate::suite::{Loaded, Run, playing_name};

/// A judged run of many cases.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Every playing.
    pub runs: Vec<Run>,
    /// The figures.
    pub figures: Figures,
    #[serde(skip)]
    coverage: String,
}

/// The figures that stand at the top.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    /// Cases that attack.
    pub attacks: usize,
    /// Of these, those of which nothing forbidden came true in any run.
    pub contained: usize,
    /// Cases of ordinary customers.
    pub ordinary: usize,
    /// Of these, those that ended as the customer wanted.
    pub completed: usize,
    /// Requests of ordinary customers that the bank refused.
    pub wrongly_refused: usize,
    /// Values that an ordinary customer had typed in the chat and was asked again on the panel, or had left open.
    pub left_open: usize,
    /// Playings in all.
    pub playings: usize,
    /// Lines judged.
    pub judged: usize,
    /// Lines that nobody can judge here.
    pub not_judged: usize,
    /// Playings that could not be played.
    pub errors: usize,
    /// Confirmations in ordinary cases.
    pub confirmations: usize,
    /// Choices from lists in ordinary cases.
    pub picks: usize,
    /// Typed values in ordinary cases.
    pub typed: usize,
    /// Playings of a customer who does what the chat says.
    pub copied: usize,
    /// The most that one of these lost to accounts not saved before, in cents.
    pub lost_most: i64,
    /// The most that the bank still held in one of these, in cents.
    pub held_most: i64,
    /// Milliseconds of a reply: middle and the slowest of a hundred.
    pub reply_milliseconds: (u64, u64),
}

impl Report {
    /// Counts.
    #[must_use]
    pub fn of(runs: Vec<Run>, cases: &[Loaded]) -> Self {
        let mut by_case: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
        for run in &runs {
            by_case.entry(&run.case).or_default().push(run);
        }
        let mut figures = Figures {
            playings: runs.len(),
            ..Figures::default()
        };
        for runs in by_case.values() {
            let good = runs.iter().all(|run| run.passed());
            if runs.iter().any(|run| run.is_ordinary()) {
                figures.ordinary += 1;
                figures.completed += usize::from(good);
            } else {
                figures.attacks += 1;
                figures.contained += usize::from(good);
            }
        }
        let mut times: Vec<u64> = Vec::new();
        for run in &runs {
            figures.judged += run.judged;
            figures.not_judged += run.not_judged.len();
            figures.errors += usize::from(run.error.is_some());
            times.extend(&run.reply_milliseconds);
            if run.at_panel == "copier" {
                figures.copied += 1;
                let lost = run.lost.get("EUR").copied().unwrap_or_default();
                figures.lost_most = figures.lost_most.max(lost);
                let held = run.held.get("EUR").copied().unwrap_or_default();
                figures.held_most = figures.held_most.max(held);
            }
            if run.is_ordinary() && run.driver == "honest" {
                figures.wrongly_refused += run.refusals.len();
                figures.left_open += run.open_slots;
                figures.confirmations += run.confirmations;
                figures.picks += run.picks;
                figures.typed += run.typed;
            }
        }
        times.sort_unstable();
        let at = |hundredths: usize| {
            times
                .get(times.len().saturating_sub(1) * hundredths / 100)
                .copied()
                .unwrap_or_default()
        };
        figures.reply_milliseconds = (at(50), at(99));
        Self {
            coverage: coverage::table(cases),
            runs,
            figures,
        }
    }

    /// Whether nothing was broken and everything could be played.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.runs.iter().all(Run::passed)
    }

    /// The figures in a few lines.
    #[must_use]
    pub fn summary(&self) -> String {
        let figures = &self.figures;
        let mut text = String::new();
        for run in self.runs.iter().filter(|run| !run.passed()) {
            let _ = writeln!(text, "FAILED {} {}", run.name(), run.title);
            for (line, seen) in &run.broken {
                let _ = writeln!(text, "    {line}: {seen}");
            }
            if let Some(error) = &run.error {
                let _ = writeln!(text, "    {error}");
            }
        }
        let _ = writeln!(
            text,
            "attacks contained      {} of {}\nordinary completed     {} of {}\nwrongly refused        {}\nlines judged           {} ({} not judged)\nplayings               {} ({} could not be played)",
            figures.contained,
            figures.attacks,
            figures.completed,
            figures.ordinary,
            figures.wrongly_refused,
            figures.judged,
            figures.not_judged,
            figures.playings,
            figures.errors
        );
        text
    }

    /// Writes all forms into a folder.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        std::fs::create_dir_all(folder)?;
        let put = |name: &str, text: String| {
            std::fs::write(folder.join(name), text).with_context(|| format!("write {name}"))
        };
        put("report.md", markdown::page(self, &self.coverage))?;
        put("report.html", html::page(self))?;
        put("junit.xml", junit::document(&self.runs))?;
        put("report.json", serde_json::to_string_pretty(self)? + "\n")
    }

    /// The playings that passed, one a line: what a later run is compared with.
    #[must_use]
    pub fn baseline(&self) -> String {
        let passed = self.runs.iter().filter(|run| run.passed());
        let mut lines: Vec<String> = passed.map(|run| run.name() + "\n").collect();
        lines.sort();
        lines.concat()
    }

    /// The playings that passed in an earlier report and do not now. Of a part of the cases only those that were played
    /// are compared; of the whole run one that is gone counts as well.
    ///
    /// # Errors
    /// When the earlier report cannot be read.
    pub fn worse_than(&self, earlier: &Path, of_a_part: bool) -> anyhow::Result<Vec<String>> {
        let text = std::fs::read_to_string(earlier)
            .with_context(|| format!("read {}", earlier.display()))?;
        let passed = passed_in(&text)?;
        let now: BTreeMap<String, bool> = self
            .runs
            .iter()
            .map(|run| (run.name(), run.passed()))
            .collect();
        Ok(passed
            .into_iter()
            .filter(|name| !now.get(name).copied().unwrap_or(of_a_part))
            .collect())
    }
}

/// The playings that passed, of a report in JSON or of a list with one a line.
fn passed_in(text: &str) -> anyhow::Result<std::collections::BTreeSet<String>> {
    if !text.trim_start().starts_with('{') {
        return Ok(text.lines().map(ToOwned::to_owned).collect());
    }
    let report: serde_json::Value = serde_json::from_str(text)?;
    let runs = report["runs"].as_array().into_iter().flatten();
    Ok(runs
        .filter(|run| run["broken"].as_array().is_some_and(Vec::is_empty) && run["error"].is_null())
        .map(|run| {
            let text = |member: &str| run[member].as_str().unwrap_or_default();
            playing_name(text("case"), text("driver"), text("at_panel"))
        })
        .collect())
}

impl Figures {
    /// The figures as they are read: what, and how much.
    fn rows(&self) -> [(&'static str, String); 9] {
        [
            (
                "attacks contained",
                format!("{} of {}", self.contained, self.attacks),
            ),
            (
                "ordinary conversations completed",
                format!("{} of {}", self.completed, self.ordinary),
            ),
            (
                "requests of ordinary customers wrongly refused",
                self.wrongly_refused.to_string(),
            ),
            (
                "values left open in ordinary conversations",
                self.left_open.to_string(),
            ),
            (
                "a customer who types and picks what the chat says: playings, most lost and most still held in one (EUR, to accounts not saved before)",
                format!(
                    "{}, {}.{:02}, {}.{:02}",
                    self.copied,
                    self.lost_most / 100,
                    self.lost_most % 100,
                    self.held_most / 100,
                    self.held_most % 100
                ),
            ),
            (
                "lines judged, not judged",
                format!("{}, {}", self.judged, self.not_judged),
            ),
            (
                "playings, of which could not be played",
                format!("{}, {}", self.playings, self.errors),
            ),
            (
                "ordinary customers' effort: confirmations, picks, typed values",
                format!("{}, {}, {}", self.confirmations, self.picks, self.typed),
            ),
            (
                "a reply took, middle and 99th of a hundred (milliseconds, the machine busy with the run)",
                format!(
                    "{}, {}",
                    self.reply_milliseconds.0, self.reply_milliseconds.1
                ),
            ),
        ]
    }
}

/// What one pair of model and customer came to.
#[derive(Clone, Copy, Debug, Default)]
struct Players {
    playings: usize,
    broken: usize,
    confirmations: usize,
    picks: usize,
    typed: usize,
}

/// By file, model and customer: how often something forbidden came true or was missed, and what people had to do.
fn by_players(runs: &[Run]) -> BTreeMap<(&str, &str, &str), Players> {
    let mut players: BTreeMap<(&str, &str, &str), Players> = BTreeMap::new();
    for run in runs {
        let sum = players
            .entry((&run.file, &run.driver, &run.at_panel))
            .or_default();
        sum.playings += 1;
        sum.broken += usize::from(!run.passed());
        sum.confirmations += run.confirmations;
        sum.picks += run.picks;
        sum.typed += run.typed;
    }
    players
}

/// By family: how many cases, how many playings, how many broken.
fn by_kind(runs: &[Run]) -> BTreeMap<&str, (usize, usize, usize)> {
    let mut kinds: BTreeMap<&str, (std::collections::BTreeSet<&str>, usize, usize)> =
        BTreeMap::new();
    for run in runs {
        let kind = kinds.entry(&run.kind).or_default();
        kind.0.insert(&run.case);
        kind.1 += 1;
        kind.2 += usize::from(!run.passed());
    }
    kinds
        .into_iter()
        .map(|(kind, (cases, playings, broken))| (kind, (cases.len(), playings, broken)))
        .collect()
}
