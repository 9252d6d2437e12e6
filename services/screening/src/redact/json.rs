//! What a replacement needs to keep JSON what it is.

use std::collections::HashSet;

use countersign_wire::Document;

use super::Replace;
use super::view::{Kind, View};

/// Makes replacements fit where they stand: numbers become strings, member names stay unique.
pub(super) fn fit(
    document: &Document<'_>,
    view: &View,
    mut replaces: Vec<Replace>,
) -> Vec<Replace> {
    let mut names: Option<HashSet<String>> = None;
    let mut pieces = view.pieces.iter().peekable();
    for replace in &mut replaces {
        while pieces
            .peek()
            .is_some_and(|piece| piece.source.end <= replace.span.start)
        {
            pieces.next();
        }
        let Some(piece) = pieces.peek() else { break };
        match piece.kind {
            Kind::Text => {}
            Kind::Number => {
                replace.span = piece.source.clone();
                replace.with = format!("\"{}\"", replace.with);
            }
            Kind::Name => {
                let taken = names.get_or_insert_with(|| names_of(document));
                // The whole name goes: half a name may equal its neighbour's half.
                replace.span = piece.source.start + 1..piece.source.end - 1;
                replace.with = unique(&replace.with, taken);
            }
        }
    }
    // Two finds in one name are one replacement now.
    let mut fitted: Vec<Replace> = Vec::with_capacity(replaces.len());
    for replace in replaces {
        match fitted.last_mut() {
            Some(last) if last.span == replace.span => last.rules.extend(replace.rules),
            _ => fitted.push(replace),
        }
    }
    fitted
}

fn names_of(document: &Document<'_>) -> HashSet<String> {
    document
        .nodes()
        .filter(|value| value.is_member_name())
        .filter_map(|value| value.as_str().map(|name| name.into_owned()))
        .collect()
}

/// A placeholder that no member of the document has, numbered where it must be.
fn unique(placeholder: &str, taken: &mut HashSet<String>) -> String {
    let numbered = |number: usize| match placeholder.strip_suffix(']') {
        Some(open) if number > 1 => format!("{open} {number}]"),
        None if number > 1 => format!("{placeholder}{number}"),
        _ => placeholder.to_owned(),
    };
    let free = (1..).map(numbered).find(|name| !taken.contains(name));
    let name = free.unwrap_or_else(|| placeholder.to_owned());
    taken.insert(name.clone());
    name
}
