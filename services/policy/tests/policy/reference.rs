//! The reference and the schema are what the code says.

use std::path::PathBuf;

use countersign_policy::{EXAMPLE, Policy, lint, reference, schema_json};

/// Compares a committed file with what it should be, or writes it where that is asked for.
fn keeps(file: &str, expected: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(file);
    if std::env::var_os("COUNTERSIGN_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == expected,
        "docs/{file} is not what the code says: run `COUNTERSIGN_WRITE_REFERENCE=1 cargo test -p \
         countersign-policy reference` and look at the difference"
    );
}

#[test]
fn the_reference_is_equal_to_the_code() {
    keeps("policy.md", &reference());
}

#[test]
fn the_schema_is_equal_to_the_code() {
    keeps("policy.schema.json", &schema_json());
}

#[test]
fn the_example_is_a_tight_policy() {
    Policy::load(EXAMPLE).unwrap();
    // 2026-11-30.
    assert_eq!(lint(EXAMPLE, 1_795_996_800), Ok(Vec::new()));
}

#[test]
fn every_reason_and_word_is_published() {
    let page = reference();
    for word in [
        "| transfer |",
        "| `cap_per_day` |",
        "| `countdown_seconds` |",
        "`creates-a-request-only`",
    ] {
        assert!(page.contains(word), "{word}");
    }
}
