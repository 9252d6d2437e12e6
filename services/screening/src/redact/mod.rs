//! Redaction: secrets taken out of texts and JSON, everything else left byte for byte.
//!
//! A rule finds a span of the *decoded, folded* text ([`View`]); the span of the original bytes that spells it
//! is replaced by a typed placeholder such as `[redacted: cloud_key]` or `[redacted: card ending 1111]`. JSON
//! stays JSON: inside a string only the span changes, a number that is a card becomes a string, and a member
//! name stays unique in its document.
//!
//! What is not looked into: base64 longer than 256 KiB and anything nested deeper than one layer of base64
//! or two of JSON strings.

mod anchors;
pub(crate) mod blob;
mod card;
mod contact;
mod fold;
mod iban;
mod json;
mod jwk;
mod jwt;
pub(crate) mod named;
mod national;
mod pem;
mod place;
mod rules;
pub(crate) mod scan;
mod sse;
mod stream;
pub(crate) mod view;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use countersign_wire::{Caps, Document, Span, WireError};

pub(crate) use jwt::decode;
pub use rules::{BuiltIn, CUSTOM_RULES_MAX, RULE_NAME_LENGTH_MAX, RuleError, RuleSet, Rules};
pub use sse::{EventRedactor, EventTooLong};
pub use stream::TextRedactor;

use scan::{Found, Instead};
use view::View;

/// Something that was taken out: the rule and the bytes of the original that spelled it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Name of the rule.
    pub rule: Arc<str>,
    /// Where it stood in the original. Two edits have the same span when both were found in one blob.
    pub span: Range<usize>,
}

/// Something to be taken out, and what to put in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Where it stands in the original.
    pub span: Range<usize>,
    /// What stands there afterwards, as it is written.
    pub with: String,
    /// Names of the rules that found it.
    pub rules: Vec<Arc<str>>,
}

/// A text or document after redaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// What may be passed on: the original itself when nothing was found.
    pub text: Cow<'a, str>,
    /// What was taken out, in order.
    pub edits: Vec<Edit>,
}

/// Takes secrets out. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Redactor {
    compiled: Arc<Compiled>,
    on: RuleSet,
}

#[derive(Debug)]
struct Compiled {
    rules: Rules,
    /// By the numbers of the rules.
    names: Vec<Arc<str>>,
}

