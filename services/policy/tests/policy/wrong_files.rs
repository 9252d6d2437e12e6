//! Files that are wrong in one thing each: none is a policy, and each error has the line and says what to do.

use countersign_policy::Policy;

const WRONG: &str = include_str!("../../../../fixtures/cases/wrong-policies.tsv");

#[test]
fn every_wrong_file_is_refused_at_its_line() {
    let mut rows = 0;
    let mut taken = Vec::new();
    for row in WRONG.lines().skip(1) {
        let [what, line, text] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three columns: {row}");
        };
        let text: String = serde_json::from_str(text).unwrap();
        rows += 1;
        match Policy::load(&text) {
            Ok(_) => taken.push(format!("{what}: taken")),
            Err(error) if error.line().to_string() != line => {
                taken.push(format!("{what}: {error}, not line {line}"));
            }
            Err(error) => assert!(error.to_string().len() > 30, "{what}: {error}"),
        }
    }
    assert!(rows > 150, "{rows}");
    assert_eq!(taken, Vec::<String>::new());
}

#[test]
fn numbers_and_truth_values_are_written_as_such_and_texts_of_ones_own_are_free() {
    let policy = "version: 1\nid: p\ndefault: deny\nservers:\n  s:\n    command: [a, '1']\n    env: {version: \"1\", \
                  required: 'true', max: '0x1f'}\ntools:\n  read:\n    args:\n      min: {type: string, enum: ['1']}\n      \
                  required: {type: integer, min: -5, max: 0}\n";
    Policy::load(policy).unwrap();
    for (from, to) in [
        ("min: -5", "min: -05"),
        ("max: 0}", "max: +0}"),
        ("max: 0}", "max: '0'}"),
    ] {
        let wrong = policy.replacen(from, to, 1);
        assert_ne!(wrong, policy);
        let error = Policy::load(&wrong).expect_err(to);
        assert!(error.to_string().contains("in digits alone"), "{error}");
    }
}
