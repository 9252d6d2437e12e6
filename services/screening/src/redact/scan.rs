//! One pass over a view for each kind of mark, and the exact checks behind the marks.
//!
//! Every check is bounded or remembers how far it looked, so that the whole costs a time linear in the text.

use std::ops::Range;

use super::anchors::{ANCHORS, Set};
use super::rules::{BuiltIn, CustomRule, RuleSet, custom_index};
use super::view::{self, View};
use super::{blob, card, contact, iban, jwk, jwt, named, national, pem};
use crate::marks::{Kind, Mark};

/// What stands in place of what a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// The rule's name.
    Name,
    /// The rule's name and the last four characters.
    Ending([u8; 4]),
    /// Another text: a blob with its secrets taken out.
    Text(String),
}

/// Something that a rule found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub rule: u8,
    /// In the view.
    pub span: Range<usize>,
    pub instead: Instead,
    /// Further rules that found something inside.
    pub also: Vec<u8>,
}

/// What the mark of a secret is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Secret {
    /// By its place in the table of issuers.
    Anchor(usize),
    Pem,
    Putty,
    BareKey,
    Jwt,
    Jwk,
    Telegram,
    Azure,
}

/// Most headers tried in one run of characters.
const HEADERS_PER_RUN_MAX: usize = 4;

/// The marks of secrets.
pub(crate) fn secrets() -> impl Iterator<Item = (&'static str, Secret)> {
    let anchors = ANCHORS.iter().enumerate();
    let anchors = anchors.map(|(index, anchor)| (anchor.mark, Secret::Anchor(index)));
    let bare = pem::BARE.iter().map(|mark| (*mark, Secret::BareKey));
    let headers = jwt::MARKS.iter().map(|mark| (*mark, Secret::Jwt));
    anchors.chain(bare).chain(headers).chain([
        (pem::MARK, Secret::Pem),
        (pem::PUTTY, Secret::Putty),
        (jwk::MARK, Secret::Jwk),
        (":AA", Secret::Telegram),
        ("Q~", Secret::Azure),
    ])
}

/// Everything the rules find, in no order.
pub(super) fn scan(view: &View, on: RuleSet, custom: &[CustomRule]) -> Vec<Found> {
    let mut scan = Scan {
        text: &view.text,
        bytes: view.text.as_bytes(),
        on,
        found: Vec::new(),
    };
    scan.secrets(view.marks());
    scan.names(view.marks());
    scan.digits();
    scan.separators();
    scan.custom(view, custom);
    scan.found
}

/// One scan under way.
struct Scan<'v> {
    text: &'v str,
    bytes: &'v [u8],
    on: RuleSet,
    found: Vec<Found>,
}

