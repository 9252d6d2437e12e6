//! One automaton over the marks of both kinds of screening, so that a text is walked over once for all of them.
//!
//! It ignores case; a mark of a secret checks its own afterwards.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind, StartKind};

use crate::inject::markup::MARKUP;
use crate::redact::named;
use crate::redact::scan::{Secret, secrets};

/// What a mark is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A secret, by the place of its mark among them.
    Secret(Secret),
    /// A word that names a secret.
    Name,
    /// A scheme in front of credentials.
    Scheme,
    /// What stands between an address's scheme and its user.
    Address,
    /// Markup, by its place in [`MARKUP`].
    Markup(usize),
}

/// A mark in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pattern: u16,
    end: u32,
}

struct Marks {
    automaton: AhoCorasick,
    kinds: Vec<(&'static str, Kind)>,
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let secrets = secrets().map(|(text, secret)| (text, Kind::Secret(secret)));
    let names = named::NAMES.iter().map(|text| (*text, Kind::Name));
    let schemes = named::SCHEMES.iter().map(|text| (*text, Kind::Scheme));
    let markup = MARKUP.iter().enumerate();
    let markup = markup.map(|(index, (text, _))| (*text, Kind::Markup(index)));
    let kinds: Vec<(&str, Kind)> = secrets
        .chain(names)
        .chain(schemes)
        .chain([(named::ADDRESS, Kind::Address)])
        .chain(markup)
        .collect();
    let automaton = AhoCorasickBuilder::new()
        .kind(Some(AhoCorasickKind::DFA))
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(true)
        .start_kind(StartKind::Unanchored)
        .prefilter(false)
        .build(kinds.iter().map(|(text, _)| text))
        .expect("a few hundred short texts");
    Marks { automaton, kinds }
});

/// Every mark in a text, in the order of their ends, also those inside others.
pub(crate) fn all(text: &str) -> Vec<Mark> {
    let found = MARKS.automaton.find_overlapping_iter(text);
    found
        .map(|found| Mark {
            pattern: found.pattern().as_u32() as u16,
            end: found.end() as u32,
        })
        .collect()
}

impl Mark {
    /// What it is of.
    pub fn kind(self) -> Kind {
        MARKS.kinds[usize::from(self.pattern)].1
    }

    /// Where it stands.
    pub fn span(self) -> Range<usize> {
        let end = self.end as usize;
        end - self.text().len()..end
    }

    /// The mark as it has to be written.
    pub fn text(self) -> &'static str {
        MARKS.kinds[usize::from(self.pattern)].0
    }
}
