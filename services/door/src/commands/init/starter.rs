//! The policy that somebody starts with.

use countersign_policy::{Proposal, check_name};

use crate::commands::definitions::Definitions;
use crate::commands::pin::difference::visible;

/// The head of the file, up to its tools.
pub fn head(name: &str, command: &[String], url: Option<&str>) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let reached = match (command, url) {
        ([], Some(url)) => format!("    url: {}\n", text(url)),
        ([], None) => {
            "    # command: [npx, -y, some-mcp-server]\n    label: To be named\n".to_owned()
        }
        (command, _) => {
            let words: Vec<_> = command.iter().map(|word| text(word)).collect();
            format!("    command: [{}]\n", words.join(", "))
        }
    };
    format!(
        "# What may pass the door. What is not named here is refused.\n\
         version: 1\n\
         id: {id}\n\
         default: deny\n\
         require_pins: true\n\
         rate_per_minute: 120\n\
         \n\
         servers:\n\
         \x20 {id}:\n\
         {reached}\
         \x20   # A secret comes from the environment: env: {{API_KEY: \"${{API_KEY}}\"}}\n\
         \n\
         # Keys, tokens, card numbers and IBANs are taken out of results; text that talks to the model\n\
         # like an order is marked.\n\
         redaction: {{results: true}}\n\
         injection: {{results: flag, definitions: flag}}\n",
        id = plain(name),
    )
}

/// A name, in quotes where it could be taken for a number or a truth value.
fn plain(name: &str) -> String {
    let letters = name.len() > 3 && name.starts_with(|first: char| first.is_ascii_alphabetic());
    let word = ["true", "false", "null"]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word));
    match letters && !word {
        true => name.to_owned(),
        false => serde_json::Value::from(name).to_string(),
    }
}

/// The whole file.
pub fn policy(head: &str, definitions: Option<&Definitions>) -> String {
    let mut lines = head.to_owned();
    let Some(definitions) = definitions else {
        lines.push_str(
            "\n# Each tool by its exact name, with its arguments. Then: countersign-door pin --approve\n\
             # tools:\n\
             #   read_something:\n\
             #     args:\n\
             #       name: {type: string, required: true, max_length: 100, pattern: \"[a-z0-9-]+\"}\n",
        );
        return lines;
    };
    let (mut allowed, mut left_out) = (String::new(), String::new());
    for (name, definition) in definitions.iter() {
        let value = serde_json::from_str(&definition.raw).ok();
        let Some(proposal) = value.as_ref().and_then(Proposal::read) else {
            continue;
        };
        if !check_name(name, false) {
            left_out.push_str(&format!("#   {}: no plain name\n", visible(name)));
            continue;
        }
        if let Some(word) = &proposal.write_word {
            left_out.push_str(&format!("#   {name}: `{word}`\n"));
            continue;
        }
        allowed.push_str(&format!("  {name}:\n"));
        for gap in &proposal.gaps {
            let (property, message) = (visible(&gap.property), visible(&gap.message));
            allowed.push_str(&format!("    # {property}: {message}\n"));
        }
        allowed.push_str(&format!("    schema_sha256: \"{}\"\n", definition.pin));
        allowed.push_str(&proposal.args_yaml(4));
    }
    if !allowed.is_empty() {
        lines.push_str(
            "\n# What the server offers and reads, as far as names say. Look at each: take out what is not needed,\n\
             # and say more exactly what arguments may be.\n\
             tools:\n",
        );
        lines.push_str(&allowed);
    }
    if !left_out.is_empty() {
        lines.push_str(
            "\n# Left out, for the word in their names. One that only asks for what a person confirms elsewhere\n\
             # passes with `acknowledged: creates-a-request-only`.\n",
        );
        lines.push_str(&left_out);
    }
    lines
}