impl Scan<'_> {
    fn push(&mut self, rule: BuiltIn, span: Range<usize>) {
        self.push_with(rule, span, Instead::Name);
    }

    fn push_with(&mut self, rule: BuiltIn, span: Range<usize>, instead: Instead) {
        if self.on.holds(rule) {
            self.found.push(Found {
                rule: rule.index(),
                span,
                instead,
                also: Vec::new(),
            });
        }
    }

    /// Secrets with a mark of their own.
    fn secrets(&mut self, marks: &[Mark]) {
        let bytes = self.bytes;
        let mut covered = 0;
        let mut blocks_from = 0;
        let (mut run_end, mut headers) = (0, 0);
        let mut keys_from = 0;
        for found in marks {
            let Kind::Secret(secret) = found.kind() else {
                continue;
            };
            let mark = found.span();
            if mark.start < covered || bytes[mark.clone()] != *found.text().as_bytes() {
                continue;
            }
            let (rule, span) = match secret {
                Secret::Anchor(index) => (ANCHORS[index].rule, ANCHORS[index].secret(bytes, mark)),
                Secret::Pem if mark.start < blocks_from => continue,
                Secret::Pem => match pem::block_at(bytes, mark.start) {
                    Ok(span) => (BuiltIn::PrivateKey, Some(span)),
                    Err(next) => {
                        blocks_from = next;
                        continue;
                    }
                },
                Secret::Jwk if mark.start < keys_from => continue,
                Secret::Jwk => {
                    let (secrets, next) = jwk::secrets_at(bytes, mark);
                    keys_from = next;
                    for span in secrets {
                        self.push(BuiltIn::PrivateKey, span);
                    }
                    continue;
                }
                Secret::Putty => (BuiltIn::PrivateKey, Some(pem::putty_at(bytes, mark.start))),
                Secret::BareKey => (
                    BuiltIn::PrivateKey,
                    Some(pem::run_around(bytes, mark.start)),
                ),
                Secret::Jwt => {
                    if mark.start >= run_end {
                        run_end = jwt::run_end(bytes, mark.start);
                        headers = 0;
                    }
                    headers += 1;
                    if headers > HEADERS_PER_RUN_MAX {
                        continue;
                    }
                    (BuiltIn::Jwt, jwt::token_at(bytes, mark.start, run_end))
                }
                Secret::Telegram => (BuiltIn::ChatToken, telegram(bytes, mark.start)),
                Secret::Azure => (BuiltIn::CloudKey, azure_secret(bytes, mark)),
            };
            if let Some(span) = span
                && self.on.holds(rule)
            {
                covered = covered.max(span.end);
                self.push(rule, span);
            }
        }
    }

    /// Values that a name calls a secret.
    fn names(&mut self, marks: &[Mark]) {
        if !self.on.holds(BuiltIn::NamedSecret) {
            return;
        }
        let (text, bytes) = (self.text, self.bytes);
        let mut covered = 0;
        for found in marks {
            let mark = found.span();
            if mark.start < covered {
                continue;
            }
            let span = match found.kind() {
                Kind::Name => named::value_of(text, mark),
                Kind::Scheme => named::credentials(bytes, mark),
                Kind::Address => named::address_password(bytes, mark),
                _ => None,
            };
            if let Some(span) = span {
                covered = span.end;
                self.push(BuiltIn::NamedSecret, span);
            }
        }
    }

    /// Numbers: cards, accounts, and the opt-in kinds that begin with digits.
    fn digits(&mut self) {
        let bytes = self.bytes;
        let national = self.on.holds(BuiltIn::NationalId);
        let address = self.on.holds(BuiltIn::IpAddress);
        let mut covered = 0;
        let mut at = 0;
        while let Some(next) = bytes[at..].iter().position(u8::is_ascii_digit) {
            let start = at + next;
            let end = card::digits_end(bytes, start);
            at = end;
            if start < covered {
                continue;
            }
            if end - start >= 2
                && let Some(account) = iban::iban_at(bytes, start)
            {
                covered = account.span.end;
                self.push_with(
                    BuiltIn::Iban,
                    account.span,
                    Instead::Ending(account.last_four),
                );
                continue;
            }
            if let Some(card) = card::card_at(self.text, start) {
                covered = card.span.end;
                self.push_with(BuiltIn::Card, card.span, Instead::Ending(card.last_four));
                continue;
            }
            if national && let Some(span) = national::number_at(self.text, start) {
                covered = span.end;
                self.push(BuiltIn::NationalId, span);
            }
            if address && let Some(span) = contact::ipv4_at(self.text, start) {
                covered = span.end;
                self.push(BuiltIn::IpAddress, span);
            }
        }
    }

    /// What is known by a separator inside it.
    fn separators(&mut self) {
        let bytes = self.bytes;
        if self.on.holds(BuiltIn::ChatToken) {
            for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'.') {
                if bytes.get(at + 7) == Some(&b'.')
                    && let Some(span) = discord(bytes, at)
                {
                    self.push(BuiltIn::ChatToken, span);
                }
            }
        }
        if self.on.holds(BuiltIn::Email) {
            for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'@') {
                if let Some(span) = contact::email_at(bytes, at) {
                    self.push(BuiltIn::Email, span);
                }
            }
        }
        if self.on.holds(BuiltIn::IpAddress) {
            for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b':') {
                if let Some(span) = contact::ipv6_at(self.text, at) {
                    self.push(BuiltIn::IpAddress, span);
                }
            }
        }
    }

    /// Rules of one's own, one string at a time.
    fn custom(&mut self, view: &View, rules: &[CustomRule]) {
        for (position, rule) in rules.iter().enumerate() {
            let index = custom_index(position);
            if !self.on.has(index) {
                continue;
            }
            for piece in view
                .pieces
                .iter()
                .filter(|piece| piece.kind != view::Kind::Number)
            {
                let text = &self.text[piece.view.clone()];
                for found in rule
                    .pattern
                    .find_iter(text)
                    .filter(|found| !found.is_empty())
                {
                    self.found.push(Found {
                        rule: index,
                        span: piece.view.start + found.start()..piece.view.start + found.end(),
                        instead: Instead::Name,
                        also: Vec::new(),
                    });
                }
            }
        }
    }
}

/// A bot's token: eight to ten digits, a colon, `AA` and 33 characters.
fn telegram(bytes: &[u8], colon: usize) -> Option<Range<usize>> {
    let digits = bytes[..colon]
        .iter()
        .rev()
        .take(11)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let end = jwt::run_end(bytes, colon + 1);
    ((8..=10).contains(&digits) && (33..=40).contains(&(end - colon - 1)))
        .then_some(colon - digits..end)
}

/// A client secret: three characters, a digit, `Q~` and at least thirty more.
fn azure_secret(bytes: &[u8], mark: Range<usize>) -> Option<Range<usize>> {
    let start = mark.start.checked_sub(4)?;
    let body = bytes[mark.end..]
        .iter()
        .take_while(|byte| Set::Dotted.has(**byte))
        .count();
    let head = &bytes[start..mark.start];
    (head[..3].iter().all(|byte| Set::Dotted.has(*byte)) && head[3].is_ascii_digit() && body >= 30)
        .then_some(start..mark.end + body)
}

/// A bot's token: its id in base64, a dot, six characters, a dot, at least 27 characters.
fn discord(bytes: &[u8], dot: usize) -> Option<Range<usize>> {
    let id = bytes[..dot]
        .iter()
        .rev()
        .take(30)
        .take_while(|byte| Set::Word.has(**byte))
        .count();
    let middle = &bytes[dot + 1..dot + 7];
    let end = jwt::run_end(bytes, dot + 8);
    if !(23..=28).contains(&id)
        || end - dot - 8 < 27
        || !middle.iter().all(|byte| Set::Word.has(*byte))
    {
        return None;
    }
    let decoded = jwt::decode(&bytes[dot - id..dot])?;
    decoded
        .iter()
        .all(u8::is_ascii_digit)
        .then_some(dot - id..end)
}

/// The runs of base64 in a view that hold something, with what stands in their place.
pub(super) fn blobs(view: &View, inner: impl Fn(&str) -> Option<(String, Vec<u8>)>) -> Vec<Found> {
    let bytes = view.text.as_bytes();
    view.runs()
        .iter()
        .filter_map(|span| {
            let run = &bytes[span.clone()];
            let (redacted, mut rules) = inner(&blob::text_of(run)?)?;
            let rule = rules.pop()?;
            let text = blob::encode_like(run, &redacted);
            Some(Found {
                rule,
                span: span.clone(),
                instead: Instead::Text(text),
                also: rules,
            })
        })
        .collect()
}
