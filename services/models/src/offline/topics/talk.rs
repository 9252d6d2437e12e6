//! What waits, and what the assistant cannot do: confirm, cancel, or know that money moved.

use serde_json::Value;

use crate::offline::{
    reading::text,
    text::shown,
    turn::{Part, Stop, Turn},
    words::SUMMARY_CHARACTERS_MAX,
};

/// Lists what waits on the panel.
pub(super) fn waiting(turn: &Turn<'_>) -> Part {
    let lines = open(turn)?;
    if lines.is_empty() {
        return Ok("Nothing is waiting for you.".to_owned());
    }
    Ok(format!(
        "Waiting for you on the right:\n{}\nOnly you can confirm or cancel there.",
        lines.join("\n")
    ))
}

/// Whether something went through: only the panel says so.
pub(super) fn outcome(turn: &Turn<'_>) -> Part {
    let lines = open(turn)?;
    if lines.is_empty() {
        return Ok("Nothing is waiting any more. What you confirmed stands under Receipts on the page; what you did not confirm did not happen.".to_owned());
    }
    Ok(format!(
        "Not yet. This is still waiting for you on the right:\n{}",
        lines.join("\n")
    ))
}

/// Asked to confirm.
pub(super) fn confirm(turn: &Turn<'_>) -> Part {
    let lines = open(turn)?;
    if lines.is_empty() {
        return Ok(
            "I can't confirm anything, and nothing is waiting. Tell me what you would like to do."
                .to_owned(),
        );
    }
    Ok(
        "I can't confirm: only you can. Check it on the right and press the button there."
            .to_owned(),
    )
}

/// Asked to take something back.
pub(super) fn take_back(turn: &Turn<'_>) -> Part {
    let lines = open(turn)?;
    if lines.is_empty() {
        return Ok("All right. Nothing is waiting, so there is nothing to cancel.".to_owned());
    }
    Ok(
        "All right. What is on the right now asks you again: press Cancel there to drop it."
            .to_owned(),
    )
}

fn open(turn: &Turn<'_>) -> Result<Vec<String>, Stop> {
    Ok(turn
        .list("list_open_requests")?
        .iter()
        .filter_map(line)
        .collect())
}

fn line(request: &Value) -> Option<String> {
    text(request, &["summary", "title", "kind"]).map(|summary| {
        format!(
            "• {}",
            shown(summary, SUMMARY_CHARACTERS_MAX).replace('\n', " ")
        )
    })
}
