//! The reference page of limits is what the sources say, no more and no less.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use countersign_testkit::checkout;

/// Names of what bounds something.
const MARKS: [&str; 5] = ["_MAX", "TIME_OUT", "_TIME", "_PATIENCE", "_GRACE"];
/// Crates that serve nobody.
const APART: [&str; 3] = ["testkit", "xtask", "soft-passkey"];

struct Limit {
    name: String,
    value: String,
    meaning: String,
    file: String,
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// `const NAME: TYPE = VALUE;` on one line, with the first sentence of what stands over it.
fn limits_of(path: &Path, root: &Path) -> Vec<Limit> {
    let text = std::fs::read_to_string(path).expect("a source");
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut meaning = String::new();
    let mut limits = Vec::new();
    for line in product.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            meaning.push_str(words);
            continue;
        }
        let constant = [
            "const ",
            "pub const ",
            "pub(crate) const ",
            "pub(super) const ",
        ]
        .iter()
        .find_map(|start| line.strip_prefix(start));
        let parts = constant.and_then(|line| {
            line.split_once(": ")?
                .1
                .split_once(" = ")
                .map(|value| (line, value.1))
        });
        if let Some((line, value)) = parts
            && let Some((name, _)) = line.split_once(':')
            && MARKS.iter().any(|mark| name.ends_with(mark))
        {
            let first = meaning
                .trim()
                .split_inclusive(['.', ';', ':'])
                .next()
                .unwrap_or_default();
            limits.push(Limit {
                name: name.to_owned(),
                value: value.trim_end_matches(';').replace("Duration::", ""),
                meaning: first.trim_end_matches([';', ':', '.']).replace('|', "\\|"),
                file: path
                    .strip_prefix(root)
                    .expect("inside")
                    .display()
                    .to_string(),
            });
        }
        meaning.clear();
    }
    limits
}

fn page() -> String {
    let root = checkout::root();
    let mut page = "# Limits\n\nEvery body, queue, stream, connection and duration that a service bounds, as the sources name it. Written from them by a test of \
                    `services/command`; `INSTA_UPDATE=always` writes it anew. A client over one of them is told so: 413 and 431 for what is too long, 408 for what is too \
                    slow, 429 and 503 with `Retry-After` for too much at once. While all connections are at work, `/health` is answered beside them.\n"
        .to_owned();
    let mut crates: Vec<PathBuf> = std::fs::read_dir(root.join("services"))
        .expect("services")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    crates.sort();
    for folder in crates {
        let name = folder
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        if APART.contains(&name.as_str()) || !folder.join("src").is_dir() {
            continue;
        }
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        let limits: Vec<Limit> = files
            .iter()
            .flat_map(|file| limits_of(file, &folder))
            .collect();
        if limits.is_empty() {
            continue;
        }
        let _ = write!(
            page,
            "\n## {name}\n\n| limit | value | what it bounds | where |\n|---|---|---|---|\n"
        );
        for limit in limits {
            let _ = writeln!(
                page,
                "| `{}` | `{}` | {} | `{}` |",
                limit.name, limit.value, limit.meaning, limit.file
            );
        }
    }
    page
}

#[test]
fn the_page_of_limits_is_what_the_sources_say() {
    let path = checkout::root().join("docs/limits.md");
    let page = page();
    for named in [
        "CONNECTIONS_MAX",
        "BODY_BYTES_MAX",
        "HEAD_READ_TIME_OUT",
        "TURN_TIME_OUT",
        "SHUTDOWN_TIME_MAX",
    ] {
        assert!(page.contains(named), "{named}");
    }
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        std::fs::write(&path, &page).expect("written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == page,
        "docs/limits.md is not what the sources say: run this test with INSTA_UPDATE=always"
    );
}