impl Redactor {
    /// Compiles the rules. Costs a few milliseconds, once.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        let built_in = BuiltIn::ALL.iter().map(|rule| rule.name());
        let custom = rules.custom.iter().map(|rule| rule.name.as_str());
        Self {
            on: rules.on,
            compiled: Arc::new(Compiled {
                names: built_in.chain(custom).map(Arc::from).collect(),
                rules: rules.clone(),
            }),
        }
    }

    /// The rules of these names, as far as this redactor has them.
    pub fn set<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> RuleSet {
        let number = |name: &str| {
            self.compiled
                .names
                .iter()
                .position(|known| **known == *name)
        };
        names
            .into_iter()
            .filter_map(number)
            .fold(RuleSet::default(), |set, rule| set.with(rule as u8))
    }

    /// The same redactor without some of its rules.
    #[must_use]
    pub fn without(&self, rules: RuleSet) -> Self {
        Self {
            compiled: Arc::clone(&self.compiled),
            on: self.on.without(rules),
        }
    }

    /// Takes secrets out of a text.
    #[must_use]
    pub fn redact_text<'a>(&self, text: &'a str) -> Redacted<'a> {
        let finds = self.find(&View::of_text(text), true);
        self.splice(text, finds)
    }

    /// Takes secrets out of a JSON document.
    ///
    /// # Errors
    /// [`WireError`] when the strict reader refuses the bytes. Nothing may be passed on then.
    pub fn redact_json<'a>(&self, json: &'a [u8]) -> Result<Redacted<'a>, WireError> {
        let document = Document::read(json, &Caps::ANSWER)?;
        let everything = 0..document.text().len();
        Ok(self.redact_document(&document, &everything))
    }

    /// Takes secrets out of the part of a read document that a span covers.
    #[must_use]
    pub fn redact_document<'a>(&self, document: &Document<'a>, scope: &Span) -> Redacted<'a> {
        let view = View::of_document(document, scope);
        let finds = self.find(&view, true);
        if finds.is_empty() {
            return Redacted {
                text: Cow::Borrowed(document.text()),
                edits: Vec::new(),
            };
        }
        let finds = json::fit(document, &view, finds);
        self.splice(document.text(), finds)
    }

    /// What to replace in a document whose view is known: spans of it, in order, none touching another.
    pub(crate) fn replacements(&self, document: &Document<'_>, view: &View) -> Vec<Replacement> {
        let replaces = json::fit(document, view, self.find(view, true));
        let name = |rule: &u8| Arc::clone(&self.compiled.names[usize::from(*rule)]);
        replaces
            .into_iter()
            .map(|replace| Replacement {
                rules: replace.rules.iter().map(name).collect(),
                span: replace.span,
                with: replace.with,
            })
            .collect()
    }

    /// What there is to replace, in spans of the original, in order, none touching another.
    fn find(&self, view: &View, blobs: bool) -> Vec<Replace> {
        let compiled = &*self.compiled;
        let mut finds = scan::scan(view, self.on, &compiled.rules.custom);
        finds.retain(|found| !self.is_placeholder(&view.text, found));
        if blobs {
            finds.extend(scan::blobs(view, |text| {
                let finds = self.find(&View::of_text(text), false);
                let rules: Vec<u8> = finds.iter().flat_map(|found| found.rules.clone()).collect();
                (!rules.is_empty()).then(|| (self.splice(text, finds).text.into_owned(), rules))
            }));
        }
        let mut replaces: Vec<Replace> = finds
            .into_iter()
            .map(|found| {
                let mut rules = vec![found.rule];
                rules.extend(&found.also);
                Replace {
                    span: view.source(&found.span),
                    with: self.placeholder(&found),
                    rules,
                }
            })
            .collect();
        if self.on.holds(BuiltIn::HiddenText) {
            let rule = BuiltIn::HiddenText.index();
            let hidden = view.hidden.iter().map(|hidden| Replace {
                span: hidden.span.clone(),
                with: self.named(rule),
                rules: vec![rule],
            });
            replaces.extend(hidden);
        }
        join(replaces)
    }

    /// Whether a rule of one's own found a part of a placeholder.
    fn is_placeholder(&self, text: &str, found: &Found) -> bool {
        const OPEN: &str = "[redacted: ";
        const LENGTH_MAX: usize = OPEN.len() + RULE_NAME_LENGTH_MAX + 16;
        if usize::from(found.rule) < BuiltIn::ALL.len() {
            return false;
        }
        let from = text.floor_char_boundary(found.span.end.saturating_sub(LENGTH_MAX));
        let to = text.floor_char_boundary(found.span.end + OPEN.len());
        let Some(inner) = text[from..to].rfind(OPEN).map(|at| from + at + OPEN.len()) else {
            return false;
        };
        let until = text.floor_char_boundary(inner + LENGTH_MAX);
        let Some(end) = text[inner..until].find(']').map(|length| inner + length) else {
            return false;
        };
        let (name, tail) = text[inner..end]
            .split_once(' ')
            .unwrap_or((&text[inner..end], ""));
        inner - OPEN.len() <= found.span.start
            && found.span.end <= end + 1
            && self.compiled.names.iter().any(|known| **known == *name)
            && (tail.is_empty() || tail.starts_with("ending ") || tail.parse::<u32>().is_ok())
    }

    fn placeholder(&self, found: &Found) -> String {
        match &found.instead {
            Instead::Name => self.named(found.rule),
            Instead::Ending(last) => {
                let name = &self.compiled.names[usize::from(found.rule)];
                format!(
                    "[redacted: {name} ending {}]",
                    String::from_utf8_lossy(last)
                )
            }
            Instead::Text(text) => text.clone(),
        }
    }

    fn named(&self, rule: u8) -> String {
        format!("[redacted: {}]", self.compiled.names[usize::from(rule)])
    }

    fn splice<'a>(&self, text: &'a str, replaces: Vec<Replace>) -> Redacted<'a> {
        if replaces.is_empty() {
            return Redacted {
                text: Cow::Borrowed(text),
                edits: Vec::new(),
            };
        }
        let mut spliced = String::with_capacity(text.len() + 16);
        let mut edits = Vec::with_capacity(replaces.len());
        let mut at = 0;
        for replace in replaces {
            spliced.push_str(&text[at..replace.span.start]);
            spliced.push_str(&replace.with);
            at = replace.span.end;
            edits.extend(replace.rules.iter().map(|rule| Edit {
                rule: Arc::clone(&self.compiled.names[usize::from(*rule)]),
                span: replace.span.clone(),
            }));
        }
        spliced.push_str(&text[at..]);
        Redacted {
            text: Cow::Owned(spliced),
            edits,
        }
    }
}

/// A span of the original and what stands in its place.
#[derive(Clone, Debug)]
pub(crate) struct Replace {
    pub span: Range<usize>,
    pub with: String,
    pub rules: Vec<u8>,
}

/// Joins what overlaps: the one that begins first, or is longer, names the placeholder.
fn join(mut replaces: Vec<Replace>) -> Vec<Replace> {
    replaces.sort_by(|one, other| {
        (one.span.start, other.span.end).cmp(&(other.span.start, one.span.end))
    });
    let mut joined: Vec<Replace> = Vec::with_capacity(replaces.len());
    for replace in replaces {
        match joined.last_mut() {
            Some(last) if replace.span.start < last.span.end => {
                last.span.end = last.span.end.max(replace.span.end);
                for rule in replace.rules {
                    if !last.rules.contains(&rule) {
                        last.rules.push(rule);
                    }
                }
            }
            _ => joined.push(replace),
        }
    }
    joined
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod properties;
