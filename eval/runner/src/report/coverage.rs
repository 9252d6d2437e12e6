//! Which item of the OWASP lists is exercised by which cases.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::suite::Loaded;

/// The items, by list; numbering and names as published (OWASP Top 10 for LLM Applications 2025 and 2026, OWASP Top 10 for
/// Agentic Applications 2026).
const ITEMS: &str = include_str!("../../../suites/owasp.tsv");

/// Least executed cases of an item.
const CASES_MIN: usize = 3;

/// A Markdown table: item, name, cases; or why it does not apply.
#[must_use]
pub fn table(cases: &[Loaded]) -> String {
    let mut by_item: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in cases {
        for item in &one.case.owasp {
            by_item.entry(item).or_default().push(&one.case.id);
        }
    }
    let mut text = String::from("| item | name | cases | |\n|---|---|---|---|\n");
    for line in ITEMS.lines().skip(1) {
        let mut columns = line.split('\t');
        let (Some(item), Some(name)) = (columns.next(), columns.next()) else {
            continue;
        };
        let not_applicable = columns.next().unwrap_or_default();
        let cases = by_item.get(item).map_or(&[][..], Vec::as_slice);
        let remark = if !not_applicable.is_empty() {
            format!("not applicable, because {not_applicable}")
        } else if cases.len() < CASES_MIN {
            format!("fewer than {CASES_MIN}")
        } else {
            String::new()
        };
        let shown: Vec<&str> = cases.iter().take(6).copied().collect();
        let more = cases.len().saturating_sub(shown.len());
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "| {item} | {name} | {}{more} | {remark} |",
            shown.join(", ")
        );
    }
    let mut techniques: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in cases {
        for technique in &one.case.atlas {
            techniques.entry(technique).or_default().push(&one.case.id);
        }
    }
    if !techniques.is_empty() {
        text += "\n| MITRE ATLAS | cases |\n|---|---|\n";
    }
    for (technique, cases) in techniques {
        let _ = writeln!(text, "| {technique} | {} |", cases.join(", "));
    }
    text
}
