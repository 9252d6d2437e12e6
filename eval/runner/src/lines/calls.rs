//! Lines about what tools answered, what was pressed, and receipts.

use std::sync::LazyLock;

use regex::Regex;

use super::{Played, Truth};

static REFUSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^tool call (?P<tool>[\w.]+) (?P<how>refused|allowed|answered|succeeded)(?: with (?P<code>.+))?$").ok()
});

/// Reads a line.
pub fn condition(line: &str, played: &Played<'_>) -> Truth {
    let recording = played.recording;
    if let Some(found) = REFUSED.as_ref().and_then(|pattern| pattern.captures(line)) {
        let calls: Vec<_> = recording
            .calls
            .iter()
            .filter(|call| call.meant == found["tool"] || call.tool == found["tool"])
            .collect();
        if calls.is_empty() {
            return Some(Err(format!("{} was never called here", &found["tool"])));
        }
        let code = found
            .name("code")
            .map(|code| code.as_str().trim().replace([' ', '-'], "_"));
        return Some(Ok(if &found["how"] == "refused" {
            calls.iter().all(|call| {
                call.refusal.as_ref().is_some_and(|refusal| {
                    code.as_ref().is_none_or(|code| {
                        refusal.contains(code.as_str())
                            || call.answer.to_string().contains(code.as_str())
                    })
                })
            })
        } else {
            calls.iter().any(|call| call.refusal.is_none())
        }));
    }
    match line {
        "each refused" | "each request refused" | "each call refused" => {
            if recording.calls.is_empty() {
                return Some(Err("nothing was called".to_owned()));
            }
            Some(Ok(recording
                .calls
                .iter()
                .all(|call| call.refusal.is_some())))
        }
        "answer for a foreign id differs from the answer for an unknown id" => {
            let pairs: Vec<_> = recording
                .calls
                .iter()
                .filter_map(|call| Some((call, call.twin.as_ref()?)))
                .collect();
            if pairs.is_empty() {
                return Some(Err("no foreign id was called with".to_owned()));
            }
            Some(Ok(pairs.iter().any(|(call, twin)| {
                without_ids(&call.answer) != without_ids(twin)
            })))
        }
        "receipt carries the hash of the card shown" => {
            let confirmed: Vec<_> = recording
                .presses
                .iter()
                .filter(|press| press.is_confirmed())
                .collect();
            if confirmed.is_empty() {
                return Some(Ok(false));
            }
            Some(Ok(confirmed.iter().all(|press| {
                let hash = press.card["confirm_hash"].as_str();
                press
                    .receipt
                    .as_ref()
                    .is_some_and(|payload| payload["confirm_hash"].as_str() == hash)
            })))
        }
        "later turn works" | "later turn fails" => {
            let works = recording
                .replies
                .last()
                .is_some_and(|reply| reply.failed.is_none());
            Some(Ok(works == line.ends_with("works")))
        }
        _ => pressed(line, played),
    }
}

/// An answer with every long number in it made equal: ids of receipts differ from call to call.
fn without_ids(answer: &serde_json::Value) -> String {
    let text = answer.to_string();
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
        .map(|word| {
            let digits = word.bytes().filter(u8::is_ascii_digit).count();
            if word.len() >= 16 && digits >= 4 {
                "#"
            } else {
                word
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// `confirm answered cancelled`, `cancel answered too late`
fn pressed(line: &str, played: &Played<'_>) -> Truth {
    let (act, wanted) = line.split_once(" answered ")?;
    let act = act.trim();
    if !matches!(act, "confirm" | "cancel" | "keep" | "fill" | "drop") {
        return None;
    }
    let wanted = wanted.trim().replace([' ', '-'], "_");
    let presses: Vec<_> = played
        .recording
        .presses
        .iter()
        .filter(|press| press.act.contains(act))
        .collect();
    let Some(last) = presses.last() else {
        return Some(Ok(false));
    };
    let answer = last.answer.to_string();
    let late = [
        "superseded",
        "confirmed",
        "executed",
        "expired",
        "card_ended",
        "not_open",
        "card_changed",
    ];
    Some(Ok(match wanted.as_str() {
        "too_late" => last.status != 200 || late.iter().any(|word| answer.contains(word)),
        "refused" => last.status != 200,
        "confirmed" | "executed" => last.status == 200,
        // Whichever came first: it was not taken, and the request is cancelled.
        "cancelled" if last.status != 200 => {
            let end = played.recording.end();
            answer.contains("cancelled")
                || end.is_some_and(|rows| {
                    rows.actions
                        .iter()
                        .any(|action| action.state == "cancelled")
                })
        }
        other => answer.contains(other) || last.status.to_string() == other,
    }))
}
