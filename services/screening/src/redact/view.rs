//! What the rules look at: the characters of a text or a document, each tied to the bytes it came from.
//!
//! A secret is the same secret when it is spelled with escapes, in full-width digits or with a zero-width
//! character inside. So rules never look at bytes but at a *view*: decoded, such characters taken out or
//! replaced by their ASCII form. What a rule finds there is mapped back to a span of the original bytes, and
//! only that span is replaced.

use std::cell::OnceCell;
use std::ops::Range;

use countersign_domain::text::is_hidden;
use countersign_wire::{Document, Span, Type};

use super::blob;
use super::fold::{Folded, fold};
use crate::marks::{self, Mark};

/// Stands between pieces. The strict reader lets no string hold it, and no rule matches across it.
pub(crate) const BREAK: u8 = 0;
/// Shortest JSON number that is looked at, in bytes: no card is shorter.
const NUMBER_LENGTH_MIN: usize = 12;
/// Shortest run of characters that cannot be seen and count as hidden text, tag characters apart.
const HIDDEN_RUN_MIN: usize = 4;

/// What a piece of a view is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A text, or the characters of a string.
    Text,
    /// The name of a member.
    Name,
    /// A number, digits only.
    Number,
}

/// One string, name or number of a document; the whole of a text.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub kind: Kind,
    /// Where it is in the view.
    pub view: Range<usize>,
    /// Where it is in the original, quotes included.
    pub source: Range<usize>,
}

/// A stretch of the view and the bytes it stands for: byte by byte, or all for all.
#[derive(Clone, Copy, Debug)]
struct Segment {
    view: u32,
    view_length: u32,
    source: u32,
    source_length: u32,
}

/// A run of characters that cannot be seen.
#[derive(Clone, Debug)]
pub(crate) struct Hidden {
    /// Where it is in the original.
    pub span: Range<usize>,
    /// Its characters.
    pub characters: Vec<char>,
}

/// The characters of an original, folded.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub text: String,
    pub pieces: Vec<Piece>,
    /// Runs of characters that cannot be seen and that somebody could read a text out of.
    pub hidden: Vec<Hidden>,
    /// Characters that turn the direction of the writing around, as spans of the original.
    pub overrides: Vec<Range<usize>>,
    segments: Vec<Segment>,
    runs: OnceCell<Vec<Range<usize>>>,
    marks: OnceCell<Vec<Mark>>,
}

impl View {
    /// The view of a plain text.
    pub fn of_text(text: &str) -> Self {
        let mut view = Self::with_room(text.len());
        view.push(Kind::Text, text, 0..text.len(), 0, false);
        view
    }

    /// The view of the strings, names and long numbers of a document, or of the part of it in a span.
    pub fn of_document(document: &Document<'_>, scope: &Span) -> Self {
        let mut view = Self::with_room(scope.len());
        for value in document.nodes() {
            let span = value.span();
            if span.start < scope.start || span.end > scope.end {
                continue;
            }
            match value.kind() {
                Type::String => {
                    let kind = if value.is_member_name() {
                        Kind::Name
                    } else {
                        Kind::Text
                    };
                    let inner = &value.raw()[1..span.len() - 1];
                    let first = span.start + 1;
                    view.push(kind, inner, span, first, value.is_escaped());
                }
                Type::Number if span.len() >= NUMBER_LENGTH_MIN => {
                    let raw = value.raw();
                    if raw.bytes().all(|byte| byte.is_ascii_digit()) {
                        let first = span.start;
                        view.push(Kind::Number, raw, span, first, false);
                    }
                }
                _ => {}
            }
        }
        view
    }

    fn with_room(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes + bytes / 8 + 16),
            ..Self::default()
        }
    }

    fn push(&mut self, kind: Kind, raw: &str, source: Range<usize>, first: usize, escaped: bool) {
        let start = self.text.len();
        if raw.is_ascii() && !raw.as_bytes().contains(&b'\\') {
            self.copy(raw, first);
        } else {
            self.unfold(raw, first, escaped);
        }
        self.pieces.push(Piece {
            kind,
            view: start..self.text.len(),
            source,
        });
        self.text.push(char::from(BREAK));
    }

    /// Takes a stretch over as it is.
    fn copy(&mut self, raw: &str, source: usize) {
        if !raw.is_empty() {
            self.segment(raw.len(), source, raw.len());
            self.text.push_str(raw);
        }
    }

    fn segment(&mut self, view_length: usize, source: usize, source_length: usize) {
        self.segments.push(Segment {
            view: self.text.len() as u32,
            view_length: view_length as u32,
            source: source as u32,
            source_length: source_length as u32,
        });
    }

    /// Takes a stretch over character by character: escapes decoded, forms folded, the invisible left out.
    ///
    /// With `escaped` the text is the inside of a JSON string. What is decoded may hold JSON itself, so the
    /// escapes of one more level are decoded too; they only shape the view, never what is written.
    fn unfold(&mut self, raw: &str, first: usize, escaped: bool) {
        let mut plain = 0;
        let mut at = 0;
        let mut run: Option<HiddenRun> = None;
        let mut before = '\0';
        while at < raw.len() {
            let (character, length) = next_character(&raw[at..], escaped);
            let source = first + at..first + at + length;
            let folded = if character.is_ascii() {
                Folded::Same
            } else {
                fold(character)
            };
            if folded == Folded::Nothing {
                if matches!(character, '\u{202D}' | '\u{202E}') {
                    self.overrides.push(source.clone());
                }
                self.copy(&raw[plain..at], first + plain);
                match &mut run {
                    Some(run) if run.hidden.span.end == source.start => {
                        run.extend(source.end, character)
                    }
                    _ => {
                        self.note_hidden(run.take());
                        run = Some(HiddenRun::new(before, character, source));
                    }
                }
                at += length;
                plain = at;
                continue;
            }
            if length == character.len_utf8() && folded == Folded::Same {
                at += length;
            } else {
                self.copy(&raw[plain..at], first + plain);
                let character = match folded {
                    Folded::To(other) => other,
                    _ => character,
                };
                self.segment(character.len_utf8(), source.start, length);
                self.text.push(character);
                at += length;
                plain = at;
            }
            before = character;
        }
        self.copy(&raw[plain..], first + plain);
        self.note_hidden(run);
    }

    fn note_hidden(&mut self, run: Option<HiddenRun>) {
        if let Some(run) = run
            && run.hides()
        {
            self.hidden.push(run.hidden);
        }
    }

    /// The bytes a span of the view stands for.
    pub fn source(&self, span: &Range<usize>) -> Range<usize> {
        let first = self.segment_at(span.start);
        let last = self.segment_at(span.end.saturating_sub(1));
        let start = match first {
            Some(segment) if segment.is_copied() => {
                segment.source as usize + (span.start - segment.view as usize)
            }
            Some(segment) => segment.source as usize,
            None => 0,
        };
        let end = match last {
            Some(segment) if segment.is_copied() => {
                segment.source as usize + (span.end - segment.view as usize)
            }
            Some(segment) => (segment.source + segment.source_length) as usize,
            None => start,
        };
        start..end
    }

    /// The runs of base64 characters in it; both kinds of screening look into them.
    pub fn runs(&self) -> &[Range<usize>] {
        self.runs.get_or_init(|| blob::runs(self.text.as_bytes()))
    }

    /// The marks of both kinds of screening in it.
    pub fn marks(&self) -> &[Mark] {
        self.marks.get_or_init(|| marks::all(&self.text))
    }

    fn segment_at(&self, view: usize) -> Option<Segment> {
        let after = self
            .segments
            .partition_point(|segment| segment.view as usize <= view);
        self.segments.get(after.checked_sub(1)?).copied()
    }
}

