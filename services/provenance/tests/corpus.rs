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
        Table {
            name: $name,
            text: include_str!(concat!("../../../fixtures/provenance/", $name, ".tsv")),
            found_percent_min: 97,
            whole_percent_min: 97,
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
