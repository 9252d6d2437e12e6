//! Every table under `fixtures/provenance`: no pair that must be refused may be live, and most that are
//! asked for must be found.

use std::path::{Path, PathBuf};

use countersign_provenance::score::Score;

/// The least a folder's tables must reach together, in hundredths: pairs found, and whole cases right.
const FLOORS: &[(&str, usize)] = &[
    // Written beside the grammar.
    ("", 98),
    // Written by people who had not seen it.
    ("blind", 96),
    ("fresh", 95),
    // The same, of ordinary requests, as it was at first contact less what it taught.
    ("ordinary", 92),
    // Ordinary requests written beside the grammar, before they were read.
    ("everyday", 89),
    // Everyday talk of eight languages written beside the grammar, before it was read.
    ("talk", 88),
    // Written by people who had not seen it, as they type; what is left are open slots.
    ("held", 83),
    // Talk around a request and between the turns, written beside the grammar before it was read.
    ("chatter", 80),
    // An order beside words about somebody who has been paid already.
    ("settled", 91),
    // Sums that their own words leave unsettled, conditions without an "if", and regrets.
    ("unsettled", 90),
];

fn tables(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/provenance");
    let mut tables: Vec<PathBuf> = std::fs::read_dir(root.join(folder))
        .expect("the folder of tables")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tsv"))
        .collect();
    tables.sort();
    assert!(!tables.is_empty(), "no tables in {folder:?}");
    tables
}

#[test]
fn no_pair_that_must_be_refused_is_live_and_the_asked_ones_are_found() {
    let mut failures = Vec::new();
    for (folder, percent_min) in FLOORS {
        let (mut found, mut wanted, mut right, mut cases) = (0, 0, 0, 0);
        for path in tables(folder) {
            let name = path.display();
            let table = std::fs::read_to_string(&path).expect("a table");
            let score = Score::of_table(&table).unwrap_or_else(|error| panic!("{name}: {error}"));
            let ((some, all), (whole, rows)) = (score.found(), score.whole());
            println!(
                "{name}: wrongly grounded {} of {}, found {some} of {all}, whole cases right {whole} of {rows}",
                score.wrongly_grounded(),
                score.refusable(),
            );
            failures.extend(
                score
                    .outcomes
                    .iter()
                    .filter(|outcome| !outcome.wrongly_grounded.is_empty())
                    .map(|outcome| outcome.explanation()),
            );
            found += some;
            wanted += all;
            right += whole;
            cases += rows;
        }
        if found * 100 < wanted * percent_min {
            failures.push(format!("{folder:?}: found only {found} of {wanted}"));
        }
        if right * 100 < cases * percent_min {
            failures.push(format!("{folder:?}: only {right} of {cases} cases right"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_language_has_cases_of_its_own() {
    for language in ["en", "de", "fr", "es", "pt", "it", "nl", "pl"] {
        let mine = tables("")
            .into_iter()
            .chain(tables("fresh"))
            .map(|path| std::fs::read_to_string(path).expect("a table"))
            .flat_map(|table| {
                countersign_provenance::score::read_table(&table)
                    .expect("a table of cases")
                    .cases
            })
            .filter(|case| case.locale.split('-').next() == Some(language))
            .count();
        assert!(mine >= 100, "{language}: {mine} cases");
    }
}

#[test]
fn the_score_counts_a_pair_that_is_live_and_must_not_be() {
    let table = "id\tturns\tgrounded_pairs\trefused_pairs\tkind\tsource\n\
        x\t[\"Send 20 to Bob\"]\t[[\"30\", \"Bob\"]]\t[[\"20\", \"Bob\"], [\"1.234\", \"Bob\"]]\tbasic\town\n";
    let score = Score::of_table(table).unwrap();
    assert_eq!((score.wrongly_grounded(), score.refusable()), (1, 2));
    assert_eq!(score.found(), (0, 1));
    assert_eq!(score.whole(), (0, 1));
}

#[test]
fn a_row_in_a_currency_the_bank_does_not_keep_is_skipped_and_named() {
    let table = "id\tturns\tgrounded_pairs\trefused_pairs\tkind\tsource\tlocale\tcurrency\n\
        x\t[\"Manda 20 pro Bob\"]\t[[\"20\", \"Bob\"]]\t[]\tbasic\town\tth\tTHB\n\
        y\t[\"Send 20 to Bob\"]\t[[\"20\", \"Bob\"]]\t[]\tbasic\town\ten\tEUR\n";
    let score = Score::of_table(table).unwrap();
    let skipped: Vec<_> = score
        .skipped
        .iter()
        .map(|row| (row.id.as_str(), row.currency.as_str()))
        .collect();
    assert_eq!(skipped, [("x", "THB")]);
    assert_eq!((score.found(), score.whole()), ((1, 1), (1, 1)));
}
