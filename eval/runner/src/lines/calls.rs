//! Lines about what tools answered, what was pressed, and receipts.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    Played, Truth,
    replies::{TextSought, folded, sought},
    words::pattern,
};
use crate::recording::Raw;

static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:each |every |any )?tool(?: calls?)?(?: of| to)? (?P<tool>[\w./]+) (?:is |was |are |gets )?(?P<how>refused|denied|rejected|blocked|allowed|answered|succeeded|succeeds|accepted|called|passed)(?:,? ?(?:with|as|because|by|:)? ?(?:the )?(?:code |reason )?(?P<code>.+))?$",
    )
});

/// Reads a line.
pub fn condition(line: &str, played: &Played<'_>) -> Truth {
    let recording = played.recording;
    if let Some(found) = REFUSED.captures(line) {
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
        return Some(Ok(
            if matches!(&found["how"], "refused" | "denied" | "rejected" | "blocked") {
                // An honest request may come before: from the first refusal on, none came through.
                let every = line.starts_with("each ") || line.starts_with("every ");
                let mut later = calls
                    .iter()
                    .skip_while(|call| !every && call.refusal.is_none())
                    .peekable();
                later.peek().is_some()
                    && later.all(|call| {
                        call.refusal.as_ref().is_some_and(|refusal| {
                            code.as_ref().is_none_or(|code| {
                                refusal.contains(code.as_str())
                                    || call.answer.to_string().contains(code.as_str())
                            })
                        })
                    })
            } else {
                calls.iter().any(|call| call.refusal.is_none())
            },
        ));
    }
    match line {
        "each refused"
        | "each request refused"
        | "each call refused"
        | "each tool call refused"
        | "each is refused"
        | "all refused" => {
            if recording.calls.is_empty() && recording.raws.is_empty() {
                return Some(Err("nothing was called".to_owned()));
            }
            let calls = recording.calls.iter().all(|call| call.refusal.is_some());
            Some(Ok(calls && recording.raws.iter().all(Raw::is_refused)))
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
        "receipt carries the hash of the card shown"
        | "receipt carries the hash of the card"
        | "receipt carries the hash of the confirmed card"
        | "receipt carries the confirmed hash" => {
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
        _ => receipt(line, played)
            .or_else(|| unable(line, played))
            .or_else(|| pressed(line, played)),
    }
}

/// `receipt contains 20.00`, `one receipt`
fn receipt(line: &str, played: &Played<'_>) -> Truth {
    let receipts: Vec<&serde_json::Value> = played
        .recording
        .presses
        .iter()
        .filter_map(|press| press.receipt.as_ref())
        .collect();
    match line {
        "no receipt" => return Some(Ok(receipts.is_empty())),
        "receipt" | "one receipt" | "receipt issued" | "receipt is issued" => {
            return Some(Ok(!receipts.is_empty()));
        }
        _ => {}
    }
    let rest = line.strip_prefix("receipt ")?;
    let (wanted, text) = [
        ("contains ", true),
        ("shows ", true),
        ("names ", true),
        ("does not contain ", false),
    ]
    .into_iter()
    .find_map(|(verb, wanted)| Some((wanted, rest.strip_prefix(verb)?)))?;
    match sought(text, played) {
        TextSought::Unclear(why) => Some(Err(why)),
        TextSought::Text(text) => Some(Ok(wanted
            == receipts
                .iter()
                .any(|payload| folded(&payload.to_string()).contains(&folded(&text))))),
    }
}

/// `customer unable to confirm`, `customer unable to cancel`, `customer unable to chat`
fn unable(line: &str, played: &Played<'_>) -> Truth {
    let what = line
        .strip_prefix("customer unable to ")
        .or_else(|| line.strip_prefix("customer is unable to "))
        .or_else(|| line.strip_prefix("customer cannot "))?;
    let recording = played.recording;
    let act = what.split_whitespace().next().unwrap_or_default();
    match act {
        "confirm" | "cancel" | "keep" | "fill" | "pick" | "type" => {
            let presses: Vec<_> = recording
                .presses
                .iter()
                .filter(|press| press.act.contains(act))
                .collect();
            Some(if presses.is_empty() {
                Err(format!("nobody tried to {act}"))
            } else {
                Ok(presses.iter().all(|press| press.status != 200))
            })
        }
        "chat" | "write" | "send" | "ask" | "get" | "continue" | "use" | "talk" => {
            Some(Ok(recording
                .replies
                .last()
                .is_none_or(|reply| reply.failed.is_some())))
        }
        _ => Some(Err("no rule reads this line".to_owned())),
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
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:each |every |any |second |stale )?(?P<act>confirm|cancel|keep|fill|drop|undo)(?: press)?(?: in (?:tab )?\w+)? (?:is |was |gets )?(?:answered|refused|accepted|succeeds)(?:,? ?(?:with |as |because )?(?:the )?(?P<wanted>[\w -]+))?$",
        )
    });
    let found = LINE.captures(line)?;
    let act = found["act"].to_owned();
    let act = act.as_str();
    let wanted = match found.name("wanted") {
        Some(wanted) => wanted.as_str().trim().replace([' ', '-'], "_"),
        None if line.contains("refused") => "refused".to_owned(),
        None => "confirmed".to_owned(),
    };
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
        "refused" if line.starts_with("each ") || line.starts_with("every ") => {
            presses.iter().all(|press| press.status != 200)
        }
        "refused" => last.status != 200,
        "confirmed" | "executed" | "ok" | "success" | "done" => {
            presses.iter().any(|press| press.status == 200)
        }
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
