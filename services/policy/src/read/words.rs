//! What the reader of YAML says, in the words of somebody who writes a policy.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::PolicyError;

/// The error with its place, and the key that was probably meant.
pub(super) fn syntax(error: &Error) -> PolicyError {
    let error = error.without_snippet();
    let (line, column) = error
        .location()
        .map_or((1, 1), |place| (place.line(), place.column()));
    let (message, suggestion) = match error {
        Error::SerdeUnknownField {
            field, expected, ..
        } => (
            format!("unknown key `{field}`"),
            nearest(field, expected).map(str::to_owned),
        ),
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => (
            format!("`{variant}` is none of: {}", expected.join(", ")),
            nearest(variant, expected).map(str::to_owned),
        ),
        other => (plain(other, line, column), None),
    };
    PolicyError::Syntax {
        line,
        column,
        message,
        suggestion,
    }
}

fn plain(error: &Error, line: u64, column: u64) -> String {
    let words = match error {
        Error::SerdeMissingField { field, .. } => {
            return format!("the key `{field}` is missing");
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            return format!("the key `{key}` is there twice (a duplicate)");
        }
        Error::QuotingRequired { value, .. } => {
            return format!(
                "`{value}` is a number or something else to other readers: write '{value}'"
            );
        }
        Error::Unexpected { expected, .. } if expected.starts_with("sequence") => {
            "a list is wanted, such as [one, two]"
        }
        Error::Unexpected { expected, .. } if expected.starts_with("mapping") => {
            "keys with values are wanted, such as {}"
        }
        Error::Unexpected { expected, .. } if expected.starts_with("string") => {
            "one text is wanted, and neither a list nor keys"
        }
        Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. } => "one word is wanted",
        Error::InvalidBooleanStrict { .. } => "true or false is wanted, and no other word for it",
        Error::InvalidScalar { ty, .. } if ty.starts_with(['i', 'u']) => {
            "a whole number is wanted, in digits alone"
        }
        Error::MergeKeyNotAllowed { .. } => "merge keys are not read: write it out",
        Error::MultipleDocuments { .. } => "one document is read, and another begins here",
        Error::UnknownAnchor { .. } => NO_ANCHORS,
        Error::Eof { .. } => "the file ends before it says anything",
        Error::Budget { breach, .. } => match breach {
            BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. } => NO_ANCHORS,
            BudgetBreach::Documents { .. } => "one document is read, and another begins here",
            BudgetBreach::Depth { .. } => "nested too deep",
            _ => "there is more in it than a policy needs",
        },
        other => {
            // The place stands in front of it already.
            let text = other.to_string();
            let place = format!(" at line {line}, column {column}");
            return text.strip_suffix(&place).unwrap_or(&text).to_owned();
        }
    };
    words.to_owned()
}

const NO_ANCHORS: &str = "anchors and aliases are not read: write it out";

/// Keys of other formats, and what they are called here.
const OTHERWISE: [(&str, &str); 17] = [
    ("arguments", "args"),
    ("parameters", "args"),
    ("params", "args"),
    ("regex", "pattern"),
    ("minimum", "min"),
    ("maximum", "max"),
    ("maxLength", "max_length"),
    ("minLength", "min_length"),
    ("maxItems", "max_items"),
    ("minItems", "min_items"),
    ("identity", "identities"),
    ("hash", "schema_sha256"),
    ("sha256", "schema_sha256"),
    ("countdown", "countdown_seconds"),
    ("ttl", "ttl_seconds"),
    ("action", "effect"),
    ("approve", "require_approval"),
];

/// The known key that was probably meant: by another name, or a few edits away.
fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let otherwise = OTHERWISE.iter().find(|(other, _)| *other == key);
    if let Some((_, name)) = otherwise
        && let Some(name) = known.iter().find(|known| *known == name)
    {
        return Some(name);
    }
    known
        .iter()
        .map(|candidate| (edits(key, candidate), *candidate))
        .filter(|(edits, candidate)| *edits <= 1 + candidate.len() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many insertions, deletions and replacements lead from one key to another.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, character) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (at, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(character != *other);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}
