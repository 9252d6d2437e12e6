//! What a server sends: answers to what was asked, notifications, and questions of its own.
//!
//! The server is judged like everybody else. Its answer must be one, under an id that was asked;
//! lists show only what would pass; a question of its own reaches the client only where the policy
//! names its method, and is answered with a refusal otherwise, never left alone.

use std::borrow::Cow;

use countersign_policy::Counted;
use countersign_wire::{Caps, Frame, FrameError, Kind, Type};

use super::asked::Asked;
use super::catalogue::Catalogue;
use super::edits::Edits;
use super::lists::{self, Answered, Entry};
use super::message::Message;
use super::refusal::{Code, Refusal};
use super::result;
use super::rounds;
use crate::approval::{DEFINITIONS, OwnTools};
use crate::caller::Caller;
use crate::clock;
use crate::door::Door;
use crate::screen::Answer;

/// Longest message of a server that is read whole, in bytes.
pub const REPLY_BYTES_MAX: usize = Caps::ANSWER.bytes as usize;

/// Reads a server's message strictly.
///
/// # Errors
/// [`FrameError`]; it goes nowhere then.
pub fn read(bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    Frame::read_within(bytes, &Caps::ANSWER)
}

/// Judges an answer to a question that was asked, and returns the bytes that reach the client.
///
/// Its ending is not written here: that belongs to whoever knows that the client has it.
///
/// # Errors
/// The refusal to answer with instead.
pub fn judge_answer<'b>(
    door: &Door,
    caller: &Caller,
    asked: &Asked,
    frame: &Frame<'_>,
    bytes: &'b [u8],
) -> Result<Cow<'b, [u8]>, Refusal> {
    let refuse = |reason: &str| {
        let server = &door.servers[asked.server].name;
        tracing::warn!(%server, %reason, "An answer is not shown");
        Refusal::new(Code::Upstream, reason).with_receipt(asked.ending.leaf())
    };
    if frame.kind() != Kind::Answer || !is_answer(frame) {
        return Err(refuse("unreadable_answer"));
    }
    if let Some(result) = frame.root().get("result") {
        let names_method = |method: &str| {
            let (policy, groups) = (&door.rules().policy, caller.group_names());
            policy.names_method_for(method, &caller.identity, &groups)
        };
        result::check(result, names_method).map_err(refuse)?;
    }
    if asked.arguments.is_some() {
        let server = &door.servers[asked.server].name;
        let needs = rounds::needs(&door.rules(), caller, frame);
        let needs = needs.map_err(|_| refuse("server_question"))?;
        if let Some(round) = needs.and_then(|needs| needs.round(caller, server, asked)) {
            let now = clock::monotonic_milliseconds();
            door.rounds.remember(round, now);
        }
    }
    let mut cut = Edits::NONE;
    if let Some(id) = frame.root().get("id").filter(|id| id.raw() != &*asked.id) {
        // The server was asked under another id, or spells it otherwise than the client did.
        cut.replace(id.span(), &*asked.id);
    }
    if asked.list.is_some() {
        cut.extend(cut_list(door, caller, asked, frame).map_err(|_| refuse("unreadable_list"))?);
    }
    let answer = Answer {
        server: &door.servers[asked.server].name,
        leaf: asked.ending.leaf(),
        is_list: asked.list.is_some_and(|list| list.read_by.is_none()),
        frame,
        cut,
        bytes,
    };
    door.rules().screens.answer(door, answer)
}

/// A result is an object; an error is one with a code and a message.
fn is_answer(frame: &Frame<'_>) -> bool {
    if let Some(result) = frame.root().get("result") {
        return result.is_object();
    }
    frame.root().get("error").is_some_and(|error| {
        let code = error.get("code").and_then(|code| code.as_exact_integer());
        let message = error.get("message").map(|message| message.kind());
        code.is_some() && message == Some(Type::String)
    })
}

