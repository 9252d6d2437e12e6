//! What a database of many nodes needs: whose rows each statement of the money path touches. docs/scale.md is the page that this keeps true.

use std::collections::{BTreeMap, BTreeSet};

use countersign_operate::files;
use countersign_operate::statements::{self, Table};

/// Tables of the page by their class, from its lists `- **class**: \`table\`, …`.
fn classes() -> BTreeMap<String, String> {
    let page = files::text("docs/scale.md").expect("page");
    let mut classes = BTreeMap::new();
    for line in page.lines() {
        let Some((class, list)) = line
            .strip_prefix("- **")
            .and_then(|rest| rest.split_once("**: "))
        else {
            continue;
        };
        for (index, name) in list.split('`').enumerate() {
            if index % 2 == 1 {
                let before = classes.insert(name.to_owned(), class.to_owned());
                assert_eq!(before, None, "{name} twice");
            }
        }
    }
    classes
}

fn tables() -> BTreeMap<String, Table> {
    statements::tables().expect("migrations")
}

#[test]
fn every_table_stands_in_the_class_that_its_key_says() {
    let classes = classes();
    for (name, table) in &tables() {
        let class = classes
            .get(name)
            .unwrap_or_else(|| panic!("{name} is in no class"));
        let leads = table
            .primary_key
            .first()
            .is_some_and(|one| one == "customer_id");
        assert_eq!(
            leads,
            class == "by customer",
            "{name}: {:?}",
            table.primary_key
        );
    }
    let known: BTreeSet<String> = tables().into_keys().collect();
    let named: BTreeSet<String> = classes.into_keys().collect();
    assert_eq!(
        named.difference(&known).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}

#[test]
fn what_belongs_to_a_customer_leads_to_rows_of_the_same_customer() {
    let classes = classes();
    let by_customer = |name: &str| {
        classes
            .get(name)
            .is_some_and(|class| class == "by customer")
    };
    for (name, table) in tables().iter().filter(|(name, _)| by_customer(name)) {
        for (own, other, _) in &table.foreign_keys {
            if by_customer(other) {
                assert_eq!(
                    own.first().map(String::as_str),
                    Some("customer_id"),
                    "{name} -> {other}"
                );
            }
        }
    }
}

/// Every statement of the money path, with where it stands.
fn money_path() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for service in ["pending", "execution"] {
        for (file, statement) in statements::statements(service).expect("sources") {
            all.push((format!("{service}/{file}"), statement));
        }
    }
    for path in files::below(&files::root().join("migrations/execution"), ".sql").expect("folder") {
        let text = std::fs::read_to_string(&path).expect("file");
        for (name, body) in statements::functions(&text) {
            let parts = body.split(';').map(|one| (name.clone(), one.to_owned()));
            all.extend(parts);
        }
    }
    all
}

/// Why a statement touches more than one customer's rows, or none's; nothing when it is one customer's.
fn crosses(statement: &str, classes: &BTreeMap<String, String>) -> Option<String> {
    let tables = statements::tables_of(statement);
    let mut own = Vec::new();
    for name in &tables {
        match classes.get(name).map(String::as_str) {
            Some("by customer") => own.push(name.as_str()),
            // Read by its key alone, on every node.
            Some("everywhere") | None => {}
            Some(class) => return Some(format!("{name} is {class}")),
        }
    }
    // Two tables of a customer are the same customer's when their rows are told so.
    let told = statement.matches("customer_id").count();
    if own.len() > 1 && told == 0 {
        return Some(format!("{own:?} are joined without their customer"));
    }
    None
}

#[test]
fn every_statement_of_the_money_path_is_one_customers_or_named() {
    let classes = classes();
    let page = files::text("docs/scale.md").expect("page");
    let named = page.split_once("## What crosses").expect("a section").1;
    let named = named.split("\n## ").next().expect("its end");
    let path = money_path();
    assert!(
        path.len() > 100,
        "only {} statements were found",
        path.len()
    );
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for (place, statement) in &path {
        if let Some(why) = crosses(statement, &classes) {
            let known = format!("| `{place}` |");
            if named.contains(&known) {
                used.insert(known);
            } else {
                wrong.push(format!(
                    "{place}: {why}: {}",
                    statement.split_whitespace().collect::<Vec<_>>().join(" ")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let rows = named.lines().filter(|line| line.starts_with("| `"));
    for row in rows {
        let place = row.split('|').nth(1).map(str::trim).unwrap_or_default();
        assert!(
            used.contains(&format!("| {place} |")),
            "{place} crosses nothing any more"
        );
    }
}

#[test]
fn a_statement_of_two_customers_is_found() {
    let classes = BTreeMap::from([
        ("transfer".to_owned(), "by customer".to_owned()),
        ("entry".to_owned(), "by customer".to_owned()),
        ("account_directory".to_owned(), "by its own key".to_owned()),
    ]);
    let joined = "SELECT 1 FROM bank.transfer t JOIN bank.entry e ON e.transfer_id = t.transfer_id";
    assert!(crosses(joined, &classes).is_some());
    let told = "SELECT 1 FROM bank.transfer t JOIN bank.entry e USING (customer_id, transfer_id)";
    assert_eq!(crosses(told, &classes), None);
    assert!(
        crosses(
            "SELECT 1 FROM bank.account_directory WHERE iban = $1",
            &classes
        )
        .is_some()
    );
}
