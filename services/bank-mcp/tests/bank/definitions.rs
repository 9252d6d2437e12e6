//! The tool list, as others read it.

use countersign_bank_mcp::{router, tool::Reach};
use countersign_policy::{Policy, definition_pin};
use serde_json::Value;

fn definitions() -> Vec<Value> {
    router::definitions()
        .iter()
        .map(|tool| serde_json::to_value(tool).unwrap())
        .collect()
}

#[test]
fn the_definitions_change_only_on_purpose() {
    insta::assert_json_snapshot!("definitions", definitions());
}

#[test]
fn no_tool_takes_a_customer_prose_or_an_undeclared_argument() {
    fn walk(schema: &Value, path: &str) {
        if schema["type"] == "object" {
            assert_eq!(schema["additionalProperties"], false, "{path}");
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(
                    !name.contains("customer") && !name.contains("note"),
                    "{path}/{name}"
                );
                walk(property, &format!("{path}/{name}"));
            }
        } else if schema["type"] == "array" {
            assert!(schema["maxItems"].is_u64(), "{path}");
            walk(&schema["items"], path);
        } else {
            // A string of a fixed form: a list of words, or an anchored pattern that ends.
            assert_eq!(schema["type"], "string", "{path}: {schema}");
            let pattern = schema["pattern"].as_str().unwrap_or("");
            let fixed =
                pattern.starts_with('^') && pattern.ends_with('$') && !pattern.contains(['*', '+']);
            assert!(schema["enum"].is_array() || fixed, "{path}: {schema}");
        }
    }
    for tool in definitions() {
        let name = tool["name"].as_str().unwrap().to_owned();
        walk(&tool["inputSchema"], &name);
    }
}

#[test]
fn annotations_say_which_tools_only_read() {
    for (entry, tool) in router::TOOLS.iter().zip(definitions()) {
        assert_eq!(tool["name"], entry.name);
        assert_eq!(
            tool["annotations"]["readOnlyHint"],
            entry.reach == Reach::Read,
            "{}",
            entry.name
        );
        assert_eq!(
            entry.reach == Reach::Request,
            entry.name.starts_with("request_"),
            "{}",
            entry.name
        );
    }
}

#[test]
fn the_binary_prints_the_list_as_it_is_served() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_countersign-bank-mcp"))
        .arg("definitions")
        .output()
        .unwrap();
    assert!(output.status.success());
    let printed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, definitions());
}

/// The demo's policy was looked at for these very definitions.
#[test]
fn the_demos_policy_pins_each_definition_as_it_is_served() {
    let yaml = include_str!("../../../../fixtures/policy/bank.yaml");
    let policy = Policy::load(yaml).unwrap();
    for tool in definitions() {
        let name = tool["name"].as_str().unwrap();
        let served = definition_pin(&tool.to_string()).unwrap();
        assert_eq!(policy.pin(name), Some(served), "pin {name} again");
    }
    assert_eq!(policy.tools().count(), router::TOOLS.len());
}
