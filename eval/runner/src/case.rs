//! A file of conversations: who there is, what they type, what a hostile or an honest model does, and what may
//! and must come of it.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::Value;

/// The version of the format that this reads.
const FORMAT_VERSION: u32 = 1;

/// One file.
#[derive(Debug, Deserialize)]
pub struct CaseFile {
    version: u32,
    /// The people, by name.
    #[serde(default)]
    cast: BTreeMap<String, Value>,
    /// The conversations.
    pub cases: Vec<Case>,
    /// `about` and `words`, for people.
    #[serde(flatten)]
    _prose: BTreeMap<String, Value>,
}

/// One person of the cast.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Person {
    /// Language of their page.
    #[serde(default = "english")]
    pub locale: String,
    /// Label to balance, such as `1240.50 EUR`.
    #[serde(default)]
    pub accounts: BTreeMap<String, String>,
    /// Names of saved payees.
    #[serde(default)]
    pub payees: Vec<String>,
    /// Accounts of saved payees that must be certain ones, by name.
    #[serde(default)]
    pub payee_accounts: BTreeMap<String, String>,
    /// The inbox: title to text.
    #[serde(default)]
    pub documents: BTreeMap<String, String>,
    /// Kind to last four digits.
    #[serde(default)]
    pub cards: BTreeMap<String, String>,
    /// Name to `850.00 EUR monthly to Landlord on day 1`.
    #[serde(default)]
    pub standing_orders: BTreeMap<String, String>,
    /// Label to `64.10 EUR at Nordwind`, `200.00 EUR to Bob` or `10.00 EUR from Tom: for the hotel`.
    #[serde(default)]
    pub transactions: BTreeMap<String, String>,
    /// Limit to money.
    #[serde(default)]
    pub limits: BTreeMap<String, String>,
}

fn english() -> String {
    "en".to_owned()
}

fn unnamed_kind() -> String {
    "unnamed".to_owned()
}

fn first_turn() -> usize {
    1
}

/// Texts in a list, or one text; `a: b` without quotation marks is the text it looks like, and so is a number.
fn texts<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Vec<String>, D::Error> {
    fn text(value: Value) -> String {
        match value {
            Value::String(text) => text,
            Value::Object(fields) => {
                let parts = fields
                    .into_iter()
                    .map(|(key, value)| format!("{key}: {}", text(value)));
                parts.collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        }
    }
    Ok(match Value::deserialize(reader)? {
        Value::Null => Vec::new(),
        Value::Array(items) => items.into_iter().map(text).collect(),
        one => vec![text(one)],
    })
}

/// One conversation.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// Its id, unique in all files of a run.
    pub id: String,
    /// What it is about, in a line.
    #[serde(default)]
    pub title: String,
    /// The family of attacks, or `ordinary`.
    #[serde(default = "unnamed_kind")]
    pub kind: String,
    /// Items of the OWASP lists that it exercises, such as `LLM01:2026`.
    #[serde(default, deserialize_with = "texts")]
    pub owasp: Vec<String>,
    /// MITRE ATLAS techniques, such as `AML.T0051`.
    #[serde(default, deserialize_with = "texts")]
    pub atlas: Vec<String>,
    /// The customer's language.
    #[serde(default = "english")]
    pub language: String,
    /// Who wrote it, where that matters: `outsider` saw only the tools and the panel.
    #[serde(default)]
    pub writer: Option<String>,
    /// What outsiders have written before it begins.
    #[serde(default)]
    pub planted: Vec<Plant>,
    /// What is typed, in order.
    pub turns: Vec<Entry>,
    /// What a fooled model or a hostile agent does.
    #[serde(default)]
    pub hostile_model: Vec<Step>,
    /// What a competent model does.
    #[serde(default)]
    pub honest_model: Vec<Step>,
    /// What is done on the panel.
    #[serde(default)]
    pub customer_on_panel: Vec<Act>,
    /// Never true.
    #[serde(default, deserialize_with = "texts")]
    pub forbidden: Vec<String>,
    /// True at the end.
    #[serde(default, deserialize_with = "texts")]
    pub required: Vec<String>,
    /// For people; it may name a payee that the cast lacks.
    #[serde(default)]
    pub notes: Option<String>,
    /// Fields this does not know: named in the report, never passed over in silence.
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

/// Something an outsider wrote.
#[derive(Clone, Debug, Deserialize)]
pub struct Plant {
    /// Into which place.
    #[serde(rename = "where")]
    pub place: String,
    /// The text.
    #[serde(default)]
    pub text: String,
    /// Whose data it lies in; the first speaker's when left out.
    #[serde(default, rename = "for")]
    pub person: Option<String>,
}

/// An entry of the conversation.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Typed {
    Text(String),
    Said {
        #[serde(default, rename = "as")]
        person: Option<String>,
        #[serde(default)]
        session: Option<u32>,
        #[serde(alias = "text", alias = "message", alias = "types")]
        says: String,
        /// Parts of it that were pasted.
        #[serde(default)]
        pasted: Vec<String>,
    },
}

/// What one person typed in one conversation of theirs.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Typed")]
pub struct Entry {
    /// Who; `ilse` unless it says so.
    pub person: String,
    /// In which of the case's conversations.
    pub session: u32,
    /// The words.
    pub says: String,
    /// Parts of them that were pasted.
    pub pasted: Vec<String>,
}

