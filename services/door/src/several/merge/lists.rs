//! Several pages of one kind of list, as one.

use countersign_wire::{Frame, Value};

use super::{Part, UNAVAILABLE};
use crate::judge::edits::Edits;
use crate::judge::methods::List;
use crate::judge::reply;

/// A merged list, and where each server's part goes on.
#[derive(Debug, PartialEq, Eq)]
pub struct Listed {
    /// The answer; none where no server gave a list.
    pub answer: Option<Vec<u8>>,
    /// The cursors of the servers that have more.
    pub cursors: Vec<(usize, String)>,
}

/// Merges pages. `unavailable` are the names of servers whose entries are not in it; `seal` makes the
/// cursor, `last` is what stands behind the last page's entries.
pub fn list(
    list: List,
    parts: &[Part],
    unavailable: &[&str],
    seal: impl FnOnce(&[(usize, String)]) -> String,
    last: Option<&str>,
) -> Listed {
    let frames: Vec<_> = parts
        .iter()
        .filter_map(|part| {
            let bytes = part.answer.as_deref()?;
            Some((part.server, bytes, reply::read(bytes).ok()?))
        })
        .collect();
    let pages: Vec<_> = frames
        .iter()
        .filter_map(|(server, bytes, frame)| {
            let result = frame.root().get("result")?;
            Some((*server, *bytes, result, result.get(list.member)?))
        })
        .collect();
    let cursors: Vec<_> = pages
        .iter()
        .filter_map(|(server, _, result, _)| Some((*server, cursor_of(*result)?)))
        .collect();
    let Some((_, bytes, result, array)) = pages.first().copied() else {
        let answer = None;
        return Listed { answer, cursors };
    };
    let mut edits = Edits::NONE;
    let mut more = String::new();
    let others = pages[1..].iter().map(|(_, _, _, array)| entries(*array));
    let last = last.filter(|_| cursors.is_empty()).unwrap_or_default();
    for text in others.chain([last]).filter(|text| !text.is_empty()) {
        if !entries(array).is_empty() || !more.is_empty() {
            more.push(',');
        }
        more.push_str(text);
    }
    let end = array.span().end - 1;
    if !more.is_empty() {
        edits.replace(end..end, more);
    }
    let mut added = Vec::new();
    match (result.get("nextCursor"), cursors.is_empty()) {
        (None, true) => {}
        (Some(_), true) => {
            edits.extend(Edits::without_members(result, bytes, |name| {
                name == "nextCursor"
            }));
        }
        (found, false) => {
            let cursor = format!("\"{}\"", seal(&cursors));
            match found {
                Some(found) => edits.replace(found.span(), cursor),
                None => added.push(format!("\"nextCursor\":{cursor}")),
            }
        }
    }
    let results = || pages.iter().map(|(_, _, result, _)| *result);
    if let Some(found) = result.get("ttlMs") {
        edits.replace(found.span(), freshness(results()).to_string());
    }
    if let Some(found) = result.get("cacheScope").filter(|_| is_private(results())) {
        edits.replace(found.span(), "\"private\"");
    }
    if !unavailable.is_empty() {
        let label = format!(
            "\"{UNAVAILABLE}\":{}",
            serde_json::Value::from(unavailable.to_vec())
        );
        match result.get("_meta").filter(|meta| meta.is_object()) {
            None => added.push(format!("\"_meta\":{{{label}}}")),
            Some(meta) => {
                let comma = if meta.is_empty() { "" } else { "," };
                let end = meta.span().end - 1;
                edits.replace(end..end, format!("{comma}{label}"));
            }
        }
    }
    if !added.is_empty() {
        // Never the first member: the list itself stands there.
        let end = result.span().end - 1;
        edits.replace(end..end, format!(",{}", added.join(",")));
    }
    Listed {
        answer: Some(edits.apply(bytes).into_owned()),
        cursors,
    }
}

/// The entries of a list as they stand between its brackets.
fn entries<'v>(array: Value<'v>) -> &'v str {
    let raw = array.raw();
    raw[1..raw.len() - 1].trim_ascii()
}

fn cursor_of(result: Value<'_>) -> Option<String> {
    Some(result.get("nextCursor")?.as_str()?.into_owned())
}

/// For how long all of it is fresh, in milliseconds: as long as the part that is soonest stale.
pub fn freshness<'v>(results: impl Iterator<Item = Value<'v>>) -> i64 {
    let each = results.map(|result| {
        let fresh = result.get("ttlMs").and_then(|ttl| ttl.as_exact_integer());
        fresh.unwrap_or(0).max(0)
    });
    each.min().unwrap_or(0)
}

