//! Every config template, compared with the type that its service reads.

use countersign_operate::settings::{self, Place};
use countersign_operate::trust::TrustTable;
use countersign_operate::{files, settings::Checked};
use serde_json::{Value, json};

fn template(service: &str) -> Value {
    files::json(&format!("docs/deploy/config/{service}.json")).expect("template")
}

fn check(service: &str, config: &Value) -> Checked {
    settings::check(service, config).expect("sources")
}

#[test]
fn every_template_is_a_config_of_its_service() {
    let table = TrustTable::read().expect("table");
    for (service, row) in &table.services {
        let config = template(service);
        let checked = check(service, &config);
        assert_eq!(checked.wrong, Vec::<String>::new(), "{service}");
        assert_eq!(
            config["listen"]["bind"][0],
            format!("0.0.0.0:{}", row.port),
            "{service}"
        );
        let mut logins: Vec<&str> = checked
            .places
            .iter()
            .filter_map(|(_, place)| match place {
                Place::Login(role) => Some(role.as_str()),
                _ => None,
            })
            .collect();
        logins.sort_unstable();
        let mut wanted: Vec<&str> = row.logins.iter().map(String::as_str).collect();
        wanted.sort_unstable();
        assert_eq!(logins, wanted, "logins of {service}");
        let mut keys: Vec<&str> = checked
            .places
            .iter()
            .filter(|(_, place)| matches!(place, Place::Key(_)))
            .map(|(member, _)| member.as_str())
            .collect();
        keys.sort_unstable();
        let mut wanted: Vec<&str> = row.holds.iter().map(String::as_str).collect();
        wanted.sort_unstable();
        assert_eq!(keys, wanted, "keys of {service}");
        assert!(config["demo"].is_null(), "{service} runs no demo");
        let folder = config["log_directory"]
            .as_str()
            .or(config["state_folder"].as_str());
        assert_eq!(folder, row.keeps.as_deref(), "the folder of {service}");
    }
}

#[test]
fn each_key_goes_to_one_service_and_its_public_half_to_who_verifies() {
    let table = TrustTable::read().expect("table");
    let mut private = Vec::new();
    let mut public = Vec::new();
    for service in table.services.keys() {
        for (_, place) in check(service, &template(service)).places {
            match place {
                Place::Key(name) => private.push((name, service.clone())),
                Place::Public(name) => public.push((name, service.clone())),
                _ => {}
            }
        }
    }
    private.sort();
    public.sort();
    let own = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter()
            .map(|(key, who)| ((*key).to_owned(), (*who).to_owned()))
            .collect()
    };
    assert_eq!(
        private,
        own(&[
            ("notary", "panel"),
            ("receipt", "door"),
            ("request", "door"),
            ("session", "intake")
        ])
    );
    assert_eq!(public, own(&[("request", "bank-mcp"), ("session", "door")]));
}

#[test]
fn a_member_that_a_service_does_not_know_or_miss_or_reads_otherwise_is_found() {
    let mut config = template("bank-mcp");
    config["pasword"] = json!("x");
    assert_eq!(
        check("bank-mcp", &config).wrong,
        ["pasword: is no member that the service knows"]
    );
    let mut config = template("bank-mcp");
    config.as_object_mut().expect("object").remove("hosts");
    assert_eq!(check("bank-mcp", &config).wrong, ["hosts: is missing"]);
    let mut config = template("bank-mcp");
    config["database_url"] = json!("postgres://written:out@database/countersign");
    assert_eq!(
        check("bank-mcp", &config).wrong,
        ["database_url: is no Secret"]
    );
    let mut config = template("door");
    config["session_keys"] = json!([{"$key": "session"}]);
    assert_eq!(
        check("door", &config).wrong.len(),
        1,
        "a private key where a public one belongs"
    );
    let mut config = template("agent");
    config["model"] = json!({"kind": "opemai_chat"});
    assert_eq!(
        check("agent", &config).wrong,
        ["model: is no variant that there is"]
    );
}