impl From<Typed> for Entry {
    fn from(typed: Typed) -> Self {
        match typed {
            Typed::Text(says) => Self {
                person: "ilse".to_owned(),
                session: 1,
                says,
                pasted: Vec::new(),
            },
            Typed::Said {
                person,
                session,
                says,
                pasted,
            } => Self {
                person: person.unwrap_or_else(|| "ilse".to_owned()),
                session: session.unwrap_or(1),
                says,
                pasted,
            },
        }
    }
}

/// One thing a model does.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Step {
    /// After which entry, counted from 1.
    #[serde(default = "first_turn")]
    pub after_turn: usize,
    /// A tool, by meaning.
    #[serde(default)]
    pub tool: Option<String>,
    /// Its arguments, by meaning.
    #[serde(default)]
    pub arguments: Option<Value>,
    /// Words to the customer.
    #[serde(default)]
    pub reply: Option<String>,
    /// A request outside the tools, in words.
    #[serde(default)]
    pub raw: Option<String>,
    /// How often.
    #[serde(default)]
    pub repeat: Option<usize>,
    /// Every other time this.
    #[serde(default)]
    pub alternate_with: Option<Value>,
    /// The reply comes in pieces, cut at this mark.
    #[serde(default)]
    pub cut_at: Option<String>,
}

/// One thing the customer does on the panel.
#[derive(Clone, Debug, Deserialize)]
pub struct Act {
    /// After which entry, counted from 1.
    #[serde(default = "first_turn")]
    pub after_turn: usize,
    /// What.
    pub act: String,
    /// With what.
    #[serde(default)]
    pub value: Option<Value>,
    /// In which tab.
    #[serde(default)]
    pub tab: Option<String>,
    /// As whom.
    #[serde(default, rename = "as")]
    pub person: Option<String>,
}

impl Act {
    /// The value as text.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }
}

impl CaseFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is not in this format; the message says where.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("read {}", path.display()))
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// When it is not in this format.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let file: Self = serde_saphyr::from_str(text)?;
        ensure!(
            file.version == FORMAT_VERSION,
            "format version {} is not {FORMAT_VERSION}",
            file.version
        );
        for case in &file.cases {
            ensure!(!case.turns.is_empty(), "{} has no turns", case.id);
            let steps = case.hostile_model.iter().chain(&case.honest_model);
            let last = steps
                .map(|step| step.after_turn)
                .chain(case.customer_on_panel.iter().map(|act| act.after_turn))
                .max();
            ensure!(
                last.unwrap_or(1) <= case.turns.len(),
                "{} does something after turn {}, and has {} turns",
                case.id,
                last.unwrap_or_default(),
                case.turns.len()
            );
        }
        Ok(file)
    }

    /// The cast's people.
    ///
    /// # Errors
    /// When an entry is no person.
    pub fn people(&self) -> anyhow::Result<BTreeMap<String, Person>> {
        self.cast
            .iter()
            .filter(|(name, _)| *name != "about")
            .map(|(name, person)| {
                let person = serde_json::from_value(person.clone())
                    .with_context(|| format!("read {name} of the cast"))?;
                Ok((name.clone(), person))
            })
            .collect()
    }
}

impl Case {
    /// Whether it shows an ordinary customer.
    #[must_use]
    pub fn is_ordinary(&self) -> bool {
        self.kind == "ordinary"
    }

    /// Everybody who types or acts in it.
    #[must_use]
    pub fn speakers(&self) -> Vec<String> {
        let mut speakers: Vec<String> = Vec::new();
        for entry in &self.turns {
            if !speakers.contains(&entry.person) {
                speakers.push(entry.person.clone());
            }
        }
        speakers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
version: 1
about: {turns: words}
cast:
  about: words
  ilse: {locale: en, accounts: {current: "10.00 EUR"}, payees: [Bob]}
cases:
  - id: T-1
    title: a title
    kind: ordinary
    turns: [hello, {as: kabir, session: 2, says: hi}]
    customer_on_panel: [{after_turn: 2, act: wait, value: 3}]
"#;

    #[test]
    fn a_plain_string_is_typed_by_ilse_in_the_first_session() {
        let file = CaseFile::parse(SMALL).unwrap();
        let case = &file.cases[0];
        assert_eq!(
            (case.turns[0].person.as_str(), case.turns[0].session),
            ("ilse", 1)
        );
        assert_eq!(
            (case.turns[1].person.as_str(), case.turns[1].session),
            ("kabir", 2)
        );
        assert_eq!(case.customer_on_panel[0].text(), "3");
        assert_eq!(file.people().unwrap()["ilse"].payees, ["Bob"]);
    }

    #[test]
    fn a_step_after_a_turn_that_is_not_there_is_an_error() {
        let text = SMALL.replace("after_turn: 2", "after_turn: 3");
        let error = CaseFile::parse(&text).unwrap_err().to_string();
        assert!(error.contains("after turn 3"), "{error}");
    }

    #[test]
    fn a_line_without_its_quotation_marks_is_still_a_line() {
        let text = SMALL.replace(
            "kind: ordinary",
            "forbidden: [any entry, reply contains: 5]\n    required: no pending",
        );
        let case = &CaseFile::parse(&text).unwrap().cases[0];
        assert_eq!(case.forbidden, ["any entry", "reply contains: 5"]);
        assert_eq!(
            (case.required.as_slice(), case.kind.as_str()),
            (&["no pending".to_owned()][..], "unnamed")
        );
    }

    #[test]
    fn an_unknown_field_is_kept_for_the_report() {
        let text = SMALL.replace("kind: ordinary", "kind: ordinary\n    weather: fine");
        let file = CaseFile::parse(&text).unwrap();
        assert!(file.cases[0].unknown.contains_key("weather"));
    }
}
