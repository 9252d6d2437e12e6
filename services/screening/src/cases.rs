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

const FORMATS: &str = include_str!("../../../fixtures/screening/formats.tsv");

/// A line of the table with what stands for the random part of a key filled in: `{LENGTH:ALPHABET}`. No key, and
/// nothing that looks like one, stands in the repository.
fn filled(line: &str) -> String {
    const PLACE: &str = r"\{([0-9]+):([a-z0-9]+)\}";
    let place = regex::Regex::new(PLACE).expect("a pattern");
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let fill = |found: &regex::Captures<'_>| {
        let alphabet = match &found[2] {
            "alnum" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "alpha" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            "base32" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "up" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
            "lower" => "abcdefghijklmnopqrstuvwxyz0123456789",
            "hex" => "0123456789abcdef",
            "hexup" => "0123456789ABCDEF",
            "digit" => "0123456789",
            "word" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
            "b64" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
            other => panic!("no such alphabet: {other}"),
        };
        let length = found[1].parse().expect("a length");
        let mut next = || {
            // xorshift: the same characters in every run.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(alphabet.as_bytes()[(state >> 33) as usize % alphabet.len()])
        };
        (0..length).map(|_| next()).collect::<String>()
    };
    place.replace_all(line, fill).into_owned()
}

#[test]
fn every_format_is_found_and_every_near_miss_stays() {
    let redactor = Redactor::new(&Rules::standard());
    let mut wrong = Vec::new();
    let (mut secrets, mut near_misses) = (0, 0);
    for line in FORMATS.lines().skip(1) {
        let line = filled(line);
        let [id, expected, input] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three columns: {line}");
        };
        let found: BTreeSet<String> = match Document::read(input.as_bytes(), &Caps::ANSWER) {
            Ok(document) => {
                let screened = screen(&document, &(0..input.len()), Some(&redactor), None);
                let rules = screened.replacements.iter().flat_map(|found| &found.rules);
                rules.map(ToString::to_string).collect()
            }
            Err(_) => {
                let redacted = redactor.redact_text(input);
                redacted
                    .edits
                    .iter()
                    .map(|edit| edit.rule.to_string())
                    .collect()
            }
        };
        let is_as_expected = match expected {
            "clean" => found.is_empty(),
            "any" => !found.is_empty(),
            rule => found.contains(rule),
        };
        match expected {
            "clean" => near_misses += 1,
            _ => secrets += 1,
        }
        if !is_as_expected {
            wrong.push(format!("{id}: {input}: {found:?}, not {expected}"));
        }
    }
    println!("{secrets} formats of secrets, {near_misses} near misses");
    assert!(secrets > 150 && near_misses > 80, "{secrets} {near_misses}");
    assert_eq!(wrong, Vec::<String>::new());
}
