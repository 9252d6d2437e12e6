//! Every table under `fixtures/provenance`: no pair that must be refused may be live, and most that are
//! asked for must be found.

use countersign_provenance::score::Score;

/// A table and the least it must reach, in hundredths.
struct Table {
    name: &'static str,
    text: &'static str,
    found_percent_min: usize,
    whole_percent_min: usize,
}

macro_rules! table {
    ($name:literal) => {
        table!($name, 97)
    };
    ($name:literal, $percent_min:literal) => {
        Table {
            name: $name,
            text: include_str!(concat!("../../../fixtures/provenance/", $name, ".tsv")),
            found_percent_min: $percent_min,
            whole_percent_min: $percent_min,
        }
    };
}

const TABLES: &[Table] = &[
    table!("handed"),
    table!("en"),
    table!("de"),
    table!("fr"),
    table!("es"),
    table!("pt"),
    table!("it"),
    table!("nl"),
    table!("pl"),
    table!("languages"),
    table!("traps"),
    // Written by somebody who had not seen the grammar.
    table!("blind/en", 91),
    table!("blind/de", 95),
    table!("blind/fr", 95),
    table!("blind/es", 95),
    table!("blind/pt", 95),
    table!("blind/it", 95),
    table!("blind/nl", 95),
    table!("blind/pl", 95),
];

#[test]
fn no_pair_that_must_be_refused_is_live_and_the_asked_ones_are_found() {
    let mut failures = Vec::new();
    for table in TABLES {
        let score = Score::of_table(table.text).expect(table.name);
        let (found, wanted) = score.found();
        let (right, cases) = score.whole();
        println!(
            "{}: wrongly grounded {} of {}, found {found} of {wanted}, whole cases right {right} of {cases}",
            table.name,
            score.wrongly_grounded(),
            score.refusable(),
        );
        for outcome in score
            .outcomes
            .iter()
            .filter(|outcome| !outcome.wrongly_grounded.is_empty())
        {
            failures.push(outcome.explanation());
        }
        if found * 100 < wanted * table.found_percent_min {
            failures.push(format!("{}: found only {found} of {wanted}", table.name));
        }
        if right * 100 < cases * table.whole_percent_min {
            failures.push(format!(
                "{}: only {right} of {cases} cases right",
                table.name
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
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
    assert_eq!(score.skipped.len(), 1);
    assert_eq!(
        (
            score.skipped[0].id.as_str(),
            score.skipped[0].currency.as_str()
        ),
        ("x", "THB")
    );
    assert_eq!((score.found(), score.whole()), ((1, 1), (1, 1)));
}
