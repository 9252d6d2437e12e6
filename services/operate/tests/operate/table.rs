//! The trust table itself, compared with what the services' configs hold.

use countersign_operate::files;
use countersign_operate::source::{Shape, Sources, Type};
use countersign_operate::trust::TrustTable;

fn names_in(kind: &Type) -> &str {
    match kind {
        Type::Named(name) => name,
        Type::Option(inner) | Type::List(inner) | Type::Map(inner) => names_in(inner),
    }
}

#[test]
fn a_service_holds_the_secrets_of_its_row_and_no_other() {
    let table = TrustTable::read().expect("table");
    for (service, row) in &table.services {
        let sources = Sources::of(&[service]).expect("sources");
        let near = sources.file(&format!("services/{service}/src/config.rs"));
        let Some((_, Shape::Members { members, closed })) = sources.shape("Config", near) else {
            panic!("{service} has a config of members");
        };
        assert!(closed, "{service} refuses members that it does not know");
        let mut keys: Vec<&str> = members
            .iter()
            .filter(|one| {
                matches!(
                    names_in(&one.kind),
                    "SigningKeyFile" | "SigningKeySource" | "LogKeyFile"
                )
            })
            .map(|one| one.name.as_str())
            .collect();
        let mut wanted: Vec<&str> = row.holds.iter().map(String::as_str).collect();
        keys.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(keys, wanted, "private keys of {service}");
        let logins = members
            .iter()
            .filter(|one| one.name.ends_with("database_url"));
        assert_eq!(logins.count(), row.logins.len(), "logins of {service}");
    }
}

#[test]
fn the_logins_are_those_that_the_schema_makes_each_of_one_service() {
    let table = TrustTable::read().expect("table");
    let mut logins: Vec<&str> = table
        .services
        .values()
        .flat_map(|row| row.logins.iter().map(String::as_str))
        .collect();
    logins.sort_unstable();
    let roles = files::text("services/store/src/install.rs").expect("roles");
    let list = roles
        .split_once("LOGIN_ROLES")
        .and_then(|(_, rest)| rest.split_once("= ["))
        .and_then(|(_, rest)| rest.split_once(']'))
        .expect("the list of login roles");
    let mut wanted: Vec<&str> = list
        .0
        .split(',')
        .map(|one| one.trim().trim_matches('"'))
        // What a person runs and no service: its password stands in no config.
        .filter(|one| !one.is_empty() && !matches!(*one, "backup"))
        .collect();
    wanted.sort_unstable();
    assert_eq!(logins, wanted);
}

#[test]
fn every_row_stands_in_the_page_for_people() {
    let table = TrustTable::read().expect("table");
    let page = files::text("docs/ARCHITECTURE.md").expect("page");
    let rows = page
        .split_once("## Who holds what")
        .expect("a table of who holds what")
        .1;
    for service in table.services.keys() {
        assert!(rows.contains(&format!("| `{service}` |")), "{service}");
    }
}
