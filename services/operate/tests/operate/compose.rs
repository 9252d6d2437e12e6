//! The compose file states the trust table.

use std::collections::BTreeSet;

use countersign_operate::compose::{Compose, FILE};
use countersign_operate::files::{self, texts};
use countersign_operate::trust::{Faces, TrustTable};

/// What stands beside the services.
const OTHERS: [&str; 4] = ["database", "edge", "install", "model-relay"];

#[test]
fn every_network_is_one_edge_of_the_table() {
    let table = TrustTable::read().expect("table");
    let compose = Compose::read().expect("compose file");
    assert_eq!(
        compose.pairs().expect("networks of one edge each"),
        table.edges().pairs()
    );
}

#[test]
fn a_network_too_many_or_a_member_too_many_is_found() {
    let text = files::text(FILE).expect("file");
    let more = text.replacen(
        "networks: [intake_agent, agent_door,",
        "networks: [intake_agent, db_panel, agent_door,",
        1,
    );
    assert_ne!(more, text);
    assert!(
        Compose::parse(&more).expect("YAML").pairs().is_err(),
        "the agent on the panel's way to the database"
    );
    let open = text.replacen("  agent_door: {internal: true}", "  agent_door: {}", 1);
    assert_ne!(open, text);
    assert!(
        Compose::parse(&open).expect("YAML").pairs().is_err(),
        "a network with a way out"
    );
    let shorter = text.replacen(
        "networks: [edge_intake, intake_agent, db_intake]",
        "networks: [edge_intake, db_intake]",
        1,
    );
    assert_ne!(shorter, text);
    assert!(
        Compose::parse(&shorter).expect("YAML").pairs().is_err(),
        "an edge with one end"
    );
}

#[test]
fn every_service_is_shut_in_and_has_nothing_it_has_no_business_with() {
    let table = TrustTable::read().expect("table");
    let compose = Compose::read().expect("compose file");
    let names: BTreeSet<String> = compose.services().into_iter().collect();
    let wanted = table.services.keys().map(String::as_str).chain(OTHERS);
    assert_eq!(names, wanted.map(ToOwned::to_owned).collect());
    for name in names {
        let service = compose.service(&name);
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(texts(&service["cap_drop"]), ["ALL"], "{name}");
        assert_eq!(
            texts(&service["security_opt"]),
            ["no-new-privileges:true"],
            "{name}"
        );
        let user = service["user"].as_str().unwrap_or_default();
        assert!(
            !user.is_empty() && !user.starts_with("0:"),
            "{name} runs as {user}"
        );
        assert!(service["mem_limit"].is_string(), "{name}");
        assert!(
            service["network_mode"].is_null() && service["privileged"].is_null(),
            "{name}"
        );
        assert!(
            name == "install" || service["healthcheck"]["test"].is_array(),
            "{name}"
        );
        assert_eq!(
            service["ports"].is_null(),
            name != "edge",
            "only the edge is reached from outside: {name}"
        );
        // Variables are for the database's own image, and none is a secret.
        if let Some(variables) = service["environment"].as_object() {
            assert_eq!(name, "database");
            for (variable, value) in variables {
                let secret = variable.contains("PASSWORD");
                assert!(
                    !secret || variable.ends_with("_FILE"),
                    "{variable} is {value}"
                );
            }
        }
    }
}

#[test]
fn each_service_gets_its_user_its_config_and_its_probe() {
    let table = TrustTable::read().expect("table");
    let compose = Compose::read().expect("compose file");
    for (name, row) in &table.services {
        let service = compose.service(name);
        assert_eq!(service["user"], format!("{0}:{0}", row.uid), "{name}");
        let secrets = service["secrets"].as_array().expect("secrets");
        assert_eq!(
            secrets.len(),
            1,
            "{name} gets its own config and nothing else"
        );
        assert_eq!(secrets[0]["target"], "/run/secrets/config.json");
        let source = secrets[0]["source"].as_str().expect("source");
        assert_eq!(
            compose.secret_file(source).expect("file"),
            format!("./secrets/{name}.json")
        );
        let probe = texts(&service["healthcheck"]["test"]);
        assert_eq!(
            probe[1..3],
            [
                "/usr/local/bin/probe".to_owned(),
                format!("127.0.0.1:{}", row.port)
            ],
            "{name}"
        );
        let config = files::json(&format!("docs/deploy/config/{name}.json")).expect("template");
        let origin = format!("{name}_origin").replace("intake", "chat");
        let host = match row.faces {
            Faces::Nobody => config["hosts"][0].as_str(),
            _ => config[&origin]
                .as_str()
                .and_then(|one| one.strip_prefix("https://")),
        };
        assert_eq!(
            Some(probe[3].as_str()),
            host,
            "{name} is asked under the name it answers to"
        );
        let volumes = service["volumes"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let targets: Vec<&str> = volumes
            .iter()
            .filter_map(|one| one["target"].as_str())
            .collect();
        assert_eq!(
            targets,
            row.keeps.as_deref().into_iter().collect::<Vec<_>>(),
            "{name}"
        );
    }
}

#[test]
fn images_run_as_the_users_of_the_table() {
    let table = TrustTable::read().expect("table");
    let file = files::text("docs/deploy/images/Dockerfile").expect("image file");
    for (name, row) in &table.services {
        let stage = file
            .split_once(&format!("FROM base AS {name}\n"))
            .expect("a stage")
            .1;
        let stage = stage.split("\nFROM ").next().expect("a stage ends");
        assert!(
            stage.contains(&format!("/countersign-{name} /usr/local/bin/service")),
            "{name}"
        );
        assert!(
            stage.contains(&format!("USER {0}:{0}\n", row.uid)),
            "{name}"
        );
    }
}

#[test]
fn the_database_lets_each_login_in_from_its_own_network_alone() {
    let table = TrustTable::read().expect("table");
    let compose = files::yaml(&files::text(FILE).expect("file")).expect("YAML");
    let mut wanted = BTreeSet::from([("postgres".to_owned(), subnet(&compose, "db_install"))]);
    for (name, row) in &table.services {
        for login in &row.logins {
            wanted.insert((
                login.clone(),
                subnet(&compose, &format!("db_{}", name.replace('-', "_"))),
            ));
        }
    }
    let file = files::text("docs/deploy/images/pg_hba.conf").expect("file");
    let lines = file.lines().filter(|line| line.starts_with("host"));
    let found: BTreeSet<(String, String)> = lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(
                (words[1], words[4]),
                ("countersign", "scram-sha-256"),
                "{line}"
            );
            (words[2].to_owned(), words[3].to_owned())
        })
        .collect();
    assert_eq!(found, wanted);
}

fn subnet(compose: &serde_json::Value, network: &str) -> String {
    let subnet = &compose["networks"][network]["ipam"]["config"][0]["subnet"];
    subnet.as_str().expect("a subnet").to_owned()
}
