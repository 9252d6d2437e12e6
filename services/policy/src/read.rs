//! The form of the file: YAML read strictly, errors with their place and a suggestion.

mod words;

use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use self::words::syntax;
use crate::file::PolicyFile;

/// Longest policy file, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;

/// Why a policy file is refused. The old policy, if there is one, stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// It is not the YAML of a policy.
    #[error("line {line}, column {column}: {message}{}", hint(suggestion.as_deref()))]
    Syntax {
        /// Counted from one.
        line: u64,
        /// Counted from one.
        column: u64,
        /// What is wrong there.
        message: String,
        /// The key that was probably meant.
        suggestion: Option<String>,
    },
    /// It says something that cannot be decided by.
    #[error("line {line}, column {column}: {path}: {message}")]
    Meaning {
        /// Counted from one.
        line: u64,
        /// Counted from one.
        column: u64,
        /// The keys that lead there.
        path: String,
        /// What is wrong there.
        message: String,
    },
}

impl PolicyError {
    /// The line, counted from one.
    #[must_use]
    pub const fn line(&self) -> u64 {
        match self {
            Self::Syntax { line, .. } | Self::Meaning { line, .. } => *line,
        }
    }

    /// Puts in where its path stands in the file.
    pub(crate) fn at(mut self, place: impl FnOnce(&str) -> (u64, u64)) -> Self {
        if let Self::Meaning {
            line, column, path, ..
        } = &mut self
        {
            (*line, *column) = place(path);
        }
        self
    }
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |key| format!(" (did you mean `{key}`?)"))
}

/// Reads the file's form alone.
pub(crate) fn read(yaml: &str) -> Result<PolicyFile, PolicyError> {
    let whole = |message: &str| {
        Err(PolicyError::Syntax {
            line: 1,
            column: 1,
            message: message.to_owned(),
            suggestion: None,
        })
    };
    if yaml.len() > FILE_BYTES_MAX {
        return whole("the file is longer than a mebibyte");
    }
    if yaml.starts_with('\u{feff}') {
        return whole("the file begins with a byte order mark: take it away");
    }
    if yaml.trim().is_empty() {
        return whole("the file is empty, and what is empty allows nothing");
    }
    if let Some((line, column, character)) = hidden(yaml) {
        let message = match character {
            '\t' => "a tab: write spaces, and \\t in a text with double quotes".to_owned(),
            other => {
                let code = other.escape_unicode();
                format!("`{code}` is not seen, or breaks lines for some readers: take it away")
            }
        };
        return Err(PolicyError::Syntax {
            line,
            column,
            message,
            suggestion: None,
        });
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_events: 200_000,
            max_depth: 64,
            max_documents: 1,
        },
        strict_indentation: true,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        no_schema: true,
    };
    serde_saphyr::from_str_with_options(yaml, options).map_err(|error| syntax(&error))
}

