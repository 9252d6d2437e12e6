//! A table of cases of both kinds of screening, one line for each kind that people have tripped over.

use std::collections::BTreeSet;

use countersign_wire::{Caps, Document};

use crate::redact::BuiltIn;
use crate::{Injection, Redactor, Rules, screen};

const CASES: [&str; 2] = [
    include_str!("../../../fixtures/screening/cases.tsv"),
    include_str!("../../../fixtures/screening/field.tsv"),
];

#[test]
fn every_case_comes_out_as_expected() {
    let opt_in = [BuiltIn::Email, BuiltIn::NationalId, BuiltIn::IpAddress];
    let rules = opt_in.into_iter().fold(Rules::standard(), Rules::with);
    let (redactor, injection) = (Redactor::new(&rules), Injection::new());
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in CASES.iter().flat_map(|table| table.lines().skip(1)) {
        let [id, _, input, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}");
        };
        rows += 1;
        let mut found: BTreeSet<String> = BTreeSet::new();
        if let Ok(document) = Document::read(input.as_bytes(), &Caps::ANSWER) {
            let screened = screen(
                &document,
                &(0..input.len()),
                Some(&redactor),
                Some(&injection),
            );
            let rules = screened.replacements.iter().flat_map(|found| &found.rules);
            found.extend(rules.map(ToString::to_string));
            found.extend(screened.findings.iter().map(|found| found.rule.to_owned()));
        } else {
            let redacted = redactor.redact_text(input);
            found.extend(redacted.edits.iter().map(|edit| edit.rule.to_string()));
            found.extend(
                injection
                    .screen(input)
                    .iter()
                    .map(|found| found.rule.to_owned()),
            );
            if redacted.edits.is_empty() {
                assert_eq!(redacted.text, input, "{id}");
            }
        }
        // Whatever rule notices it; nothing of it is taken for a secret.
        if expected == "flagged"
            && found
                .iter()
                .any(|rule| crate::inject::RULES.iter().any(|(name, _)| name == rule))
        {
            continue;
        }
        let expected: BTreeSet<String> = match expected {
            "clean" => BTreeSet::new(),
            names => names.split(',').map(str::to_owned).collect(),
        };
        if found != expected {
            wrong.push(format!("{id}: {input}: {found:?}, not {expected:?}"));
        }
    }
    assert!(rows > 100);
    assert_eq!(wrong, Vec::<String>::new());
}
