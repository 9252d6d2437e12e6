//! The schema and the statements of the money path, for what a database of many nodes needs to know: whose rows each of them touches.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;

use crate::files::{self, root};

/// A table of the bank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Its columns.
    pub columns: BTreeSet<String>,
    /// The columns of its primary key, in order.
    pub primary_key: Vec<String>,
    /// Its foreign keys: own columns, and the table and columns they lead to.
    pub foreign_keys: Vec<(Vec<String>, String, Vec<String>)>,
}

/// Every table that the migrations make, by name without its schema.
///
/// # Errors
/// When a migration cannot be read.
pub fn tables() -> anyhow::Result<BTreeMap<String, Table>> {
    let mut tables = BTreeMap::new();
    for path in files::below(&root().join("migrations"), ".sql")? {
        let text = without_comments(&std::fs::read_to_string(&path)?);
        let mut rest = text.as_str();
        while let Some(at) = rest.find("CREATE TABLE ") {
            rest = &rest[at + "CREATE TABLE ".len()..];
            let open = rest.find('(').context("a table has columns")?;
            let name = rest[..open].trim().trim_start_matches("IF NOT EXISTS ");
            let name = name.trim_start_matches("bank.").to_owned();
            let body = inside(&rest[open..]).context("a table's columns end")?;
            tables.insert(name, table(body));
        }
    }
    Ok(tables)
}

/// Every statement in `query!` and its kin, of a crate's sources, with its file.
///
/// # Errors
/// When a source cannot be read.
pub fn statements(service: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let folder = root().join("services").join(service).join("src");
    for path in files::below(&folder, ".rs")? {
        let text = std::fs::read_to_string(&path)?;
        let name = path.strip_prefix(&folder)?.display().to_string();
        for (at, _) in text.match_indices("query") {
            let rest = &text[at..];
            let Some(mark) = rest
                .find('!')
                .filter(|mark| matches!(&rest[..*mark], "query" | "query_as" | "query_scalar"))
            else {
                continue;
            };
            if let Some(statement) = first_text(&rest[mark..]) {
                found.push((name.clone(), statement));
            }
        }
    }
    Ok(found)
}

/// The names of tables that a statement reads or writes.
#[must_use]
pub fn tables_of(statement: &str) -> BTreeSet<String> {
    let words: Vec<&str> = statement
        .split(|letter: char| letter.is_whitespace() || matches!(letter, '(' | ')' | ',' | ';'))
        .filter(|word| !word.is_empty())
        .collect();
    words
        .windows(2)
        .filter(|pair| {
            let word = pair[0].to_ascii_uppercase();
            matches!(word.as_str(), "FROM" | "JOIN" | "INTO" | "UPDATE")
        })
        .filter_map(|pair| pair[1].strip_prefix("bank."))
        .map(|name| name.trim_end_matches('"').to_owned())
        .collect()
}

/// The bodies of the functions in a file of SQL, by name.
#[must_use]
pub fn functions(sql: &str) -> Vec<(String, String)> {
    let text = without_comments(sql);
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("FUNCTION bank.") {
        rest = &rest[at + "FUNCTION bank.".len()..];
        let name: String = rest
            .chars()
            .take_while(|one| one.is_alphanumeric() || *one == '_')
            .collect();
        let Some(begin) = rest.find("AS $") else {
            break;
        };
        // Grants and comments name functions, too, without a body.
        if rest[..begin].contains(';') {
            continue;
        }
        let tail = &rest[begin + 3..];
        let Some(close) = tail[1..].find('$') else {
            break;
        };
        let mark = &tail[..close + 2];
        let Some(end) = tail[mark.len()..].find(mark) else {
            break;
        };
        found.push((name, tail[mark.len()..mark.len() + end].to_owned()));
        rest = &tail[mark.len() + end..];
    }
    found
}

/// A text of SQL without its comments.
#[must_use]
pub fn without_comments(sql: &str) -> String {
    sql.lines()
        .map(|line| line.split("--").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

fn inside(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[1..at]);
                }
            }
            _ => {}
        }
    }
    None
}

fn parts(body: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0, 0, Vec::new());
    for (at, letter) in body.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(body[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(body[from..].trim());
    found
}

fn names(text: &str) -> Vec<String> {
    let list = text.find('(').and_then(|at| inside(&text[at..]));
    list.unwrap_or_default()
        .split(',')
        .map(|one| one.trim().to_owned())
        .collect()
}

fn table(body: &str) -> Table {
    let mut table = Table::default();
    for part in parts(body) {
        let upper = part.to_ascii_uppercase();
        let first = part.split_whitespace().next().unwrap_or_default();
        let is_constraint = [
            "CONSTRAINT",
            "PRIMARY",
            "FOREIGN",
            "UNIQUE",
            "CHECK",
            "EXCLUDE",
        ]
        .contains(&first.to_ascii_uppercase().as_str());
        if !is_constraint {
            table.columns.insert(first.to_owned());
        }
        if let Some(at) = upper.find("PRIMARY KEY") {
            table.primary_key = if is_constraint {
                names(&part[at..])
            } else {
                vec![first.to_owned()]
            };
        }
        if let Some(at) = upper.find("REFERENCES") {
            let to = part[at + "REFERENCES".len()..].trim();
            let other: String = to
                .chars()
                .take_while(|one| !one.is_whitespace() && *one != '(')
                .collect();
            let own = match upper.find("FOREIGN KEY") {
                Some(begin) => names(&part[begin..]),
                None => vec![first.to_owned()],
            };
            table
                .foreign_keys
                .push((own, other.trim_start_matches("bank.").to_owned(), names(to)));
        }
    }
    table
}

/// The first text in a macro's arguments: plain or raw, with continued lines joined.
fn first_text(rest: &str) -> Option<String> {
    // `query_as!(Type, "…")` has a type before the text.
    let begin = rest.find('"')?;
    let before = &rest[..begin];
    if before.contains(';') {
        return None;
    }
    let hashes = before.chars().rev().take_while(|one| *one == '#').count();
    if before.trim_end_matches('#').ends_with('r') {
        let mark = format!("\"{}", "#".repeat(hashes));
        let end = rest[begin + 1..].find(&mark)?;
        return Some(rest[begin + 1..begin + 1 + end].to_owned());
    }
    let mut text = String::new();
    let mut letters = rest[begin + 1..].chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                '\n' => while letters.next_if(|one| one.is_whitespace()).is_some() {},
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    None
}
