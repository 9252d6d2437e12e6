//! Which resources a server has, by their addresses, as it last listed them.
//!
//! Where one endpoint has several servers a resource keeps its address, so the address must tell
//! whose it is. What two servers claim belongs to neither.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use super::lists::Entry;

/// Most addresses and templates kept of one server.
const PLACES_MAX: usize = 16_384;
/// Longest address or template that is kept, in bytes.
const PLACE_BYTES_MAX: usize = 2_048;

/// The addresses that a server listed.
#[derive(Debug, Default)]
pub struct Places(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    addresses: HashSet<Box<str>>,
    /// The plain texts of each template, between what is filled in.
    templates: HashSet<Box<[Box<str>]>>,
}

impl Places {
    /// Takes in a page of addresses (`uri`) or templates (`uriTemplate`).
    pub fn learn(&self, named_by: &str, entries: &[Entry]) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let names = entries.iter().filter_map(|entry| entry.name.as_deref());
        for name in names.filter(|name| name.len() <= PLACE_BYTES_MAX) {
            if known.addresses.len() + known.templates.len() >= PLACES_MAX {
                return;
            }
            if named_by == "uri" {
                known.addresses.insert(name.into());
            } else if let Some(template) = plain_texts(name) {
                known.templates.insert(template);
            }
        }
    }

    /// Whether the server listed this address, or a template that it may come from.
    pub fn has(&self, address: &str) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.addresses.contains(address)
            || known
                .templates
                .iter()
                .any(|template| may_come_from(address, template))
    }
}

/// The plain texts of a template (RFC 6570) around its expressions; none where it is no template,
/// or would fit every address.
fn plain_texts(template: &str) -> Option<Box<[Box<str>]>> {
    let mut texts: Vec<Box<str>> = Vec::new();
    let mut rest = template;
    while let Some((before, inside)) = rest.split_once('{') {
        let (_, after) = inside.split_once('}')?;
        texts.push(Box::from(before));
        rest = after;
    }
    texts.push(Box::from(rest));
    // Without a scheme in front it says nothing about whose addresses it makes.
    texts[0].contains(':').then(|| texts.into())
}

/// Whether an address begins and ends as the template does, with its other texts in order between.
fn may_come_from(address: &str, texts: &[Box<str>]) -> bool {
    let [first, middle @ .., last] = texts else {
        return texts.iter().any(|only| **only == *address);
    };
    let Some(mut rest) = address
        .strip_prefix(&**first)
        .and_then(|rest| rest.strip_suffix(&**last))
    else {
        return false;
    };
    middle.iter().all(|text| match rest.split_once(&**text) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => text.is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(template: &str, address: &str) -> bool {
        plain_texts(template).is_some_and(|texts| may_come_from(address, &texts))
    }

    #[test]
    fn an_address_comes_from_a_template_whose_plain_texts_it_has() {
        for (template, address, expected) in [
            ("test://t/{id}/data", "test://t/1/data", true),
            ("test://t/{id}/data", "test://t/1/other", false),
            ("test://t/{a}/m/{b}", "test://t/1/m/2", true),
            ("test://t/{a}/m/{b}", "test://t/1/2", false),
            ("test://t/x", "test://t/x", true),
            ("test://t/x", "test://t/x/y", false),
            ("test://{a}{b}", "test://anything", true),
            // Two ends must not share their bytes.
            ("test://a{x}aa", "test://aa", false),
            // What would fit everything is no claim.
            ("{+anything}", "file:///etc/passwd", false),
            ("test://{broken", "test://1", false),
        ] {
            assert_eq!(fits(template, address), expected, "{template} {address}");
        }
    }
}
