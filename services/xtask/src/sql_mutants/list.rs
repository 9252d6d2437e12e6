//! Reads the committed lists of mutants.

use std::fs;

use anyhow::{Context, bail, ensure};
use countersign_testkit::checkout;

/// Where the lists lie; the form is told in the README beside them.
const FOLDER: &str = "fixtures/mutants/sql";

/// One changed function of the bank's database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutant {
    /// Its name in the lists.
    pub name: String,
    /// The function, such as `bank.confirm_action`.
    pub function: String,
    /// What would be lost.
    pub because: String,
    /// Texts as they stand, and what comes in their place.
    pub changes: Vec<(String, String)>,
    /// What is expected of the tests.
    pub expected: Expected,
}

/// What the tests say of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A test of this program, whose name holds this text, fails.
    Killed { program: String, filter: String },
    /// Nothing can tell it from the original, for this reason.
    Survives(String),
}

impl Default for Expected {
    fn default() -> Self {
        Self::Survives(String::new())
    }
}

/// Every mutant of every list.
///
/// # Errors
/// When a list cannot be read or is not of the form.
pub fn all() -> anyhow::Result<Vec<Mutant>> {
    let folder = checkout::root().join(FOLDER);
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .with_context(|| format!("read {FOLDER}"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "mutants"))
        .collect();
    paths.sort();
    let mut mutants = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        mutants.extend(parse(&text).with_context(|| format!("read {FOLDER}/{name}"))?);
    }
    for (place, mutant) in mutants.iter().enumerate() {
        ensure!(
            mutants[..place]
                .iter()
                .all(|other| other.name != mutant.name),
            "two mutants are called {}",
            mutant.name
        );
    }
    Ok(mutants)
}

fn parse(text: &str) -> anyhow::Result<Vec<Mutant>> {
    let mut mutants: Vec<Mutant> = Vec::new();
    // Whether the last line belonged to a text in the place of another: the next `-` begins a new pair.
    let mut replacing = true;
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix("== ") {
            mutants.push(Mutant {
                name: name.to_owned(),
                ..Mutant::default()
            });
            replacing = true;
            continue;
        }
        let Some(mutant) = mutants.last_mut() else {
            bail!("line {number} stands before the first mutant");
        };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "in" => rest.clone_into(&mut mutant.function),
            "because" => rest.clone_into(&mut mutant.because),
            "-" if replacing => {
                mutant.changes.push((rest.to_owned(), String::new()));
                replacing = false;
            }
            "-" => {
                let (old, _) = mutant.changes.last_mut().context("a change")?;
                *old = format!("{old}\n{rest}");
            }
            "+" => {
                let (_, new) = mutant.changes.last_mut().context("+ comes after -")?;
                *new = if replacing {
                    format!("{new}\n{rest}")
                } else {
                    rest.to_owned()
                };
                replacing = true;
            }
            "killed-by" => {
                let (program, filter) = rest
                    .split_once(' ')
                    .context("killed-by names a program and a test")?;
                mutant.expected = Expected::Killed {
                    program: program.to_owned(),
                    filter: filter.to_owned(),
                };
            }
            "survives" => mutant.expected = Expected::Survives(rest.to_owned()),
            other => bail!("line {number} begins with {other}"),
        }
    }
    for mutant in &mutants {
        let reasoned = !matches!(&mutant.expected, Expected::Survives(why) if why.is_empty());
        ensure!(
            reasoned
                && !mutant.function.is_empty()
                && !mutant.because.is_empty()
                && !mutant.changes.is_empty(),
            "{} lacks a line",
            mutant.name
        );
    }
    Ok(mutants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_several_lines_and_several_pairs_are_read() {
        let mutants = parse("== a\nin bank.f\nbecause b\n-   one\n-   two\n+   three\n- four\n+\nkilled-by pending x::\n")
            .expect("the form");
        let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        assert_eq!(
            mutants[0].changes,
            [pair("  one\n  two", "  three"), pair("four", "")]
        );
    }

    #[test]
    fn a_mutant_without_a_reason_is_no_mutant() {
        let without = "== a\nin bank.f\nbecause b\n- one\n+ two\nsurvives \n";
        assert!(parse(without).is_err());
        assert!(parse(&without.replace("survives ", "survives it is the same")).is_ok());
    }
}
