//! Links, mailboxes and telephone numbers in a reply. The bank's assistant gives out none but the bank's own; whoever
//! planted another in a payee's name or a document must not speak in the bank's voice.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::view::View;

/// Last parts of names that people take for addresses. Others are found by `://`, `www.` or a path behind them.
const ENDINGS: &str = "com|net|org|info|biz|io|app|dev|me|co|ly|gl|link|site|online|shop|store|xyz|top|club|live|support|help|bank|finance|money|cash|pay|secure|example|invalid|test|de|at|ch|fr|es|it|pl|nl|be|uk|us|eu|in|ru|cn|tk|br|pt|ie";

static LINK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(
        r#"(?i)(?:[a-z][a-z0-9+.-]{{1,20}}:/{{1,2}}|www\.)[^\s<>"“”]+|(?:[\p{{L}}\p{{N}}][\p{{L}}\p{{N}}-]*(?:\.|\s?[\[(]\s?(?:\.|dot|punkt|point|punto)\s?[\])]\s?|\s(?:dot|punkt|punto)\s)){{1,5}}(?:{ENDINGS})\b(?:[/?#:][^\s<>"“”]*)?"#
    ))
    .expect("a pattern of ours")
});
static MAIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)[\p{L}\p{N}._%+-]+\s?(?:@|\(at\)|\[at\])\s?(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}")
        .expect("a pattern of ours")
});
/// With a country code, or a leading zero and groups that no date and no account number has.
static PHONE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:\+|\b00)[1-9]\d{0,2}[\s()./-]{0,3}(?:\d[\s()./-]{0,2}){6,12}\d|\(?\b0[1-9]\d{1,4}\)?[\s/-](?:\d{2,9}[\s/-]?){1,4}|\b0[1-9]\d{8,10}\b|\b0?800[\s/-]?(?:\d{2,7}[\s/-]?){1,3}",
    )
    .expect("a pattern of ours")
});
static NO_PHONE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^0\d[-/.]\d{2}[-/.]\d{2,4}$").expect("a pattern of ours"));

/// What is the bank's own and may stand as it is.
#[derive(Clone, Debug, Default)]
pub struct Own {
    hosts: Vec<String>,
    numbers: Vec<String>,
}

impl Own {
    /// From what the bank gives out: names of hosts, mailboxes' hosts, telephone numbers.
    #[must_use]
    pub fn new(contacts: &[String]) -> Self {
        let (numbers, hosts) = contacts
            .iter()
            .map(|contact| contact.trim().to_lowercase())
            .filter(|contact| !contact.is_empty())
            .partition(|contact| {
                contact
                    .chars()
                    .filter(|c| !" +-()/.".contains(*c))
                    .all(|c| c.is_ascii_digit())
            });
        let digits =
            |numbers: Vec<String>| numbers.iter().map(|number| digits_of(number)).collect();
        Self {
            hosts,
            numbers: digits(numbers),
        }
    }

    fn is_host(&self, found: &str) -> bool {
        let found = found.to_lowercase();
        let rest = found
            .split_once("://")
            .map_or(found.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // In front of an `@` stands a user: of a mailbox as of an address that pretends.
        let host = authority.rsplit('@').next().unwrap_or_default();
        self.hosts.iter().any(|own| own == host)
    }

    fn is_number(&self, found: &str) -> bool {
        let digits = digits_of(found);
        !digits.is_empty() && self.numbers.contains(&digits)
    }
}

fn digits_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// Where a text names a link, a mailbox or a telephone number that is not the bank's, in order, none touching another.
#[must_use]
pub fn foreign(text: &str, own: &Own) -> Vec<Range<usize>> {
    let view = View::of_text(text);
    // Behind the text stands a mark of its end.
    let folded = &view.text[..view.text.len().saturating_sub(1)];
    let before = |at: usize| folded[..at].chars().next_back();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for found in LINK.find_iter(folded) {
        let joined = before(found.start())
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '@' | '.' | '-'));
        let trimmed = trim(found.as_str());
        if (!joined || trimmed.contains("://")) && !trimmed.is_empty() && !own.is_host(trimmed) {
            spans.push(found.start()..found.start() + trimmed.len());
        }
    }
    for found in MAIL.find_iter(folded) {
        if !own.is_host(found.as_str()) {
            spans.push(found.range());
        }
    }
    for found in PHONE.find_iter(folded) {
        let trimmed = trim(found.as_str());
        let digits = digits_of(trimmed).len();
        let inside = before(found.start())
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | ',' | '-'))
            || (before(found.start()) == Some(' ')
                && folded[..found.start()]
                    .trim_end()
                    .chars()
                    .next_back()
                    .is_some_and(|c| c.is_ascii_digit()));
        // Behind the number itself: the pattern takes a space behind the last group along.
        let behind = folded[found.start() + trimmed.len()..]
            .chars()
            .next()
            .is_some_and(char::is_alphanumeric);
        if digits >= 7
            && !inside
            && !behind
            && !NO_PHONE.is_match(trimmed)
            && !own.is_number(trimmed)
        {
            spans.push(found.start()..found.start() + trimmed.len());
        }
    }
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans.into_iter().map(|span| view.source(&span)) {
        match joined.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

fn trim(found: &str) -> &str {
    found.trim_end_matches(|c: char| c.is_whitespace() || ".,;:!?)]}'’*_".contains(c))
}
