//! A table of cases: tab-separated values, one case a line.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::look::Screener;

/// What came of one case.
struct Row {
    id: String,
    found: BTreeSet<String>,
    /// What should have been found; none where the table does not say.
    expected: Option<BTreeSet<String>>,
}

impl Row {
    fn is_as_expected(&self) -> bool {
        self.expected
            .as_ref()
            .is_none_or(|expected| *expected == self.found)
    }
}

/// What came of a table.
pub struct Table {
    rows: Vec<Row>,
}

/// Screens every case of a table. Its first line names the columns: `input`, and `id` and `expected` if there are any.
///
/// # Errors
/// When the first line names no input, or a line has none.
pub fn run(screener: &Screener, table: &str) -> anyhow::Result<Table> {
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let place = |name: &str| columns.iter().position(|column| column.trim() == name);
    let input = place("input").context("the first line names no column `input`")?;
    let (id, expected) = (place("id"), place("expected"));
    let mut rows = Vec::new();
    for (number, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        ensure!(cells.len() > input, "line {}: no input", number + 2);
        let looked = screener.look(cells[input], true)?;
        let redactions = looked.redactions.iter().map(|(rule, _)| rule.to_string());
        let findings = looked
            .findings
            .iter()
            .map(|finding| finding.rule.to_owned());
        let cell = |place: Option<usize>| place.and_then(|place| cells.get(place)).copied();
        rows.push(Row {
            id: cell(id).map_or_else(|| format!("line {}", number + 2), str::to_owned),
            found: redactions.chain(findings).collect(),
            expected: cell(expected).and_then(read_expected),
        });
    }
    Ok(Table { rows })
}

/// `clean`, or names of rules with commas between them; other texts are for people and say nothing here.
fn read_expected(cell: &str) -> Option<BTreeSet<String>> {
    if cell == "clean" {
        return Some(BTreeSet::new());
    }
    let names: BTreeSet<String> = cell.split(',').map(|name| name.trim().to_owned()).collect();
    let is_name = |name: &String| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    names.iter().all(is_name).then_some(names)
}

impl Table {
    /// Whether every case that says what it expects got it.
    pub fn is_as_expected(&self) -> bool {
        self.rows.iter().all(Row::is_as_expected)
    }

    /// One line a case, and a sum.
    pub fn text(&self) -> String {
        let names = |names: &BTreeSet<String>| match names.is_empty() {
            true => "clean".to_owned(),
            false => names.iter().cloned().collect::<Vec<_>>().join(","),
        };
        let mut text = String::new();
        for row in &self.rows {
            let _ = write!(text, "{}\t{}", row.id, names(&row.found));
            if let Some(expected) = row.expected.as_ref().filter(|_| !row.is_as_expected()) {
                let _ = write!(text, "\texpected {}", names(expected));
            }
            text.push('\n');
        }
        let found = self.rows.iter().filter(|row| !row.found.is_empty()).count();
        let wrong = self.rows.iter().filter(|row| !row.is_as_expected()).count();
        let _ = writeln!(
            text,
            "{} cases, {found} with something found, {wrong} not as expected",
            self.rows.len()
        );
        text
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({"id": row.id, "found": row.found, "expected": row.expected, "as_expected": row.is_as_expected()})
        });
        json!(rows.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_screened_and_compared_with_what_it_expects() {
        let screener = Screener::built_in(false);
        let table = "id\tinput\texpected\n1\tAKIAIOSFODNN7EXAMPLE\tcloud_key\n2\thello\tclean\n3\thello\tSomething for people.\n4\thello\tcard\n";
        let table = run(&screener, table).unwrap();
        assert!(!table.is_as_expected());
        assert_eq!(
            table.text(),
            "1\tcloud_key\n2\tclean\n3\tclean\n4\tclean\texpected card\n4 cases, 1 with something found, 1 not as expected\n"
        );
        assert_eq!(table.json()[3]["as_expected"], false);
        assert!(run(&screener, "id\ttext\n").is_err());
        assert!(run(&screener, "id\tinput\n1\n").is_err());
    }
}
