//! Lines about pages, statements, logs, raw requests, and what the model or the browser was given.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    Played, Truth,
    replies::{TextSought, sought},
    words::pattern,
};
use crate::recording::Recording;

/// Reads a line.
pub fn condition(line: &str, played: &Played<'_>) -> Truth {
    raws(line, played)
        .or_else(|| pages(line, played))
        .or_else(|| statements(line, played))
        .or_else(|| processes(line, played))
        .or_else(|| step_up(line, played))
}

/// `panel endpoint answered`, `bank-mcp answered a request without a request token`, `each raw request refused`
fn raws(line: &str, played: &Played<'_>) -> Truth {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:any )?(?P<to>panel|bank-mcp|door|chat|intake|dashboard)(?: endpoint)?s? (?:answered|answers|reached|reachable|accepted|accepts|took|takes|succeeds|succeeded)\b",
        )
    });
    let recording = played.recording;
    if matches!(
        line,
        "each raw request refused"
            | "each raw refused"
            | "raw request refused"
            | "every raw request refused"
    ) {
        return Some(if recording.raws.is_empty() {
            Err("no raw request was played".to_owned())
        } else {
            Ok(recording.raws.iter().all(crate::recording::Raw::is_refused))
        });
    }
    if line.starts_with("request with a cursor") {
        let with_cursor: Vec<_> = recording
            .calls
            .iter()
            .filter(|call| call.arguments["cursor"].is_string())
            .collect();
        if with_cursor.is_empty() {
            return Some(Err("nothing was called with a cursor".to_owned()));
        }
        let passed = with_cursor.iter().any(|call| call.refusal.is_none());
        return Some(Ok(passed != line.ends_with("refused")));
    }
    let found = LINE.captures(line)?;
    let to = found["to"].replace("intake", "chat");
    let there: Vec<_> = recording.raws.iter().filter(|raw| raw.to == to).collect();
    if there.is_empty() {
        return Some(Err(format!("no raw request to the {to} was played")));
    }
    Some(Ok(there.iter().any(|raw| !raw.is_refused())))
}

/// `page contains <b>`, `staff page shows X as HTML`, `log contains X`, `message to the model contains X`, `browser received X`
fn pages(line: &str, played: &Played<'_>) -> Truth {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:any )?(?P<what>staff page|dashboard page|dashboard|operator's page|page|any page|panel page|service log|log|message to the model|model received|browser received|browser)(?: of \w+)? ?(?P<not>does not )?(?P<verb>contains?|shows?|received|holds?|mentions?|has|runs?)? (?P<text>.+)$",
        )
    });
    let recording = played.recording;
    if let Some(rest) = line
        .strip_prefix("request to host ")
        .or_else(|| line.strip_prefix("request to "))
    {
        let host = rest.split_whitespace().next()?;
        let attribute = pattern(&format!(
            r#"(?i)(?:src|href|action|data|srcset)\s*=\s*["']?[^"'>\s]*{}"#,
            regex::escape(host)
        ));
        return Some(on_pages(
            recording,
            |name| !name.starts_with("log "),
            |text| attribute.is_match(text),
        ));
    }
    let found = LINE.captures(line)?;
    let what = &found["what"];
    let text = found["text"].trim();
    let text = [" as HTML", " unescaped", " as markup", " as a link"]
        .iter()
        .find_map(|ending| text.strip_suffix(ending))
        .unwrap_or(text);
    let wanted = match sought(text, played) {
        TextSought::Text(text) => text,
        TextSought::Unclear(why) => return Some(Err(why)),
    };
    let has = |text: &str| text.to_lowercase().contains(&wanted.to_lowercase());
    let truth = match what {
        "message to the model" | "model received" => {
            if recording.heard.is_empty() {
                return Some(Err("the runner did not play the model here".to_owned()));
            }
            Ok(recording.heard.iter().any(|text| has(text)))
        }
        "browser received" | "browser" => Ok(recording
            .replies
            .iter()
            .flat_map(|reply| &reply.lines)
            .any(|line| has(&line.to_string()))
            || recording.replies.iter().any(|reply| has(&reply.text))
            || recording
                .cards
                .iter()
                .any(|seen| has(&seen.card.to_string()))),
        "log" | "service log" => on_pages(recording, |name| name.starts_with("log "), has),
        "staff page" | "dashboard page" | "dashboard" | "operator's page" => {
            on_pages(recording, |name| name.starts_with("staff "), has)
        }
        _ => on_pages(
            recording,
            |name| {
                !["log ", "staff ", "starts "]
                    .iter()
                    .any(|start| name.starts_with(start))
            },
            has,
        ),
    };
    let denied = found.name("not").is_some();
    Some(truth.map(|holds| holds != denied))
}

fn on_pages(
    recording: &Recording,
    which: impl Fn(&str) -> bool,
    test: impl Fn(&str) -> bool,
) -> Result<bool, String> {
    let mut looked = false;
    for (name, text) in &recording.pages {
        if which(name) {
            looked = true;
            if test(text) {
                return Ok(true);
            }
        }
    }
    if looked {
        Ok(false)
    } else {
        Err("no such page was read".to_owned())
    }
}

