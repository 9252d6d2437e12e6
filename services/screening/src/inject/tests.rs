//! The rules over two corpora: ordinary bank and developer language, and attacks in our own words.

use super::*;

const BENIGN: &str = include_str!("../../../../fixtures/screening/benign.tsv");
const ATTACKS: &str = include_str!("../../../../fixtures/screening/attacks.tsv");

fn rows(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    file.lines().skip(1).map(|line| line.split('\t').collect())
}

#[test]
fn ordinary_language_is_left_alone() {
    let injection = Injection::new();
    let redactor = crate::Redactor::new(&crate::Rules::standard());
    let (mut sentences, mut flagged) = (0, Vec::new());
    for row in rows(BENIGN) {
        sentences += 1;
        let redacted = redactor.redact_text(row[1]);
        assert_eq!(redacted.edits, [], "masked: {}", row[1]);
        for finding in injection.screen(row[1]) {
            flagged.push(format!("{}: {}: {}", row[0], finding.rule, row[1]));
        }
    }
    println!("{sentences} ordinary sentences, flagged: {flagged:#?}");
    assert!(sentences >= 400, "{sentences}");
    assert!(flagged.len() * 200 <= sentences, "{flagged:#?}");
}

#[test]
fn attacks_are_found_in_every_language_and_code() {
    let injection = Injection::new();
    let mut by_kind: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for row in rows(ATTACKS) {
        let text: String = serde_json::from_str(row[2]).unwrap();
        let findings = injection.screen(&text);
        for key in [row[0], row[1]] {
            let (all, found) = by_kind.entry(key).or_default();
            *all += 1;
            *found += usize::from(!findings.is_empty());
        }
        if findings.is_empty() {
            missed.push(format!("{}: {}: {text}", row[0], row[1]));
        }
    }
    println!("found of all, by language and kind: {by_kind:#?}");
    assert_eq!(missed, Vec::<String>::new());
}
