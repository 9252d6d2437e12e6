//! Where every key of a policy file stands, so that an error about what it says has a line too.

use std::collections::HashMap;

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle};

/// Lines and columns by the path of keys that leads there. Elements of a list are named by their
/// `id` where they have one, else by their number.
#[derive(Debug, Default)]
pub(crate) struct Places {
    places: HashMap<String, (u64, u64)>,
    /// Texts without quotes that readers of another version of YAML take for something else.
    doubtful: Vec<(String, String)>,
    /// Values that are numbers or truth values and are not written as such.
    mistyped: Vec<(String, &'static str)>,
    /// Where the first tag or directive stands: it makes something else of what follows.
    directed: Option<(u64, u64)>,
}

enum Container {
    Mapping { path: String, key: Option<String> },
    Sequence { path: String, next: usize },
}

impl Places {
    /// Reads a file that the strict reader has taken already.
    pub fn read(yaml: &str) -> Self {
        let mut found = Self::default();
        let mut open: Vec<Container> = Vec::new();
        let mut parser = Parser::new_from_str(yaml);
        while let Some(Ok((event, span))) = parser.next_event() {
            let place = (span.start.line() as u64, span.start.col() as u64 + 1);
            if directs(&event) {
                found.directed.get_or_insert(place);
            }
            match event {
                Event::Scalar(text, style, ..) => {
                    found.doubt(&open, &text, style);
                    if let Some(Container::Mapping { path, key }) = open.last_mut() {
                        match key.take() {
                            None => {
                                let inner = join(path, &text);
                                found.places.entry(inner.clone()).or_insert(place);
                                *key = Some(inner);
                            }
                            // An element of a list that has an id is known by it from here on.
                            Some(inner) if inner == join(path, "id") => {
                                let parent = path.rsplit_once('.').map_or("", |(front, _)| front);
                                let named = join(parent, &text);
                                found.places.entry(named.clone()).or_insert(place);
                                if in_list(&open) {
                                    found.rename(&mut open, named);
                                }
                            }
                            Some(_) => {}
                        }
                        continue;
                    }
                    found.element(&mut open, place);
                }
                Event::MappingStart(..) => {
                    let path = found.enter(&mut open, place);
                    open.push(Container::Mapping { path, key: None });
                }
                Event::SequenceStart(..) => {
                    let path = found.enter(&mut open, place);
                    open.push(Container::Sequence { path, next: 0 });
                }
                Event::MappingEnd | Event::SequenceEnd => {
                    open.pop();
                }
                _ => {}
            }
        }
        found
    }

    /// Where the first tag (`!!str`) or directive (`%YAML`) stands.
    pub const fn directed(&self) -> Option<(u64, u64)> {
        self.directed
    }

