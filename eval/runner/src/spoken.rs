//! What a competent model says when a case gives it no words: what its tools answered, and nothing else.

use serde_json::Value;

/// The words of a reply.
#[must_use]
pub fn reply(answers: &[(String, Value)]) -> String {
    if answers.is_empty() {
        return "Alright. Tell me if there is anything I can look up or prepare for you."
            .to_owned();
    }
    let mut parts = Vec::new();
    for (tool, answer) in answers {
        let content = &answer["result"]["structuredContent"];
        if answer["result"]["isError"] == true || content.is_null() {
            let advice = content["advice"]
                .as_str()
                .unwrap_or("The bank does not take that request.");
            parts.push(format!("I could not prepare that. {advice}"));
        } else if tool.starts_with("request_") {
            parts.push(
                "I have put it on your panel. Nothing happens before you confirm it there."
                    .to_owned(),
            );
        } else {
            let mut words = Vec::new();
            leaves(content, "", &mut words);
            if words.is_empty() {
                words.push("There is nothing of that kind.".to_owned());
            }
            parts.push(words.join("; "));
        }
    }
    parts.join(" ")
}

fn leaves(value: &Value, key: &str, words: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, value)| leaves(value, key, words)),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, key, words)),
        Value::Null => {}
        Value::String(text) => words.push(format!("{key} {text}")),
        other => words.push(format!("{key} {other}")),
    }
}
