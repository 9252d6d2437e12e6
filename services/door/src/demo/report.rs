//! What the demonstration found, as text, Markdown and JSON.

use std::process::ExitCode;

use serde::Serialize;

use super::attacks::Attack;
use super::outcome::Outcome;

/// What every attack got.
#[derive(Debug, Serialize)]
pub struct Report {
    /// One row for each attack.
    pub rows: Vec<Row>,
}

/// One attack, both ways.
#[derive(Debug, Serialize)]
pub struct Row {
    attack: &'static str,
    what: &'static str,
    without: Outcome,
    with: Outcome,
    stopped: bool,
}

impl Row {
    /// The row of an attack.
    pub fn new(attack: &Attack, without: Outcome, with: Outcome) -> Self {
        Self {
            attack: attack.name,
            what: attack.what,
            stopped: with.is_nothing(),
            without,
            with,
        }
    }
}

impl Report {
    /// Ends well when the door stopped everything.
    pub fn exit_code(&self) -> ExitCode {
        match self.rows.iter().all(|row| row.stopped) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            text.push_str(&format!(
                "{}\n  {}\n  without the door: {}\n  with the door:    {}\n\n",
                row.attack,
                row.what,
                row.without.words(),
                row.with.words()
            ));
        }
        text + &self.summary() + "\n"
    }

    /// For a document.
    pub fn markdown(&self) -> String {
        let mut text = String::from(
            "# What a door does about a misbehaving server\n\nEach attack is made twice on a fake account of 1000.00 EUR: \
             directly on the server, and through a door with the policy\n`fixtures/policy/misbehaving.yaml`. The money is \
             counted by the server itself, in its log of what reached it. `countersign-door report` prints this page.\n\n\
             | attack | what is tried | without the door | with the door |\n|---|---|---|---|\n",
        );
        for row in &self.rows {
            text.push_str(&format!(
                "| {} | {} | {} | {} |\n",
                row.attack,
                row.what,
                row.without.words(),
                row.with.words()
            ));
        }
        text + "\n" + &self.summary() + "\n"
    }

    /// For a program.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    fn summary(&self) -> String {
        let sum = |of: fn(&Row) -> &Outcome| -> i64 {
            self.rows.iter().map(|row| of(row).stolen_cents).sum()
        };
        let euros = |cents: i64| format!("{}.{:02} EUR", cents / 100, cents % 100);
        let stopped = self.rows.iter().filter(|row| row.stopped).count();
        format!(
            "Stolen without the door: {}. With it: {}. {stopped} of {} attacks got nothing through it.",
            euros(sum(|row| &row.without)),
            euros(sum(|row| &row.with)),
            self.rows.len()
        )
    }
}