/// Whether any of it is for one caller alone. What does not say so of itself might be.
pub fn is_private<'v>(mut results: impl Iterator<Item = Value<'v>>) -> bool {
    results.any(|result| {
        let scope = result.get("cacheScope").and_then(|scope| scope.as_str());
        scope.as_deref() != Some("public")
    })
}

/// The error that stands for all: the first that says more than that a server is not there.
pub fn error(parts: &[Part]) -> Option<Vec<u8>> {
    let errors = || parts.iter().filter_map(|part| part.answer.as_ref());
    let is_from_a_server = |bytes: &&Vec<u8>| {
        let reason = Frame::read(bytes).ok().and_then(|frame| {
            let data = frame.root().get("error")?.get("data")?;
            Some(data.get("reason")?.as_str()? == "unreachable")
        });
        reason != Some(true)
    };
    errors()
        .find(is_from_a_server)
        .or_else(|| errors().next())
        .cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::methods::TOOLS;

    fn merged(answers: &[&str], unavailable: &[&str], last: Option<&str>) -> String {
        let parts: Vec<_> = answers
            .iter()
            .enumerate()
            .map(|(server, result)| Part {
                server,
                answer: Some(format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#).into()),
            })
            .collect();
        let seal = |cursors: &[(usize, String)]| format!("{cursors:?}").replace('"', "'");
        let listed = list(TOOLS, &parts, unavailable, seal, last);
        let text = String::from_utf8(listed.answer.unwrap()).unwrap();
        let frame = Frame::read(text.as_bytes()).unwrap();
        frame.root().get("result").unwrap().raw().to_owned()
    }

    #[test]
    fn entries_keep_their_bytes_behind_one_another() {
        let one = r#"{"tools":[ {"name":"a"} ],"ttlMs":9,"cacheScope":"public"}"#;
        let two = r#"{"tools":[{"name" : "b"},{"name":"c"}],"ttlMs":5,"cacheScope":"private"}"#;
        assert_eq!(
            merged(&[one, two], &[], None),
            r#"{"tools":[ {"name":"a"} ,{"name" : "b"},{"name":"c"}],"ttlMs":5,"cacheScope":"private"}"#
        );
        assert_eq!(
            merged(
                &[r#"{"tools":[]}"#, r#"{"tools":[ ]}"#, two],
                &[],
                Some("{}")
            ),
            r#"{"tools":[{"name" : "b"},{"name":"c"},{}]}"#
        );
        assert_eq!(
            merged(&[r#"{"tools":[]}"#], &[], Some("{}")),
            r#"{"tools":[{}]}"#
        );
    }

    #[test]
    fn a_cursor_is_there_as_long_as_any_server_has_more() {
        let plain = r#"{"tools":[{}]}"#;
        let more = r#"{"nextCursor":"x","tools":[{}]}"#;
        let after = r#"{"tools":[{}],"nextCursor":"x"}"#;
        assert_eq!(
            merged(&[plain, more], &[], Some("{}")),
            r#"{"tools":[{},{}],"nextCursor":"[(1, 'x')]"}"#
        );
        assert_eq!(
            merged(&[more, plain], &[], None),
            r#"{"nextCursor":"[(0, 'x')]","tools":[{},{}]}"#
        );
        assert_eq!(
            merged(&[after, more], &["s"], None),
            r#"{"tools":[{},{}],"nextCursor":"[(0, 'x'), (1, 'x')]","_meta":{"dev.countersign/unavailable":["s"]}}"#
        );
    }

    #[test]
    fn who_is_missing_is_named_beside_what_is_said_anyway() {
        assert_eq!(
            merged(&[r#"{"_meta":{"a":1},"tools":[]}"#], &["b", "c"], None),
            r#"{"_meta":{"a":1,"dev.countersign/unavailable":["b","c"]},"tools":[]}"#
        );
    }

    #[test]
    fn what_says_nothing_of_its_scope_is_private() {
        let public = r#"{"tools":[],"ttlMs":5,"cacheScope":"public"}"#;
        let silent = r#"{"tools":[]}"#;
        assert_eq!(
            merged(&[public, silent], &[], None),
            r#"{"tools":[],"ttlMs":0,"cacheScope":"private"}"#
        );
    }
}