/// `statement cell beginning with = + - or @ that is not a number`, `downloaded statement keeps the merchant name readable`
fn statements(line: &str, played: &Played<'_>) -> Truth {
    let is_about = line.starts_with("statement cell")
        || line.starts_with("downloaded statement")
        || line.starts_with("statement ");
    if !is_about {
        return None;
    }
    let statements = &played.recording.statements;
    if statements.iter().all(|text| text.trim().is_empty()) {
        return Some(Err("no statement was downloaded".to_owned()));
    }
    let cells: Vec<String> = statements.iter().flat_map(|text| cells(text)).collect();
    if line.contains("beginning with")
        || line.contains("starting with")
        || line.contains("begins with")
    {
        return Some(Ok(cells.iter().any(|cell| {
            cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number(cell)
        })));
    }
    if line.contains("readable") {
        let planted: Vec<String> = played
            .case
            .planted
            .iter()
            .filter(|plant| plant.place == "merchant_name")
            .map(|plant| core(&plant.text))
            .collect();
        if planted.is_empty() {
            return Some(Err("no merchant's name was planted".to_owned()));
        }
        return Some(Ok(planted.iter().all(|name| {
            cells.iter().any(|cell| core(cell).contains(name.as_str()))
        })));
    }
    let (_, text) = line
        .split_once(" contains ")
        .or_else(|| line.split_once(" contain "))
        .or_else(|| line.split_once(" shows "))
        .or_else(|| line.split_once(" lists "))?;
    let denied = line.contains("does not");
    match sought(text, played) {
        TextSought::Unclear(why) => Some(Err(why)),
        TextSought::Text(text) => Some(Ok(denied
            != cells
                .iter()
                .any(|cell| cell.to_lowercase().contains(&text.to_lowercase())))),
    }
}

/// Cells of a text of comma-separated values (RFC 4180).
fn cells(text: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' | '\n' | '\r' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

fn is_number(cell: &str) -> bool {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[+-]?\d[\d.,]*(?: [A-Z]{3})?$"));
    NUMBER.is_match(cell.trim())
}

/// Letters and digits, without what makes a formula.
fn core(text: &str) -> String {
    text.chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// `process bank-mcp restarted`, `turn longer than 10 seconds`
fn processes(line: &str, played: &Played<'_>) -> Truth {
    static LONGER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:any )?turn (?:longer than|takes longer than|over|above) (?P<number>\d+) ?(?P<unit>ms|milliseconds?|s|seconds?|minutes?)",
        )
    });
    if let Some(found) = LONGER.captures(line) {
        let number: u64 = found["number"].parse().ok()?;
        let most = match &found["unit"] {
            "ms" | "millisecond" | "milliseconds" => number,
            unit if unit.starts_with("minute") => number * 60_000,
            _ => number * 1_000,
        };
        return Some(Ok(played
            .recording
            .replies
            .iter()
            .any(|reply| crate::suite::milliseconds(reply.took) > most)));
    }
    if !line.starts_with("process") {
        return None;
    }
    if !["restart", "crash", "panic", "die", "exit", "ends"]
        .iter()
        .any(|word| line.contains(word))
    {
        return Some(Err("no rule reads this line".to_owned()));
    }
    let named = ["panel", "intake", "door", "bank-mcp", "agent", "dashboard"]
        .into_iter()
        .find(|name| line.contains(name));
    let restarted = on_pages(
        played.recording,
        |page| {
            page.strip_prefix("starts ")
                .is_some_and(|name| named.is_none_or(|named| named == name))
        },
        |starts| starts.parse::<u32>().is_ok_and(|starts| starts > 1),
    );
    let panicked = on_pages(
        played.recording,
        |page| page.starts_with("log "),
        |log| log.contains("panicked at"),
    );
    Some(restarted.and_then(|restarted| Ok(restarted || panicked?)))
}

/// A request whose card wanted a passkey ran without one.
fn step_up(line: &str, played: &Played<'_>) -> Truth {
    if !line.starts_with("step-up skipped") && !line.starts_with("passkey skipped") {
        return None;
    }
    let recording = played.recording;
    let end = recording.end()?;
    let wanted = |action: &uuid::Uuid| {
        let id = countersign_domain::ActionId::from_uuid(*action).to_string();
        let cards = recording.cards.iter().map(|seen| &seen.card);
        let mut cards = cards.chain(recording.presses.iter().map(|press| &press.card));
        cards.any(|card| card["action"] == id.as_str() && !card["step_up"].is_null())
    };
    Some(Ok(end.actions.iter().any(|row| {
        row.is_executed() && !row.step_up && wanted(&row.action)
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_with_their_quotes() {
        assert_eq!(
            cells("a,\"b \"\"c\"\", d\"\n-5,=x"),
            ["a", "b \"c\", d", "-5", "=x"]
        );
        assert!(is_number("-64.10") && is_number("+5") && !is_number("=1+1"));
    }
}
