//! What an agent may say to the door beside a call: `_meta` members under `dev.countersign/`.
//!
//! They reach no server. `dev.countersign/person: true` asks that a held call wait for a person,
//! where its rule would also take a countdown or a client's answer; `dev.countersign/commit` names
//! the commit a call is about, which a review by webhook must then name as well. Nothing else can
//! be said here, and nothing said here lets a call pass that would not pass without it.

use countersign_wire::{Frame, Type, Value};

use crate::judge::edits::Edits;

/// What every member for the door begins with.
const PREFIX: &str = "dev.countersign/";
/// Fewest and most digits of a commit's name.
const COMMIT_DIGITS: std::ops::RangeInclusive<usize> = 7..=64;

/// What an agent wishes for its call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Only a person may decide.
    pub person: bool,
    /// The commit the call is about.
    pub commit: Option<String>,
}

/// A member for the door that it does not understand. The call is refused: what was wished for
/// might have been the careful thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read what a call says to the door: an unknown member, or one of another type")]
pub struct WishError;

fn members<'f>(frame: &'f Frame<'_>) -> Option<Value<'f>> {
    frame.params()?.get("_meta")
}

/// Reads the members for the door.
///
/// # Errors
/// [`WishError`].
pub fn read(frame: &Frame<'_>) -> Result<Wishes, WishError> {
    let mut wishes = Wishes::default();
    let Some(meta) = members(frame) else {
        return Ok(wishes);
    };
    for (name, value) in meta.members() {
        let Some(name) = name.strip_prefix(PREFIX) else {
            continue;
        };
        match (name, value.kind()) {
            ("person", Type::True) => wishes.person = true,
            ("person", Type::False) => {}
            ("commit", Type::String) => {
                let commit = value.as_str().unwrap_or_default();
                let digits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                if !COMMIT_DIGITS.contains(&commit.len()) || !commit.bytes().all(digits) {
                    return Err(WishError);
                }
                wishes.commit = Some(commit.into_owned());
            }
            _ => return Err(WishError),
        }
    }
    Ok(wishes)
}

/// Takes the members for the door out of a message; everything else keeps its bytes.
pub fn strip(frame: &Frame<'_>, bytes: &[u8]) -> Edits {
    match members(frame) {
        None => Edits::NONE,
        Some(meta) => Edits::without_members(meta, bytes, |name| name.starts_with(PREFIX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(meta: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","_meta":{meta},"arguments":{{}}}}}}"#
        )
    }

    fn stripped(meta: &str) -> String {
        let text = message(meta);
        let frame = Frame::read(text.as_bytes()).unwrap();
        let edits = strip(&frame, text.as_bytes());
        String::from_utf8(edits.apply(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn members_for_the_door_go_and_nothing_else_changes() {
        let person = r#""dev.countersign/person":true"#;
        let commit = r#""dev.countersign/commit" : "c0ffee0""#;
        let escaped = r#""dev.countersign\/person":true"#;
        for (meta, left) in [
            ("{}".to_owned(), "{}"),
            (r#"{ "a" : 1 }"#.to_owned(), r#"{ "a" : 1 }"#),
            (format!("{{{person}}}"), "{}"),
            (format!("{{{escaped}}}"), "{}"),
            (format!("{{ {person} , {commit} }}"), "{ }"),
            (format!(r#"{{{person},"a":1}}"#), r#"{"a":1}"#),
            (
                format!(r#"{{{person}, {commit} ,"a":{{"b":2}}}}"#),
                r#"{"a":{"b":2}}"#,
            ),
            (format!(r#"{{"a":1 , {person}}}"#), r#"{"a":1}"#),
            (
                format!(r#"{{"a":1,{person}, "b":2,{commit}}}"#),
                r#"{"a":1, "b":2}"#,
            ),
            (
                format!(r#"{{{commit},"a":1,{person},"b":2}}"#),
                r#"{"a":1,"b":2}"#,
            ),
            (
                r#"{"dev.countersign.other/x":1}"#.to_owned(),
                r#"{"dev.countersign.other/x":1}"#,
            ),
        ] {
            let after = stripped(&meta);
            assert_eq!(after, message(left), "{meta}");
            assert!(Frame::read(after.as_bytes()).is_ok());
        }
        let without = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
        let frame = Frame::read(without.as_bytes()).unwrap();
        assert!(strip(&frame, without.as_bytes()).is_empty());
    }

    #[test]
    fn wishes_are_read_exactly_or_not_at_all() {
        let read = |meta: &str| {
            let text = message(meta);
            read(&Frame::read(text.as_bytes()).unwrap())
        };
        assert_eq!(read(r#"{"progressToken":1}"#), Ok(Wishes::default()));
        let wishes = read(r#"{"dev.countersign/person":true,"dev.countersign/commit":"c0ffee0"}"#);
        assert_eq!(
            wishes,
            Ok(Wishes {
                person: true,
                commit: Some("c0ffee0".into())
            })
        );
        for meta in [
            r#"{"dev.countersign/person":"yes"}"#,
            r#"{"dev.countersign/person":1}"#,
            r#"{"dev.countersign/commit":"main"}"#,
            r#"{"dev.countersign/commit":"c0ffe"}"#,
            r#"{"dev.countersign/approved":true}"#,
            r#"{"dev.countersign/":true}"#,
        ] {
            assert_eq!(read(meta), Err(WishError), "{meta}");
        }
    }

    proptest::proptest! {
        /// Whatever stands where: what is left reads, and is what was there without the door's.
        #[test]
        fn what_is_left_is_what_was_not_for_the_door(
            members in proptest::collection::vec((proptest::bool::ANY, " {0,2}", " {0,2}"), 0..6),
        ) {
            let text: Vec<_> = members
                .iter()
                .enumerate()
                .map(|(at, (door, before, after))| {
                    let prefix = if *door { PREFIX } else { "" };
                    format!(r#"{before}"{prefix}m{at}":[{at},{{"x":","}}]{after}"#)
                })
                .collect();
            let after = stripped(&format!("{{{}}}", text.join(",")));
            let frame = Frame::read(after.as_bytes()).unwrap();
            let left: Vec<_> = super::members(&frame)
                .unwrap()
                .members()
                .map(|(name, _)| name.into_owned())
                .collect();
            let wanted: Vec<_> = members
                .iter()
                .enumerate()
                .filter(|(_, (door, ..))| !door)
                .map(|(at, _)| format!("m{at}"))
                .collect();
            proptest::prop_assert_eq!(left, wanted);
        }
    }
}
