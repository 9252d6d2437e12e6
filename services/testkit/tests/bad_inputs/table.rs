//! The table of bad inputs, and that nothing in it is only written down.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use countersign_testkit::checkout;

/// One row.
struct Row {
    id: String,
    /// Tests by name, `package::function`.
    tests: Vec<String>,
    /// Why it cannot be tried yet.
    later: Option<String>,
}

fn rows() -> Vec<Row> {
    let path = checkout::root().join("fixtures/cases/bad-inputs.tsv");
    let text = fs::read_to_string(path).expect("the table");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("id\tsurface\tsent\tmust_happen\ttested_by")
    );
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [id, _, _, _, tested_by] = cells[..] else {
                panic!("five cells in {line:?}");
            };
            assert!(cells.iter().all(|cell| !cell.trim().is_empty()), "{line:?}");
            let (tests, later) = tested_by
                .split_once("later: ")
                .map_or((tested_by, None), |(tests, later)| (tests, Some(later)));
            Row {
                id: id.to_owned(),
                tests: tests
                    .split(", ")
                    .map(|test| test.trim().trim_end_matches(',').to_owned())
                    .filter(|test| !test.is_empty())
                    .collect(),
                later: later.map(ToOwned::to_owned),
            }
        })
        .collect()
}

/// Checks that a test of this binary sent exactly the rows that the table says it sends.
pub fn must_be_the_rows_of(test: &str, sent: &[&str]) {
    let name = format!("testkit::{test}");
    let of_table: BTreeSet<String> = rows()
        .into_iter()
        .filter(|row| row.tests.contains(&name))
        .map(|row| row.id)
        .collect();
    let sent: BTreeSet<String> = sent.iter().map(|id| (*id).to_owned()).collect();
    assert_eq!(of_table, sent, "rows of the table, and rows that were sent");
}

/// Test functions by package, from the sources.
fn tests_of(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            tests_of(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                    is_test = true;
                } else if let Some((_, name)) = line.split_once("fn ")
                    && is_test
                {
                    found.insert(name.split('(').next().unwrap_or_default().to_owned());
                    is_test = false;
                }
            }
        }
    }
}

#[test]
fn every_row_is_tested_by_a_test_that_exists_or_says_why_not_yet() {
    let rows = rows();
    let services = checkout::root().join("services");
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in fs::read_dir(services).expect("services").flatten() {
        let mut tests = BTreeSet::new();
        tests_of(&entry.path(), &mut tests);
        known.insert(entry.file_name().to_string_lossy().into_owned(), tests);
    }
    let mut ids = BTreeSet::new();
    for row in &rows {
        assert!(ids.insert(&row.id), "{} stands twice", row.id);
        assert!(
            !row.tests.is_empty() || row.later.is_some(),
            "{} is neither tested nor put off",
            row.id
        );
        if let Some(later) = &row.later {
            assert!(later.len() > 10, "{} says no reason", row.id);
        }
        for test in &row.tests {
            let (package, function) = test
                .split_once("::")
                .unwrap_or_else(|| panic!("{}: {test:?} is no name of a test", row.id));
            assert!(
                known
                    .get(package)
                    .is_some_and(|tests| tests.contains(function)),
                "{}: there is no test {test}",
                row.id
            );
        }
    }
    let put_off = rows.iter().filter(|row| row.tests.is_empty()).count();
    println!(
        "{} rows, {} tested, {put_off} put off",
        rows.len(),
        rows.len() - put_off
    );
}
