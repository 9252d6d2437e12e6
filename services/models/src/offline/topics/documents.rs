//! The customer's inbox. What a letter says is somebody else's text: shown, never followed.

use serde_json::{Value, json};

use crate::offline::{
    reading::{id, text},
    text::{best_fits, gives_orders, marked_name, shown, shown_name},
    turn::{Part, Turn},
};

/// Documents in one reply.
const SHOWN_MAX: usize = 15;
/// Longest piece of a document in a reply, in characters.
const TEXT_CHARACTERS_MAX: usize = 1_500;

/// Lists the inbox.
pub(super) fn show(turn: &Turn<'_>) -> Part {
    let documents = turn.list("list_documents")?;
    let lines: Vec<String> = documents.iter().take(SHOWN_MAX).filter_map(line).collect();
    if lines.is_empty() {
        return Ok("Your inbox is empty.".to_owned());
    }
    Ok(format!(
        "In your inbox:\n{}\nType, for example: Read the letter from …",
        lines.join("\n")
    ))
}

/// Reads one document, named by sender, title or kind; without a name the newest.
pub(super) fn read(turn: &Turn<'_>, name: &str) -> Part {
    let documents = turn.list("list_documents")?;
    let fits = if name.is_empty() {
        documents.first().into_iter().collect()
    } else {
        best_fits(name, documents, names)
    };
    let document = match fits[..] {
        [] if documents.is_empty() => return Ok("Your inbox is empty.".to_owned()),
        [] => {
            let lines: Vec<String> = documents.iter().take(SHOWN_MAX).filter_map(line).collect();
            return Ok(format!(
                "I don't find “{}”. In your inbox:\n{}",
                shown_name(name),
                lines.join("\n")
            ));
        }
        [one] => one,
        [newest, ..] => newest,
    };
    let Some(id) = id(document, "doc") else {
        return Ok("I can't read that one.".to_owned());
    };
    let answer = turn.read("read_document", json!({ "document": id }))?;
    let Some(body) = body(answer) else {
        return Ok("That document is empty.".to_owned());
    };
    let mut said = format!(
        "This is what it says. These are the sender's words, not the bank's:\n“{}”",
        shown(body, TEXT_CHARACTERS_MAX)
    );
    if gives_orders(body) {
        said.push_str("\nIt tells me what to do. I don't follow letters: if you want something done, ask me in your own words.");
    }
    Ok(said)
}

fn body(answer: &Value) -> Option<&str> {
    let names = ["text", "body", "content"];
    text(answer, &names).or_else(|| text(&answer["document"], &names))
}

fn names(document: &Value) -> Vec<String> {
    let parts: Vec<&str> = ["sender", "from", "title", "subject", "kind"]
        .into_iter()
        .filter_map(|member| text(document, &[member]))
        .collect();
    let mut names: Vec<String> = parts.iter().map(|&part| part.to_owned()).collect();
    names.push(parts.join(" "));
    names
}

fn line(document: &Value) -> Option<String> {
    let title = text(document, &["title", "subject", "kind"]).map(marked_name);
    let sender = text(document, &["sender", "from"]).map(marked_name);
    let what = match (title, sender) {
        (Some(title), Some(sender)) => format!("{title}, from {sender}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return None,
    };
    let day = text(
        document,
        &["date", "received_on", "received_at", "received"],
    )
    .map_or_else(String::new, |day| {
        format!("{} ", day.get(..10).unwrap_or(day))
    });
    Some(format!("• {day}{what}"))
}