    /// The first text that has to stand in quotes, by its path.
    pub fn doubtful(&self) -> Option<(&str, &str)> {
        let mut doubtful = self.doubtful.iter();
        doubtful
            .find(|(path, _)| !path.starts_with("injection."))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The first number or truth value that is written otherwise than plainly, by its path, and what is wanted.
    /// Readers differ about `0x1f` and `017`, and a quoted number is a text.
    pub fn mistyped(&self) -> Option<(&str, &'static str)> {
        let first = self.mistyped.first();
        first.map(|(path, wanted)| (path.as_str(), *wanted))
    }

    fn doubt(&mut self, open: &[Container], text: &str, style: ScalarStyle) {
        let path = match open.last() {
            Some(Container::Mapping { key: Some(key), .. }) => key.clone(),
            Some(Container::Sequence { path, next }) => join(path, &next.to_string()),
            // A key is read as the text it is wherever it is looked up.
            _ => return,
        };
        if let Some(wanted) = wanted(&path).filter(|kind| !kind.is(text, style)) {
            self.mistyped.push((path.clone(), wanted.words()));
        }
        if style == ScalarStyle::Plain && is_doubtful(text) {
            self.doubtful.push((path, text.to_owned()));
        }
    }

    /// Whether a path stands in the file.
    pub fn holds(&self, path: &str) -> bool {
        self.places.contains_key(path)
    }

    /// The place of a path, or of the longest part of it that stands in the file.
    pub fn of(&self, path: &str) -> (u64, u64) {
        let mut path = path;
        loop {
            if let Some(place) = self.places.get(path) {
                return *place;
            }
            match path.rsplit_once('.') {
                Some((front, _)) => path = front,
                None => return (1, 1),
            }
        }
    }

    fn enter(&mut self, open: &mut [Container], place: (u64, u64)) -> String {
        match open.last_mut() {
            None => String::new(),
            Some(Container::Mapping { key, .. }) => key.take().unwrap_or_default(),
            Some(Container::Sequence { .. }) => self.element(open, place),
        }
    }

    /// The path of the next element of the innermost list.
    fn element(&mut self, open: &mut [Container], place: (u64, u64)) -> String {
        let Some(Container::Sequence { path, next }) = open.last_mut() else {
            return String::new();
        };
        let path = join(path, &next.to_string());
        *next += 1;
        self.places.entry(path.clone()).or_insert(place);
        path
    }

    /// Gives the innermost mapping its name; what of it was seen before keeps both names.
    fn rename(&mut self, open: &mut [Container], named: String) {
        if let Some(Container::Mapping { path, .. }) = open.last_mut() {
            let before = format!("{path}.");
            let seen: Vec<_> = self
                .places
                .iter()
                .filter_map(|(old, place)| Some((old.strip_prefix(&before)?.to_owned(), *place)))
                .collect();
            for (rest, place) in seen {
                self.places.entry(join(&named, &rest)).or_insert(place);
            }
            *path = named;
        }
    }
}

/// Whether something says how what follows is to be read.
const fn directs(event: &Event<'_>) -> bool {
    match event {
        Event::Scalar(_, _, _, tag) => tag.is_some(),
        Event::SequenceStart(_, _, tag) | Event::MappingStart(_, _, tag) => tag.is_some(),
        Event::DocumentStart(_, version) => version.is_some(),
        _ => false,
    }
}

/// What a value has to be that is no text.
#[derive(Clone, Copy)]
enum Wanted {
    Number,
    Truth,
}

impl Wanted {
    fn is(self, text: &str, style: ScalarStyle) -> bool {
        let digits = text.strip_prefix('-').unwrap_or(text);
        style == ScalarStyle::Plain
            && match self {
                Self::Number => {
                    !digits.is_empty()
                        && digits.bytes().all(|byte| byte.is_ascii_digit())
                        && (digits == "0" || !digits.starts_with('0'))
                }
                Self::Truth => matches!(text, "true" | "false"),
            }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Number => "a whole number is wanted, in digits alone and without quotes",
            Self::Truth => "true or false is wanted, without quotes",
        }
    }
}

/// What the value of a key has to be, where that is no text.
fn wanted(path: &str) -> Option<Wanted> {
    const NUMBERS: [&str; 11] = [
        "version",
        "rate_per_minute",
        "message_rate_per_minute",
        "ttl_seconds",
        "countdown_seconds",
        "min",
        "max",
        "min_length",
        "max_length",
        "min_items",
        "max_items",
    ];
    const TRUTHS: [&str; 6] = [
        "require_pins",
        "allow_dots",
        "request_tokens",
        "reversible",
        "required",
        "task",
    ];
    // What stands there has names of its own.
    let is_free = path.starts_with("servers.")
        && (path.contains(".env.") || path.contains(".headers.") || path.contains(".command."));
    let key = path.rsplit_once('.').map_or(path, |(_, key)| key);
    let is_of_redaction = matches!(path, "redaction.results" | "redaction.arguments");
    match key {
        _ if is_free => None,
        _ if is_of_redaction || TRUTHS.contains(&key) => Some(Wanted::Truth),
        _ if NUMBERS.contains(&key) => Some(Wanted::Number),
        _ => None,
    }
}

/// Truth values, times counted in sixties and days, as YAML 1.1 has them.
fn is_doubtful(text: &str) -> bool {
    const TRUTH: [&str; 6] = ["yes", "no", "on", "off", "y", "n"];
    if TRUTH.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return true;
    }
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.trim_start_matches(['+', '-']);
    let sixties = unsigned.contains(':') && unsigned.split([':', '.']).all(digits);
    let parted = unsigned.contains('_')
        && unsigned.starts_with(|first: char| first.is_ascii_digit())
        && unsigned
            .split(['_', '.'])
            .all(|part| part.is_empty() || digits(part));
    let mut parts = text.split('-');
    let day = matches!(
        (parts.next(), parts.next(), parts.next()),
        (Some(year), Some(month), Some(rest))
            if year.len() == 4 && digits(year) && digits(month) && month.len() <= 2
                && rest.starts_with(|first: char| first.is_ascii_digit())
    );
    sixties || parted || day
}

fn in_list(open: &[Container]) -> bool {
    matches!(open.iter().rev().nth(1), Some(Container::Sequence { .. }))
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_place() {
        let yaml = "version: 1\nid: top\ntools:\n  read.it:\n    args:\n      a: {type: string}\n\
                    rules:\n  - effect: deny\n    id: none\n    tool: x\n  - {id: two, tool: y}\n\
                    list: [a, b]\n";
        let places = Places::read(yaml);
        for (path, place) in [
            ("version", (1, 1)),
            ("id", (2, 1)),
            ("tools.read.it", (4, 3)),
            ("tools.read.it.args.a", (6, 7)),
            ("tools.read.it.args.a.type", (6, 11)),
            ("tools.read.it.args.a.absent", (6, 7)),
            ("rules.none", (9, 9)),
            ("rules.none.effect", (8, 5)),
            ("rules.none.tool", (10, 5)),
            ("rules.two.tool", (11, 15)),
            ("list.1", (12, 11)),
            ("absent", (1, 1)),
        ] {
            assert_eq!(places.of(path), place, "{path}");
        }
    }
}
