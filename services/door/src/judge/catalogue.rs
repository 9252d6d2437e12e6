//! What the server behind the door offers now: the hash of every definition, as last listed.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use countersign_policy::{Live, Pin, check_name};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::header_names::Repeated;
use super::lists::Entry;

/// How long a whole list is taken for current, in milliseconds. Every list that passes in between
/// is looked at as well.
const CURRENT_MILLISECONDS: u64 = 300_000;
/// Most tools of one server.
const TOOLS_MAX: usize = 4_096;
/// Most withheld tools that one line of the record names.
const WITHHELD_MAX: usize = 32;
/// Most callers whose view of the catalogue is remembered.
const MARKS_MAX: usize = 256;

/// The definitions of one server.
#[derive(Default)]
pub struct Catalogue {
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    tools: HashMap<Box<str>, Live>,
    /// Tools whose definitions screening blocks, and the rule.
    blocked: HashMap<Box<str>, &'static str>,
    /// The arguments that headers of a call repeat, of tools that have such.
    repeated: HashMap<Box<str>, Arc<[Repeated]>>,
    read_at_milliseconds: Option<u64>,
    /// What the record says about it, by policy and caller; emptied with every change.
    marks: HashMap<u64, Arc<CatalogueMark>>,
}

/// The catalogue as the record names it: which one it was, and what of it was not shown.
#[derive(Debug, Serialize)]
pub struct CatalogueMark {
    /// How many more are withheld than are named.
    #[serde(skip_serializing_if = "is_none")]
    more: usize,
    /// SHA-256 over every tool's name and pin, sorted by name, each on a line of its own.
    sha256: String,
    /// The tools that the caller was not shown, by name.
    withheld: Vec<String>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Catalogue {
    /// What the server says about a tool; none when its list has to be read first.
    pub fn live(&self, name: &str, now_milliseconds: u64) -> Option<Live> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let read_at = state.read_at_milliseconds?;
        if now_milliseconds.saturating_sub(read_at) > CURRENT_MILLISECONDS {
            return None;
        }
        Some(state.tools.get(name).copied().unwrap_or(Live::NotOffered))
    }

    /// What the server last said about a tool, however long ago; none once it said that its list
    /// changed, until it is read again.
    pub fn last_seen(&self, name: &str) -> Option<Live> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.read_at_milliseconds?;
        Some(state.tools.get(name).copied().unwrap_or(Live::NotOffered))
    }

    /// What the record says about it in a decision under these rules for this caller; nothing when
    /// no list was seen. `shown` says whether the caller sees a tool.
    pub fn mark(&self, key: u64, shown: impl Fn(&str, Live) -> bool) -> Option<Arc<CatalogueMark>> {
        {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            if state.tools.is_empty() {
                return None;
            }
            if let Some(mark) = state.marks.get(&key) {
                return Some(Arc::clone(mark));
            }
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mark = Arc::new(CatalogueMark::of(&state.tools, shown));
        if state.marks.len() >= MARKS_MAX {
            state.marks.clear();
        }
        state.marks.insert(key, Arc::clone(&mark));
        Some(mark)
    }

    /// The rule of injection screening for which a tool is not to be used.
    pub fn blocked(&self, name: &str) -> Option<&'static str> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.blocked.get(name).copied()
    }

    /// The arguments of a tool that headers of a call repeat, as far as its definition is known.
    pub fn repeated(&self, name: &str) -> Option<Arc<[Repeated]>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.repeated.get(name).cloned()
    }

    /// The server says that its list changed: it is read again before the next call.
    pub fn forget(&self) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.read_at_milliseconds = None;
    }

    /// What a page says about a tool, whatever was known before.
    pub fn on_page(entries: &[Entry], name: &str) -> Live {
        let mut named = entries
            .iter()
            .filter(|entry| entry.name.as_deref() == Some(name));
        match (named.next(), named.next()) {
            (Some(Entry { pin: Some(pin), .. }), None) => Live::Offered(*pin),
            // Twice the same name, or a definition that readers disagree about.
            _ => Live::NotOffered,
        }
    }

    /// Takes in a page that passed on its way to a client. Returns what changed, by name.
    pub fn merge(&self, entries: &[Entry]) -> Vec<(String, Option<Pin>)> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        state.note_blocked(entries);
        state.note_repeated(entries);
        for name in entries.iter().filter_map(|entry| entry.name.as_deref()) {
            let live = Self::on_page(entries, name);
            let full = state.tools.len() >= TOOLS_MAX && !state.tools.contains_key(name);
            if full || state.tools.get(name) == Some(&live) {
                continue;
            }
            state.tools.insert(name.into(), live);
            state.marks.clear();
            changed.push((name.to_owned(), pin_of(live)));
        }
        changed
    }

    /// Puts the whole list, all its pages, in the place of what was known.
    pub fn replace(&self, entries: &[Entry], now_milliseconds: u64) -> Vec<(String, Option<Pin>)> {
        let names = entries.iter().filter_map(|entry| entry.name.as_deref());
        let tools: HashMap<Box<str>, Live> = names
            .take(TOOLS_MAX)
            .map(|name| (name.into(), Self::on_page(entries, name)))
            .collect();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let changed = tools
            .iter()
            .filter(|(name, live)| state.tools.get(*name) != Some(live))
            .map(|(name, live)| (name.to_string(), pin_of(*live)))
            .collect();
        state.tools = tools;
        state.blocked.clear();
        state.note_blocked(entries);
        state.repeated.clear();
        state.note_repeated(entries);
        state.marks.clear();
        state.read_at_milliseconds = Some(now_milliseconds);
        changed
    }
}