/// Whether a person who looks at a text does not see a character, or sees nothing but a space.
pub(crate) fn is_hidden(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\r'))
        || matches!(character,
            '\u{a0}' | '\u{ad}' | '\u{61c}' | '\u{1680}' | '\u{180e}' | '\u{2000}'..='\u{200f}'
            | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The first character that a person who looks the file over does not see, or that ends a line or a
/// comment for some readers of YAML and not for others.
fn hidden(yaml: &str) -> Option<(u64, u64, char)> {
    if yaml.is_ascii() && !yaml.bytes().any(|byte| is_hidden(char::from(byte))) {
        return None;
    }
    yaml.split('\n').zip(1..).find_map(|(text, line)| {
        let found = text
            .chars()
            .zip(1..)
            .find(|(character, _)| is_hidden(*character));
        found.map(|(character, column)| (line, column, character))
    })
}

/// A refusal of what the file says, at the keys that lead there; [`PolicyError::at`] adds the line.
pub(crate) fn meaning(path: impl Into<String>, message: impl Into<String>) -> PolicyError {
    PolicyError::Meaning {
        line: 1,
        column: 1,
        path: path.into(),
        message: message.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    const GOOD: &str =
        "version: 1\nid: t\ndefault: deny\nservers:\n  s: {}\ntools:\n  read_it: {}\n";

    fn refused(yaml: &str) -> PolicyError {
        match Policy::load(yaml) {
            Ok(_) => panic!("must be refused:\n{yaml}"),
            Err(error) => error,
        }
    }

    #[test]
    fn what_is_not_the_format_is_refused_with_its_place() {
        for (yaml, line, words) in [
            (
                GOOD.replace("default: deny", "default: allow"),
                3,
                "none of: deny",
            ),
            (
                GOOD.replace("default: deny\n", ""),
                5,
                "`default` is missing",
            ),
            (GOOD.replace("id: t", "id: t\nid: u"), 3, "duplicate"),
            (
                GOOD.replace("id: t", "id: t\nmood: enforce"),
                3,
                "unknown key `mood`",
            ),
            (
                GOOD.replace("read_it: {}", "read_it: {}\n  read_it: {}"),
                8,
                "duplicate",
            ),
            (
                GOOD.replace("read_it: {}", "read_it: {arg: {}}"),
                7,
                "unknown key `arg`",
            ),
            (GOOD.replace("id: t", "id: true"), 2, ""),
            (GOOD.replace("id: t", "id: 1e3"), 2, ""),
            (GOOD.replace("version: 1", "version: one"), 1, ""),
            (GOOD.replace("  s: {}", "\ts: {}"), 5, ""),
            (GOOD.replace("id: t", "require_pins: yes\nid: t"), 2, ""),
            (GOOD.replace("  s: {}", "  s: &s {}\n  r: *s"), 5, ""),
            (GOOD.replace("  s: {}", "  s: {<<: {label: x}}"), 5, ""),
            (format!("{GOOD}---\n{GOOD}"), 8, ""),
        ] {
            match refused(&yaml) {
                PolicyError::Syntax {
                    line: found,
                    message,
                    ..
                } => {
                    assert_eq!(found, line, "{yaml}\n{message}");
                    assert!(message.to_lowercase().contains(words), "{yaml}\n{message}");
                }
                error @ PolicyError::Meaning { .. } => panic!("{yaml}\n{error}"),
            }
        }
        assert!(Policy::load("").is_err());
        assert!(Policy::load("default: deny").is_err());
    }

    #[test]
    fn a_misspelt_key_comes_with_a_suggestion() {
        let error = refused(&GOOD.replace("servers:", "server:"));
        assert_eq!(
            error.to_string(),
            "line 4, column 1: unknown key `server` (did you mean `servers`?)"
        );
        let error = refused(&GOOD.replace("default: deny", "default: dney"));
        assert_eq!(
            error.to_string(),
            "line 3, column 10: `dney` is none of: deny (did you mean `deny`?)"
        );
    }

    #[test]
    fn a_rule_that_allows_names_exactly_what_has_an_entry() {
        for rule in [
            "{id: a, effect: allow, tool: '*'}",
            "{id: a, effect: allow, tool: 'read_*'}",
            "{id: a, effect: allow, tool: read_it, server: '*'}",
            "{id: a, effect: allow, tool: read_it, identities: ['*']}",
            "{id: a, effect: allow, tool: absent}",
            "{id: a, effect: allow, method: prompts/get}",
        ] {
            let yaml = format!("{GOOD}rules: [{rule}]\n");
            assert!(
                matches!(refused(&yaml), PolicyError::Meaning { .. }),
                "{rule}"
            );
        }
        let yaml = format!("{GOOD}rules: [{{id: a, effect: allow, tool: read_it}}]\n");
        assert!(Policy::load(&yaml).is_ok());
    }

    #[test]
    fn what_other_readers_take_for_a_number_is_written_in_quotes() {
        let yaml = |value: &str| {
            let tool = format!("read_it: {{args: {{a: {{type: string, enum: [{value}]}}}}}}");
            GOOD.replace("read_it: {}", &tool)
        };
        for value in ["01234567", "0012", "1e3", "12", "0x1f", "true"] {
            assert!(
                matches!(refused(&yaml(value)), PolicyError::Syntax { line: 7, .. }),
                "{value}"
            );
            assert!(
                Policy::load(&yaml(&format!("\"{value}\""))).is_ok(),
                "{value}"
            );
        }
    }
}
