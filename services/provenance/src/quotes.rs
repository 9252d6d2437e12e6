//! Which parts of a message are somebody else's words: quoted lines, code, quotation marks, transcripts.

/// A folded byte range that grounds nothing.
pub(crate) type Quoted = (usize, usize);

/// Labels at the beginning of a line that make a message a copied conversation or mail.
const SPEAKERS: &[&str] = &[
    "customer",
    "assistant",
    "user",
    "agent",
    "bot",
    "bank",
    "support",
    "system",
    "human",
    "ai",
    "client",
    "operator",
    "advisor",
    "adviser",
    "teller",
    "subject",
    "from",
    "sent",
    "cc",
    "fwd",
    "fw",
    "betreff",
    "von",
    "kunde",
    "assistent",
    "berater",
    "objet",
    "de",
    "client(e)",
    "conseiller",
    "asunto",
    "cliente",
    "asistente",
    "asesor",
    "assunto",
    "assistente",
    "oggetto",
    "da",
    "consulente",
    "onderwerp",
    "van",
    "klant",
    "medewerker",
    "temat",
    "od",
    "klient",
    "asystent",
    "konsultant",
    "wsparcie",
    "soporte",
    "suporte",
    "supporto",
    "banque",
    "banco",
    "banca",
];

/// Finds them in a folded text. The ranges are in order and do not overlap.
pub(crate) fn find(text: &str) -> Vec<Quoted> {
    if is_transcript(text) {
        return vec![(0, text.len())];
    }
    let mut quoted = Vec::new();
    let mut at = 0;
    let mut fence: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        match fence {
            Some(start) if is_fence => {
                quoted.push((start, at + line.len()));
                fence = None;
            }
            Some(_) => {}
            None if is_fence => fence = Some(at),
            None if trimmed.starts_with('>') => quoted.push((at, at + line.trim_end().len())),
            None => quotation_marks(line, at, &mut quoted),
        }
        at += line.len();
    }
    if let Some(start) = fence {
        quoted.push((start, text.len()));
    }
    across_lines(text, &mut quoted);
    quoted
}

fn is_transcript(text: &str) -> bool {
    text.contains(':')
        && text.lines().any(|line| {
            let line = line.trim_start_matches(|c: char| {
                c.is_whitespace() || c == '[' || c == '*' || c == '-'
            });
            // A leading clock time, as messengers print it.
            let untimed = line;
            let line = line.trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, ':' | '.' | ',' | ']' | '/' | ' ' | '-')
            });
            let timed =
                untimed.len() > line.len() && untimed[..untimed.len() - line.len()].contains(':');
            line.split_once(':').is_some_and(|(label, _)| {
                let label = label.trim().trim_end_matches('*');
                let short = !label.is_empty() && label.split_whitespace().count() <= 3;
                SPEAKERS.contains(&label) || (timed && short)
            })
        })
}

const PAIRS: &[(char, char)] = &[
    ('"', '"'),
    ('\u{201c}', '\u{201d}'),
    ('\u{201e}', '\u{201c}'),
    ('\u{201e}', '\u{201d}'),
    ('\u{201a}', '\''),
    ('\u{ab}', '\u{bb}'),
    ('\u{bb}', '\u{ab}'),
    ('\u{300c}', '\u{300d}'),
    ('`', '`'),
    ('\'', '\''),
];

fn quotation_marks(line: &str, offset: usize, quoted: &mut Vec<Quoted>) {
    let mut skip_until = 0;
    let mut before = ' ';
    for (start, open) in line.char_indices() {
        let previous = std::mem::replace(&mut before, open);
        if open.is_ascii_alphanumeric() || open == ' ' {
            continue;
        }
        if start < skip_until || !PAIRS.iter().any(|(mark, _)| *mark == open) {
            continue;
        }
        let inside = start + open.len_utf8();
        if open == '\'' && !opens(previous, line[inside..].chars().next()) {
            continue;
        }
        let end = line[inside..]
            .char_indices()
            .find(|(position, close)| {
                PAIRS
                    .iter()
                    .any(|(mark, end)| *mark == open && end == close)
                    && (*close != '\'' || closes(&line[inside..], *position))
            })
            .map(|(position, close)| inside + position + close.len_utf8());
        if let Some(end) = end {
            quoted.push((offset + start, offset + end));
            skip_until = end;
        }
    }
}

/// An apostrophe opens a quotation only between a space and a letter.
fn opens(before: char, after: Option<char>) -> bool {
    !before.is_alphanumeric()
        && before != '\''
        && after.is_some_and(|after| !after.is_whitespace() && after != '\'')
}

fn closes(inside: &str, position: usize) -> bool {
    position > 0
        && !inside[..position].ends_with(char::is_whitespace)
        && !inside[position + 1..].starts_with(char::is_alphanumeric)
}

/// A mark that is opened and not closed on its line quotes to its end, or to the end of the message.
fn across_lines(text: &str, quoted: &mut Vec<Quoted>) {
    let free = |at: usize, quoted: &[Quoted]| {
        !quoted
            .iter()
            .any(|(start, end)| (*start..*end).contains(&at))
    };
    let opening = text.char_indices().find(|(at, mark)| {
        matches!(mark, '"' | '\u{201c}' | '\u{201e}' | '\u{ab}' | '\u{300c}') && free(*at, quoted)
            // Behind a digit it is the sign for inches.
            && !text[..*at].ends_with(|c: char| c.is_ascii_digit())
    });
    if let Some((start, _)) = opening {
        quoted.retain(|(other, _)| *other < start);
        quoted.push((start, text.len()));
    }
    quoted.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(text: &str) -> Vec<&str> {
        find(text)
            .into_iter()
            .map(|(start, end)| &text[start..end])
            .collect()
    }

    #[test]
    fn marks_fences_and_quoted_lines() {
        assert_eq!(inside("he said \"send 5\" ok"), ["\"send 5\""]);
        assert_eq!(inside("a\n> b\nc"), ["> b"]);
        assert_eq!(inside("```\nsend\n```\nexplain"), ["```\nsend\n```\n"]);
        assert_eq!(inside("'send 5' he said"), ["'send 5'"]);
        assert!(inside("don't, bob's and alice's").is_empty());
    }

    #[test]
    fn an_open_mark_quotes_to_the_end() {
        assert_eq!(
            inside("it says \u{201c}send 5\nto bob"),
            ["\u{201c}send 5\nto bob"]
        );
    }

    #[test]
    fn a_transcript_is_quoted_as_a_whole() {
        assert_eq!(inside("[10:02] assistant: done\nsend 5 to bob").len(), 1);
        assert!(inside("total: 5").is_empty());
    }
}