impl CatalogueMark {
    fn of(tools: &HashMap<Box<str>, Live>, shown: impl Fn(&str, Live) -> bool) -> Self {
        let mut sorted: Vec<_> = tools.iter().collect();
        sorted.sort_unstable_by_key(|(name, _)| *name);
        let mut hasher = Sha256::new();
        let mut withheld = Vec::new();
        let mut more = 0;
        for (name, live) in sorted {
            let pin = pin_of(*live).map_or_else(|| "-".to_owned(), |pin| pin.to_string());
            hasher.update(format!("{name}\n{pin}\n"));
            if shown(name, *live) {
                continue;
            }
            // A name that is not plain is counted and not repeated.
            if withheld.len() < WITHHELD_MAX && check_name(name, true) {
                withheld.push(name.to_string());
            } else {
                more += 1;
            }
        }
        Self {
            more,
            sha256: hex::encode(hasher.finalize()),
            withheld,
        }
    }
}

impl State {
    /// Takes in which arguments of a page's tools headers repeat.
    fn note_repeated(&mut self, entries: &[Entry]) {
        for entry in entries {
            let Some(name) = entry.name.as_deref() else {
                continue;
            };
            if entry.repeated.is_empty() {
                self.repeated.remove(name);
            } else if self.repeated.len() < TOOLS_MAX {
                self.repeated
                    .insert(name.into(), entry.repeated.as_slice().into());
            }
        }
    }

    /// Takes in what screening said about the tools of a page.
    fn note_blocked(&mut self, entries: &[Entry]) {
        for entry in entries {
            let Some(name) = entry.name.as_deref() else {
                continue;
            };
            match entry.blocked {
                Some(rule) if self.blocked.len() < TOOLS_MAX => {
                    self.blocked.insert(name.into(), rule);
                }
                Some(_) => {}
                None => {
                    self.blocked.remove(name);
                }
            }
        }
    }
}

const fn pin_of(live: Live) -> Option<Pin> {
    match live {
        Live::Offered(pin) => Some(pin),
        Live::NotOffered => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::lists::{Answered, read};
    use crate::judge::methods::TOOLS;
    use countersign_wire::Frame;

    fn entries(tools: &str) -> Vec<Entry> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tools}]}}}}"#);
        let frame = Frame::read(body.as_bytes()).unwrap();
        match read(&frame, TOOLS, &crate::screen::Screens::default()).unwrap() {
            Answered::Page(page) => page.entries,
            Answered::Error => panic!("an error"),
        }
    }

    #[test]
    fn nothing_is_known_before_the_list_and_after_it_is_old() {
        let catalogue = Catalogue::default();
        assert_eq!(catalogue.live("a", 0), None);
        catalogue.replace(&entries(r#"{"name":"a"}"#), 0);
        assert!(matches!(catalogue.live("a", 10), Some(Live::Offered(_))));
        assert_eq!(catalogue.live("b", 10), Some(Live::NotOffered));
        assert_eq!(catalogue.live("a", CURRENT_MILLISECONDS + 1), None);
    }

    #[test]
    fn a_changed_definition_is_noticed_on_every_page() {
        let catalogue = Catalogue::default();
        catalogue.replace(&entries(r#"{"name":"a"}"#), 0);
        let before = catalogue.live("a", 0);
        assert!(catalogue.merge(&entries(r#"{"name":"a"}"#)).is_empty());
        let changed = catalogue.merge(&entries(r#"{"name":"a","description":"new"}"#));
        assert_eq!(changed.len(), 1);
        assert_ne!(catalogue.live("a", 0), before);
    }

    #[test]
    fn a_mark_names_what_is_withheld_and_changes_with_the_list() {
        let catalogue = Catalogue::default();
        let mark = |key, shown: fn(&str) -> bool| {
            let mark = catalogue.mark(key, |name, _| shown(name))?;
            Some(serde_json::to_value(&*mark).unwrap())
        };
        assert_eq!(mark(1, |_| true), None);
        catalogue.replace(&entries(r#"{"name":"b"},{"name":"a"},{"name":"c d"}"#), 0);
        let some = mark(1, |name| name == "a").unwrap();
        assert_eq!(some["withheld"], serde_json::json!(["b"]));
        assert_eq!(some["more"], 1, "a name that is not plain is only counted");
        let all = mark(2, |_| true).unwrap();
        assert_eq!(all["withheld"], serde_json::json!([]));
        assert_eq!(all["sha256"], some["sha256"]);
        catalogue.merge(&entries(r#"{"name":"a","description":"new"}"#));
        let changed = mark(1, |name| name == "a").unwrap();
        assert_ne!(changed["sha256"], some["sha256"]);
        let many: Vec<_> = (0..40).map(|n| format!(r#"{{"name":"t{n}"}}"#)).collect();
        catalogue.replace(&entries(&many.join(",")), 0);
        let none = mark(1, |_| false).unwrap();
        assert_eq!(none["withheld"].as_array().unwrap().len(), WITHHELD_MAX);
        assert_eq!(none["more"], 8);
    }

    #[test]
    fn a_name_given_twice_is_not_offered() {
        let catalogue = Catalogue::default();
        catalogue.replace(
            &entries(r#"{"name":"a"},{"name":"a","description":"other"}"#),
            0,
        );
        assert_eq!(catalogue.live("a", 0), Some(Live::NotOffered));
    }

    #[test]
    fn a_tool_that_left_the_list_is_not_offered() {
        let catalogue = Catalogue::default();
        catalogue.replace(&entries(r#"{"name":"a"},{"name":"b"}"#), 0);
        catalogue.replace(&entries(r#"{"name":"b"}"#), 1);
        assert_eq!(catalogue.live("a", 1), Some(Live::NotOffered));
    }
}
