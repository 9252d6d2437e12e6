//! Screening for text that talks to a model like somebody who may give it orders. Labels and alarms: what keeps
//! money safe never depends on it.
//!
//! Deterministic: every finding names its rule. Words are read as the eye reads them, whatever characters spell
//! them; codes are decoded once.

mod encoded;
mod letters;
mod lexicon;
pub(crate) mod markup;
mod phrases;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use countersign_wire::{Document, Span};

use crate::decode;
use crate::marks::{self, Mark};
use crate::redact::view::View;

use lexicon::{Concept, Lexicon};
use phrases::Before;

/// Longest sentence read backwards or rotated, in bytes.
const DISGUISED_MAX: usize = 4096;

/// Something that reads like an order to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static str,
    /// Where it stands in the original: the sentence, mark or code.
    pub span: Range<usize>,
}

/// The rules, each with one line that explains it.
pub const RULES: &[(&str, &str)] = &[
    (
        "ignore_instructions",
        "Tells the reader to drop, or no longer follow, the instructions it has.",
    ),
    (
        "reveal_prompt",
        "Asks for the system prompt or other instructions of a model.",
    ),
    (
        "role_change",
        "Gives the reader another role: an unrestricted assistant, a developer mode.",
    ),
    ("standing_order", "Sets how every later answer has to be."),
    ("new_task", "Replaces the reader's task."),
    (
        "addressed_order",
        "Speaks to a model by its kind and orders something.",
    ),
    (
        "tool_order",
        "Orders the call of a tool that pays, sends or deletes.",
    ),
    ("conceal", "Wants the user or customer not to be told."),
    (
        "exfiltration",
        "Wants a conversation or data sent to an address.",
    ),
    (
        "exfiltration_link",
        "A picture or link whose address has a place for data.",
    ),
    (
        "skip_confirmation",
        "Wants a payment or call without the confirmation it needs.",
    ),
    (
        "urgent_payment",
        "Presses for a payment in somebody's authority.",
    ),
    (
        "role_markup",
        "A marker of a chat template, or of a system message with an order behind it.",
    ),
    (
        "tool_call_shape",
        "Text in the shape of a model's tool call.",
    ),
    (
        "hidden_markup",
        "An order in a comment or in text that a page does not show.",
    ),
    (
        "hidden_text",
        "Characters that nobody sees: tags, long zero-width runs.",
    ),
    (
        "bidi_override",
        "Characters that turn the direction of the writing around.",
    ),
];

/// Screens texts. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Injection {
    compiled: Arc<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    lexicon: Lexicon,
}

impl Default for Injection {
    fn default() -> Self {
        Self::new()
    }
}

impl Injection {
    /// Reads the word lists. Costs a few milliseconds, once.
    #[must_use]
    pub fn new() -> Self {
        Self {
            compiled: Arc::new(Compiled {
                lexicon: Lexicon::new(),
            }),
        }
    }

    /// What in a text reads like an order to a model.
    #[must_use]
    pub fn screen(&self, text: &str) -> Vec<Finding> {
        self.screen_view(&View::of_text(text))
    }

    /// What in the part of a document that a span covers reads like an order to a model.
    #[must_use]
    pub fn screen_document(&self, document: &Document<'_>, scope: &Span) -> Vec<Finding> {
        self.screen_view(&View::of_document(document, scope))
    }

    pub(crate) fn screen_view(&self, view: &View) -> Vec<Finding> {
        let mut findings = Vec::new();
        self.look(
            &view.text,
            Some(view.runs()),
            view.marks(),
            &mut |rule, span| {
                findings.push(Finding {
                    rule,
                    span: view.source(&span),
                });
            },
        );
        for hidden in &view.hidden {
            findings.push(Finding {
                rule: "hidden_text",
                span: hidden.span.clone(),
            });
            let text = encoded::hidden(hidden);
            self.look(&text, None, &marks::all(&text), &mut |rule, _| {
                findings.push(Finding {
                    rule,
                    span: hidden.span.clone(),
                })
            });
        }
        for span in &view.overrides {
            findings.push(Finding {
                rule: "bidi_override",
                span: span.clone(),
            });
        }
        findings.sort_by_key(|finding| (finding.span.start, finding.span.end, finding.rule));
        findings.dedup();
        findings
    }

    /// Looks through a text and, where its runs of base64 are given, through what parts of it stand for.
    fn look(
        &self,
        text: &str,
        runs: Option<&[Range<usize>]>,
        marks: &[Mark],
        on: &mut dyn FnMut(&'static str, Range<usize>),
    ) {
        let compiled = &*self.compiled;
        let mut before = Before::default();
        let mut disguised = Vec::new();
        words::sentences(&compiled.lexicon, text, &mut |sentence| {
            if let Some(rule) = phrases::judge(sentence, text, &mut before) {
                on(rule, sentence.span.clone());
            }
            if runs.is_some() {
                let is = |token: &words::Token| match token.concept {
                    concept @ (Concept::Rotated | Concept::Reversed) => Some(concept),
                    _ => None,
                };
                disguised.extend(
                    sentence
                        .tokens
                        .iter()
                        .find_map(is)
                        .map(|concept| (concept, sentence.span.clone())),
                );
            }
        });
        markup::find(text, marks, &|part: &str| self.is_order(part), on);
        let Some(runs) = runs else {
            return;
        };
        for (concept, span) in disguised {
            let part = &text
                [span.start..text.floor_char_boundary(span.end.min(span.start + DISGUISED_MAX))];
            let plain = match concept {
                Concept::Rotated => decode::rot13(part),
                _ => part.chars().rev().collect(),
            };
            self.look(&plain, None, &marks::all(&plain), &mut |rule, _| {
                on(rule, span.clone())
            });
        }
        encoded::each(text, runs, |decoded, span| {
            self.look(decoded, None, &marks::all(decoded), &mut |rule, _| {
                on(rule, span.clone())
            });
        });
    }

    /// Whether a part that nobody sees, or that poses as a system's, orders anything: less is needed there.
    fn is_order(&self, text: &str) -> bool {
        const ORDERS: [Concept; 8] = [
            Concept::Ignore,
            Concept::Ai,
            Concept::Pay,
            Concept::PayTool,
            Concept::Prompt,
            Concept::NowOn,
            Concept::Skip,
            Concept::Role,
        ];
        let mut found = false;
        words::sentences(&self.compiled.lexicon, text, &mut |sentence| {
            found |= sentence
                .tokens
                .iter()
                .any(|token| ORDERS.contains(&token.concept));
        });
        found
    }
}

/// How often each rule found something.
#[must_use]
pub fn counts(findings: &[Finding]) -> BTreeMap<&'static str, usize> {
    findings
        .iter()
        .fold(BTreeMap::new(), |mut counts, finding| {
            *counts.entry(finding.rule).or_default() += 1;
            counts
        })
}

#[cfg(test)]
mod tests;
