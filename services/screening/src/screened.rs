//! Both kinds of screening in one go over one document.

use countersign_wire::{Document, Span};

use crate::inject::{Finding, Injection};
use crate::redact::view::View;
use crate::redact::{Redactor, Replacement};

/// What screening has to say about a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screened {
    /// What to take out, in order.
    pub replacements: Vec<Replacement>,
    /// What reads like an order to a model, in order.
    pub findings: Vec<Finding>,
}

/// Screens the part of a document that a span covers. The document is decoded once for both.
#[must_use]
pub fn screen(
    document: &Document<'_>,
    scope: &Span,
    redactor: Option<&Redactor>,
    injection: Option<&Injection>,
) -> Screened {
    let view = View::of_document(document, scope);
    Screened {
        replacements: redactor
            .map(|redactor| redactor.replacements(document, &view))
            .unwrap_or_default(),
        findings: injection
            .map(|injection| injection.screen_view(&view))
            .unwrap_or_default(),
    }
}
