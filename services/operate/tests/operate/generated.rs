//! What is generated is what stands in the checkout, and what looks at the history sees.

use countersign_operate::history::{Allowed, Exception, Find, Look};
use countersign_operate::{bill, files, openapi};
use serde_json::Value;

#[test]
fn the_api_descriptions_are_current() {
    for surface in &openapi::SURFACES {
        let path = format!("docs/openapi/{}.json", surface.name);
        let stored = files::json(&path).expect("description");
        let made = openapi::document(surface).expect("made");
        assert!(
            stored == made,
            "{path} is old; write it anew: cargo run -p countersign-operate -- openapi"
        );
    }
}

#[test]
fn the_api_descriptions_know_what_handlers_take() {
    let panel = files::json("docs/openapi/panel.json").expect("description");
    let confirm = &panel["paths"]["/api/actions/{action}/confirm"]["post"];
    let schema = &confirm["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    let name = schema
        .as_str()
        .and_then(|one| one.rsplit('/').next())
        .expect("a schema");
    let schema = &panel["components"]["schemas"][name];
    assert_eq!(
        files::texts(&schema["required"]),
        ["version", "confirm_hash", "nonce"]
    );
    assert_eq!(schema["additionalProperties"], false);
    // Every reference leads somewhere.
    for surface in &openapi::SURFACES {
        let document = openapi::document(surface).expect("made");
        let mut references = Vec::new();
        collect(&document, &mut references);
        for one in references {
            let place = one.trim_start_matches('#');
            assert!(document.pointer(place).is_some(), "{}: {one}", surface.name);
        }
    }
}

fn collect(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            into.extend(
                members
                    .get("$ref")
                    .and_then(Value::as_str)
                    .map(ToOwned::to_owned),
            );
            members.values().for_each(|one| collect(one, into));
        }
        Value::Array(list) => list.iter().for_each(|one| collect(one, into)),
        _ => {}
    }
}

#[test]
fn cookies_of_the_descriptions_are_those_that_are_set() {
    for name in ["panel", "dashboard"] {
        let document = files::json(&format!("docs/openapi/{name}.json")).expect("description");
        let cookie = document["components"]["securitySchemes"]["session"]["name"].as_str();
        let source = files::text(&format!("services/{name}/src/cookie.rs")).expect("source");
        assert!(
            source.contains(&format!("SecretCookie::new({:?})", cookie.expect("a name"))),
            "{name}"
        );
    }
}

#[test]
fn the_bill_names_what_is_linked_with_licence_and_checksum() {
    let bill = bill::materials().expect("bill");
    let components = bill["components"].as_array().expect("components");
    let names: Vec<&str> = components
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(names.contains(&"rustls") && names.contains(&"countersign-door"));
    // What only tests link is not in what is shipped.
    assert!(!names.contains(&"proptest") && !names.contains(&"countersign-testkit"));
    for one in components {
        assert!(
            one["licenses"][0]["expression"].is_string(),
            "{}",
            one["name"]
        );
        let own = one["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("countersign-"));
        assert_eq!(one["hashes"].is_null(), own, "{}", one["name"]);
    }
    assert_eq!(
        bill,
        bill::materials().expect("bill"),
        "the same lock gives the same bill"
    );
}

#[test]
fn a_secret_is_seen_and_an_exception_covers_its_path_and_rule_alone() {
    // Put together here, so that this file is not a find itself.
    let key = ["AKIA", "Q3EGRIFF7OXM", "ZLD2"].concat();
    let text = format!("let region = \"eu\";\nlet key = \"{key}\";\n");
    let rules: Vec<String> = Look::new().at(&text).map(|(rule, _)| rule).collect();
    assert_eq!(rules, ["cloud_key"]);
    assert_eq!(
        Look::new().at("IBAN DE89 3704 0044 0532 0130 00").count(),
        0,
        "tests of banks are full of them"
    );
    let find = |path: &str| Find {
        path: path.to_owned(),
        rule: "cloud_key".to_owned(),
        digest: String::new(),
        object: String::new(),
    };
    let exception = |path: &str, rule: &str| Exception {
        path: path.to_owned(),
        rules: vec![rule.to_owned()],
        why: String::new(),
    };
    let allowed = Allowed {
        allowed: vec![exception("a/", "cloud_key"), exception("b.rs", "jwt")],
    };
    let (bad, idle) = allowed.judge(&[find("a/x.rs"), find("b.rs"), find("ab.rs")]);
    assert_eq!(bad, [find("b.rs"), find("ab.rs")]);
    assert_eq!(idle, ["b.rs"]);
}
