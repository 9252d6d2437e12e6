//! A conversation as turns that alternate, which several wire formats ask for.

use crate::{Message, Prompt, ToolCall, ToolResult};

/// A part of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'p> {
    Text(&'p str),
    Call(&'p ToolCall),
    Result(&'p ToolResult),
    Notice(&'p str),
}

/// One side's turn.
#[derive(Debug)]
pub(super) struct Turn<'p> {
    pub(super) from_model: bool,
    pub(super) parts: Vec<Part<'p>>,
}

/// The turns, beginning with one that is not the model's. Empty texts are left out: providers refuse them.
pub(super) fn turns(prompt: &Prompt) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in &prompt.messages {
        let (from_model, parts): (bool, Vec<Part<'_>>) = match message {
            Message::Customer(text) => (false, vec![Part::Text(text)]),
            Message::Notice(text) => (false, vec![Part::Notice(text)]),
            Message::Result(result) => (false, vec![Part::Result(result)]),
            Message::Assistant { text, calls } => {
                let said = std::iter::once(Part::Text(text));
                (true, said.chain(calls.iter().map(Part::Call)).collect())
            }
        };
        let parts: Vec<_> = parts
            .into_iter()
            .filter(|part| !matches!(part, Part::Text(text) if text.trim().is_empty()))
            .collect();
        if parts.is_empty() || (from_model && turns.is_empty()) {
            continue;
        }
        match turns.last_mut() {
            Some(last) if last.from_model == from_model => last.parts.extend(parts),
            _ => turns.push(Turn { from_model, parts }),
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    #[test]
    fn turns_alternate_and_begin_with_the_customer() {
        let said = |text: &str| Message::Assistant {
            text: text.into(),
            calls: Vec::new(),
        };
        let asked = |text: &str| Message::Customer(text.into());
        let prompt = Prompt {
            system: String::new(),
            messages: vec![
                said("hello"),
                asked("a"),
                asked("b"),
                said(" "),
                said("c"),
                said("d"),
                Message::Notice("n".into()),
            ],
            tools: Vec::new(),
            today: date!(2026 - 11 - 30),
        };
        let shape: Vec<_> = turns(&prompt)
            .iter()
            .map(|turn| (turn.from_model, turn.parts.len()))
            .collect();
        assert_eq!(shape, [(false, 2), (true, 2), (false, 1)]);
    }
}