/// Neighbouring characters that cannot be seen.
struct HiddenRun {
    hidden: Hidden,
    behind_flag: bool,
}

impl HiddenRun {
    fn new(before: char, character: char, span: Range<usize>) -> Self {
        Self {
            hidden: Hidden {
                span,
                characters: vec![character],
            },
            behind_flag: before == '\u{1F3F4}',
        }
    }

    fn extend(&mut self, end: usize, character: char) {
        self.hidden.span.end = end;
        self.hidden.characters.push(character);
    }

    /// Whether somebody could read a text out of it.
    fn hides(&self) -> bool {
        let characters = self.hidden.characters.len();
        let tags = self
            .hidden
            .characters
            .iter()
            .filter(|c| is_tag(**c))
            .count();
        // Up to six tags and an end mark behind a black flag draw the flags of England and its like.
        let draws_a_flag = self.behind_flag && tags <= 7 && tags == characters;
        (tags > 0 && !draws_a_flag) || characters >= HIDDEN_RUN_MIN + tags
    }
}

const fn is_tag(character: char) -> bool {
    matches!(character, '\u{E0000}'..='\u{E007F}')
}

impl Segment {
    const fn is_copied(&self) -> bool {
        self.view_length == self.source_length
    }
}

/// The character at the front, and how many bytes spell it.
fn next_character(raw: &str, escaped: bool) -> (char, usize) {
    let Some(first) = raw.chars().next() else {
        return ('\0', 1);
    };
    if first != '\\' {
        return (first, first.len_utf8());
    }
    if !escaped {
        return escape(raw, 1).unwrap_or((first, 1));
    }
    match escape(raw, 1) {
        // A backslash that was spelled as an escape may begin an escape of the level below.
        Some(('\\', 2)) => escape(&raw[2..], 0).map_or(('\\', 2), |(c, length)| (c, length + 2)),
        Some(decoded) => decoded,
        None => (first, 1),
    }
}

/// The character of an escape and its length in bytes; `lead` is how many backslashes stand in front.
///
/// On the level below only `\u` and line ends are read: `\b` is more often a path than a backspace.
fn escape(raw: &str, lead: usize) -> Option<(char, usize)> {
    let bytes = raw.as_bytes();
    let simple = |character| Some((character, lead + 1));
    match bytes.get(lead)? {
        b'"' if lead == 1 => simple('"'),
        b'\\' if lead == 1 => simple('\\'),
        b'/' => simple('/'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'b' if lead == 1 => simple('\u{8}'),
        b'f' if lead == 1 => simple('\u{c}'),
        b'u' => {
            let unit = unit(bytes.get(lead + 1..lead + 5)?)?;
            if !(0xd800..0xdc00).contains(&unit) {
                return Some((char::from_u32(unit).filter(|c| *c != '\0')?, lead + 5));
            }
            // The second half has as many backslashes as the first.
            let mark = if lead == 1 { 1 } else { 2 };
            let from = lead + 5 + mark;
            (bytes.get(from) == Some(&b'u')).then_some(())?;
            let low = self::unit(bytes.get(from + 1..from + 5)?)?;
            let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
            let code = 0x1_0000 + ((unit - 0xd800) << 10) + low;
            Some((char::from_u32(code)?, from + 5))
        }
        _ => None,
    }
}

fn unit(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| {
        Some((value << 4) | char::from(*digit).to_digit(16)?)
    })
}

/// Whether a character of a decoded text cannot be seen, line ends and tabs apart.
pub(crate) fn is_invisible(character: char) -> bool {
    !character.is_ascii() && (is_hidden(character) || character == '\u{2800}')
}