/// Takes in what a page says and cuts it down to what would pass.
fn cut_list(
    door: &Door,
    caller: &Caller,
    asked: &Asked,
    frame: &Frame<'_>,
) -> Result<Edits, lists::ListError> {
    let Some(list) = asked.list else {
        return Ok(Edits::NONE);
    };
    let rules = door.rules();
    let page = match lists::read(frame, list, &rules.screens)? {
        Answered::Page(page) => page,
        Answered::Error => return Ok(Edits::NONE),
    };
    let server = &door.servers[asked.server];
    let is_one_of_several = door.has_several();
    if let Some(reader) = list.read_by {
        let groups = caller.group_names();
        let readable = rules
            .policy
            .names_method_for(reader, &caller.identity, &groups);
        let mut edits = page.cut(|_| readable);
        if is_one_of_several && readable {
            match list.named_by {
                "name" => edits.extend(page.prefix(&server.name, |_| true)),
                by => server.places.learn(by, &page.entries),
            }
        }
        return Ok(edits);
    }
    let changed = server.catalogue.merge(&page.entries);
    door.note_changes(asked.server, &changed).map_err(|error| {
        tracing::error!(%error, "Could not record a changed definition");
        lists::ListError::Malformed
    })?;
    let groups = caller.group_names();
    // The door's own tools come last, and stand for whatever else has their names.
    let is_own =
        |name: &str| !is_one_of_several && door.own_tools().is_some() && OwnTools::has(name);
    let stays = |entry: &Entry| {
        entry.name.as_deref().is_some_and(|name| {
            let live = Catalogue::on_page(&page.entries, name);
            !is_own(name)
                && rules
                    .policy
                    .would_pass_for(&server.name, name, live, &caller.identity, &groups)
        })
    };
    let mut edits = page.cut(stays);
    if is_one_of_several {
        edits.extend(page.prefix(&server.name, stays));
        return Ok(edits);
    }
    if door.own_tools().is_some() && page.next_cursor.is_none() {
        let comma = if page.entries.iter().any(stays) {
            ","
        } else {
            ""
        };
        edits.extend(page.append(format!("{comma}{DEFINITIONS}")));
    }
    Ok(edits)
}

/// Takes note of a server's notification, and returns the bytes that reach the client, if any do.
pub fn judge_notification<'b>(
    door: &Door,
    server: usize,
    frame: &Frame<'_>,
    bytes: &'b [u8],
) -> Option<Cow<'b, [u8]>> {
    if frame.method() == Some("notifications/tools/list_changed") {
        door.servers[server].catalogue.forget();
    }
    // Lines of a log can be many and are nobody's answer. Other news is counted where the policy says so.
    let is_counted = frame.method() == Some("notifications/message")
        || door.rules().policy.message_rate_is_given();
    let counted = match is_counted {
        true => count(door, server),
        false => Counted::Within,
    };
    match counted {
        Counted::Within => show_message(door, server, frame, bytes),
        Counted::FirstBeyond => {
            let server = &door.servers[server].name;
            tracing::warn!(%server, "{server} says more than its messages a minute; the rest is not passed on");
            None
        }
        Counted::Beyond => None,
    }
}

/// Counts what a server says unasked. The count is the server's own: it fills neither the record
/// nor the client's.
fn count(door: &Door, server: usize) -> Counted {
    door.rules().policy.take_message(
        &format!("server {}", door.servers[server].name),
        clock::monotonic_milliseconds(),
        &door.rates,
    )
}

/// What of a server's own message reaches the client after screening.
fn show_message<'b>(
    door: &Door,
    server: usize,
    frame: &Frame<'_>,
    bytes: &'b [u8],
) -> Option<Cow<'b, [u8]>> {
    let server = &door.servers[server].name;
    door.rules().screens.message(door, server, frame, bytes)
}

/// Judges a question of the server's own, and returns the bytes that reach the client.
///
/// # Errors
/// The refusal that the server gets.
pub fn judge_question<'b>(
    door: &Door,
    caller: &Caller,
    server: usize,
    frame: &Frame<'_>,
    bytes: &'b [u8],
) -> Result<Cow<'b, [u8]>, Refusal> {
    let message = Message::new(door, caller, server, bytes)?;
    let method = frame.method().unwrap_or_default();
    match count(door, server) {
        Counted::Within => {}
        Counted::FirstBeyond => {
            let refusal = Refusal::new(Code::Blocked, "flood");
            return Err(message.refuse(Some(frame), "message_rate_per_minute", refusal));
        }
        Counted::Beyond => return Err(Refusal::new(Code::Blocked, "flood")),
    }
    if method == "ping"
        || message
            .rules
            .policy
            .names_method_for(method, &caller.identity, &caller.group_names())
    {
        message.pass_answer(frame)?;
        let shown = show_message(door, server, frame, bytes);
        return shown.ok_or_else(|| Refusal::new(Code::ServerQuestion, "injection"));
    }
    let refusal = Refusal::new(Code::ServerQuestion, "server_question");
    Err(message.refuse(Some(frame), "default", refusal))
}

/// Whether a line is worth a word in the log: the first, the second, the fourth and so on.
pub const fn is_worth_a_word(count: u64) -> bool {
    count.is_power_of_two()
}
