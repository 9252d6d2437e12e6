//! Dashboard and alerts, compared with the numbers that the services tell (docs/METRICS.md, which their own tests compare with what they print).

use std::collections::{BTreeMap, BTreeSet};

use countersign_operate::files;

/// Every number with its labels.
fn told() -> BTreeMap<String, BTreeSet<String>> {
    let page = files::text("docs/METRICS.md").expect("page");
    let mut told = BTreeMap::new();
    for line in page
        .lines()
        .filter(|line| line.starts_with("| `countersign_"))
    {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let labels: BTreeSet<String> = cells[3]
            .split(',')
            .map(|one| one.trim().trim_matches('`').to_owned())
            .filter(|one| !one.is_empty())
            .collect();
        let name = cells[1].trim_matches('`').to_owned();
        let suffixes: &[&str] = match cells[2] {
            "histogram" => &["_bucket", "_sum", "_count"],
            "summary" => &["_sum", "_count"],
            _ => &[""],
        };
        for suffix in suffixes {
            let mut labels = labels.clone();
            if *suffix == "_bucket" {
                labels.insert("le".to_owned());
            }
            told.insert(format!("{name}{suffix}"), labels);
        }
    }
    told
}

/// Words of an expression that are names of ours, and the labels beside them.
fn asked(expression: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = expression.split(|letter| !is_word(letter));
    let names = words.filter(|word| word.starts_with("countersign_"));
    let mut labels = BTreeSet::new();
    for (open, close) in [('{', '}'), ('(', ')')] {
        for part in expression.split(open).skip(1) {
            let inside = part.split(close).next().unwrap_or_default();
            let by_before = expression.contains(&format!("by ({inside})"));
            if open == '{' || by_before {
                let each = inside
                    .split(',')
                    .map(|one| one.split('=').next().unwrap_or_default());
                labels.extend(
                    each.map(|one| one.trim().to_owned())
                        .filter(|one| !one.is_empty()),
                );
            }
        }
    }
    (names.map(ToOwned::to_owned).collect(), labels)
}

fn check(what: &str, expression: &str, told: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let (names, labels) = asked(expression);
    let mut wrong = Vec::new();
    if names.is_empty() {
        wrong.push(format!("{what}: asks for no number of ours"));
    }
    for name in names {
        match told.get(&name) {
            None => wrong.push(format!("{what}: nothing tells {name}")),
            Some(known) => wrong.extend(
                labels
                    .difference(known)
                    .map(|label| format!("{what}: {name} has no label {label}")),
            ),
        }
    }
    wrong
}

#[test]
fn the_dashboard_asks_for_what_is_told() {
    let told = told();
    let dashboard = files::json("docs/grafana/countersign.json").expect("dashboard");
    let mut seen = BTreeSet::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        let title = panel["title"].as_str().expect("title");
        for target in panel["targets"].as_array().expect("targets") {
            let expression = target["expr"].as_str().expect("expression");
            assert_eq!(check(title, expression, &told), Vec::<String>::new());
            seen.extend(asked(expression).0);
        }
        // A panel that names a runbook names one that is there.
        let about = panel["description"].as_str().unwrap_or_default();
        if let Some((_, name)) = about.split_once("runbooks/") {
            files::text(&format!("docs/runbooks/{name}")).expect("the runbook");
        }
    }
    let shown = |name: &str| seen.iter().any(|one| one.starts_with(name));
    for name in told.keys() {
        let stem = name
            .trim_end_matches("_bucket")
            .trim_end_matches("_sum")
            .trim_end_matches("_count");
        let aside = [
            "countersign_door_spans_dropped_total",
            "countersign_door_build_info",
        ];
        assert!(
            aside.contains(&stem) || shown(stem),
            "{stem} is on no panel"
        );
    }
}

#[test]
fn the_alerts_ask_for_what_is_told_and_say_what_to_do() {
    let told = told();
    let alerts = files::yaml(&files::text("docs/alerts.yaml").expect("file")).expect("YAML");
    let mut names = BTreeSet::new();
    for rule in alerts["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .flat_map(|group| group["rules"].as_array().expect("rules"))
    {
        let name = rule["alert"].as_str().expect("name");
        assert!(names.insert(name), "{name} twice");
        let expression = rule["expr"].as_str().expect("expression");
        assert_eq!(check(name, expression, &told), Vec::<String>::new());
        assert!(
            matches!(rule["labels"]["severity"].as_str(), Some("page" | "ticket")),
            "{name}"
        );
        let annotations = &rule["annotations"];
        assert!(
            annotations["summary"]
                .as_str()
                .is_some_and(|text| text.ends_with('.')),
            "{name}"
        );
        // Who is woken is told what to do.
        let runbook = annotations["runbook"].as_str();
        assert!(
            rule["labels"]["severity"] != "page" || runbook.is_some(),
            "{name} pages without a runbook"
        );
        if let Some(runbook) = runbook {
            files::text(runbook).expect("the runbook");
        }
    }
}

#[test]
fn a_name_or_label_that_nothing_tells_is_found() {
    let told = told();
    assert_eq!(
        check("a", "rate(countersign_door_decision_total[5m])", &told).len(),
        1
    );
    assert_eq!(
        check(
            "a",
            "rate(countersign_door_decisions_total{why=\"x\"}[5m])",
            &told
        )
        .len(),
        1
    );
    assert_eq!(
        check(
            "a",
            "sum by (tool) (rate(countersign_door_decisions_total[5m]))",
            &told
        )
        .len(),
        1
    );
    assert_eq!(check("a", "up", &told).len(), 1);
}
