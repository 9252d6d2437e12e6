//! Arguments: only what was declared, only as it was declared.

use std::collections::BTreeMap;

use countersign_wire::{Type, Value};
use regex::Regex;

use crate::decimal::Decimal;
use crate::file::{ARGUMENTS_MAX, ArgumentType};

/// What is wrong with the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentProblem {
    /// They are not an object.
    NotAnObject,
    /// There are more than [`ARGUMENTS_MAX`].
    TooMany,
    /// One was never declared.
    Undeclared,
    /// A required one is missing.
    Missing,
    /// One has another type.
    WrongType,
    /// A number is out of its range.
    OutOfRange,
    /// A string or an array is too short or too long.
    WrongLength,
    /// A string does not look as declared.
    WrongPattern,
    /// A string is none of the declared ones.
    NotInEnum,
}

impl ArgumentProblem {
    /// The stable code of a refusal.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotAnObject => "arguments_not_an_object",
            Self::TooMany => "too_many_arguments",
            Self::Undeclared => "undeclared_argument",
            Self::Missing => "missing_argument",
            Self::WrongType => "argument_type",
            Self::OutOfRange => "argument_range",
            Self::WrongLength => "argument_length",
            Self::WrongPattern => "argument_pattern",
            Self::NotInEnum => "argument_enum",
        }
    }
}

/// A problem, and the declared argument it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentError<'p> {
    /// What is wrong.
    pub problem: ArgumentProblem,
    /// The argument's declared name; none for what was never declared.
    pub argument: Option<&'p str>,
}

impl From<ArgumentProblem> for ArgumentError<'_> {
    fn from(problem: ArgumentProblem) -> Self {
        Self {
            problem,
            argument: None,
        }
    }
}

/// The declared members of an object, by name.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    specs: BTreeMap<Box<str>, ArgumentSpec>,
    required: usize,
}

/// What one argument may be.
#[derive(Clone, Debug)]
pub struct ArgumentSpec {
    pub(crate) required: bool,
    pub(crate) shape: Shape,
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Text {
        min_length: usize,
        max_length: usize,
        pattern: Option<Regex>,
        one_of: Option<Box<[Box<str>]>>,
    },
    Integer {
        min: i64,
        max: i64,
    },
    Number {
        min: Option<Decimal>,
        max: Option<Decimal>,
    },
    Boolean,
    Array {
        items: Box<ArgumentSpec>,
        min_items: usize,
        max_items: usize,
    },
    Object(Arguments),
}

impl Arguments {
    pub(crate) fn new(specs: BTreeMap<Box<str>, ArgumentSpec>) -> Self {
        let required = specs.values().filter(|spec| spec.required).count();
        Self { specs, required }
    }

    /// What a declared argument may be.
    pub(crate) fn spec(&self, name: &str) -> Option<&ArgumentSpec> {
        self.specs.get(name)
    }

    /// Checks the arguments of a call; a call without any has none.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self, arguments: Option<Value<'_>>) -> Result<(), ArgumentError<'_>> {
        match arguments {
            None if self.required == 0 => Ok(()),
            None => Err(self.missing(None)),
            Some(object) => self.check_object(object, |_| false),
        }
    }

    /// Checks members of an object, passing over those that somebody else judges.
    pub(crate) fn check_object(
        &self,
        object: Value<'_>,
        pass_over: impl Fn(&str) -> bool,
    ) -> Result<(), ArgumentError<'_>> {
        if !object.is_object() {
            return Err(ArgumentProblem::NotAnObject.into());
        }
        let (mut seen, mut required) = (0, 0);
        for (name, value) in object.members() {
            seen += 1;
            if seen > ARGUMENTS_MAX {
                return Err(ArgumentProblem::TooMany.into());
            }
            if pass_over(&name) {
                continue;
            }
            let (name, spec) = self
                .specs
                .get_key_value(&*name)
                .ok_or(ArgumentProblem::Undeclared)?;
            spec.check(value).map_err(|problem| ArgumentError {
                problem,
                argument: Some(name),
            })?;
            required += usize::from(spec.required);
        }
        // The strict reader has seen to it that no name counts twice.
        if required == self.required {
            Ok(())
        } else {
            Err(self.missing(Some(object)))
        }
    }

    /// The error about the first required argument that is not there.
    fn missing(&self, object: Option<Value<'_>>) -> ArgumentError<'_> {
        let given = |name: &str| object.is_some_and(|object| object.get(name).is_some());
        let mut required = self.specs.iter().filter(|(_, spec)| spec.required);
        ArgumentError {
            problem: ArgumentProblem::Missing,
            argument: required
                .find(|(name, _)| !given(name))
                .map(|(name, _)| &**name),
        }
    }
}

impl ArgumentSpec {
    fn check(&self, value: Value<'_>) -> Result<(), ArgumentProblem> {
        match &self.shape {
            Shape::Text {
                min_length,
                max_length,
                pattern,
                one_of,
            } => {
                let text = value.as_str().ok_or(ArgumentProblem::WrongType)?;
                // Bytes are at least as many as characters, and are counted for free.
                let length = || text.chars().count();
                if text.len() < *min_length || length() < *min_length || length() > *max_length {
                    return Err(ArgumentProblem::WrongLength);
                }
                if let Some(one_of) = one_of
                    && !one_of.iter().any(|allowed| **allowed == *text)
                {
                    return Err(ArgumentProblem::NotInEnum);
                }
                match pattern {
                    Some(pattern) if !pattern.is_match(&text) => Err(ArgumentProblem::WrongPattern),
                    _ => Ok(()),
                }
            }
            Shape::Integer { min, max } => {
                if value.kind() != Type::Number {
                    return Err(ArgumentProblem::WrongType);
                }
                let number = value
                    .as_exact_integer()
                    .ok_or(ArgumentProblem::OutOfRange)?;
                in_range((*min..=*max).contains(&number))
            }
            Shape::Number { min, max } => {
                let text = value.as_number_text().ok_or(ArgumentProblem::WrongType)?;
                if min.is_none() && max.is_none() {
                    // The strict reader takes no number that is not finite.
                    return Ok(());
                }
                let number =
                    Decimal::from_json_number(text).map_err(|_| ArgumentProblem::OutOfRange)?;
                in_range(min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max))
            }
            Shape::Boolean => match value.as_bool() {
                Some(_) => Ok(()),
                None => Err(ArgumentProblem::WrongType),
            },
            Shape::Array {
                items,
                min_items,
                max_items,
            } => {
                if value.kind() != Type::Array {
                    return Err(ArgumentProblem::WrongType);
                }
                let length = value.len();
                if length < *min_items || length > *max_items {
                    return Err(ArgumentProblem::WrongLength);
                }
                value
                    .elements()
                    .try_for_each(|element| items.check(element))
            }
            Shape::Object(members) => {
                if !value.is_object() {
                    return Err(ArgumentProblem::WrongType);
                }
                members
                    .check_object(value, |_| false)
                    .map_err(|error| error.problem)
            }
        }
    }
}

const fn in_range(holds: bool) -> Result<(), ArgumentProblem> {
    if holds {
        Ok(())
    } else {
        Err(ArgumentProblem::OutOfRange)
    }
}

impl From<&Shape> for ArgumentType {
    fn from(shape: &Shape) -> Self {
        match shape {
            Shape::Text { .. } => Self::String,
            Shape::Integer { .. } => Self::Integer,
            Shape::Number { .. } => Self::Number,
            Shape::Boolean => Self::Boolean,
            Shape::Array { .. } => Self::Array,
            Shape::Object(_) => Self::Object,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use countersign_wire::{Caps, Document};

    fn check(spec: &str, json: &str) -> Result<(), ArgumentProblem> {
        let yaml = format!(
            "version: 1\nid: t\ndefault: deny\nrequire_pins: false\nservers: {{s: {{}}}}\n\
             tools:\n  tool:\n    args:\n{}",
            spec.lines()
                .map(|line| format!("      {line}\n"))
                .collect::<String>()
        );
        let policy = Policy::load(&yaml).unwrap();
        let document = Document::read(json.as_bytes(), &Caps::MESSAGE).unwrap();
        policy
            .tool("tool")
            .unwrap()
            .arguments
            .check(Some(document.root()))
            .map_err(|error| error.problem)
    }

    #[test]
    fn nothing_undeclared_passes() {
        let spec = "account: {type: string, required: true}";
        assert_eq!(check(spec, r#"{"account":"a"}"#), Ok(()));
        for (json, problem) in [
            (
                r#"{"account":"a","customer_id":"c2"}"#,
                ArgumentProblem::Undeclared,
            ),
            (
                r#"{"account":"a","__proto__":{"amount":5}}"#,
                ArgumentProblem::Undeclared,
            ),
            (
                r#"{"account":"a","Account":"b"}"#,
                ArgumentProblem::Undeclared,
            ),
            (
                r#"{"account":"a","approved":true}"#,
                ArgumentProblem::Undeclared,
            ),
            ("{}", ArgumentProblem::Missing),
            (r#"{"account":null}"#, ArgumentProblem::WrongType),
            (r#"{"account":["a"]}"#, ArgumentProblem::WrongType),
            (r#"{"account":{"a":1}}"#, ArgumentProblem::WrongType),
            (r#"["a"]"#, ArgumentProblem::NotAnObject),
            (r#""a""#, ArgumentProblem::NotAnObject),
        ] {
            assert_eq!(check(spec, json), Err(problem), "{json}");
        }
    }

    #[test]
    fn more_than_thirty_two_arguments_are_refused() {
        let spec: String = (0..32)
            .map(|n| format!("a{n}: {{type: boolean}}\n"))
            .collect();
        let call = |count: usize| {
            let members: Vec<_> = (0..count).map(|n| format!("\"a{n}\":true")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert_eq!(check(&spec, &call(32)), Ok(()));
        assert_eq!(check(&spec, &call(33)), Err(ArgumentProblem::TooMany));
    }

    #[test]
    fn strings_match_as_a_whole() {
        let spec =
            r#"amount: {type: string, pattern: "[0-9]{1,9}([.][0-9]{1,3})?", max_length: 13}"#;
        for good in ["20", "20.00", "0.5"] {
            assert_eq!(
                check(spec, &format!(r#"{{"amount":"{good}"}}"#)),
                Ok(()),
                "{good}"
            );
        }
        for bad in [
            "",
            "+5",
            "5-",
            "(5)",
            "0x10",
            " 5",
            "5 ",
            "-5",
            "5\\n",
            "1,000",
            "1.000,00",
            "NaN",
            "inf",
            "\\u0661\\u0660",
            "\\uff11\\uff10",
            "5.0000",
            "20.00 EUR",
        ] {
            assert_eq!(
                check(spec, &format!(r#"{{"amount":"{bad}"}}"#)),
                Err(ArgumentProblem::WrongPattern),
                "{bad}"
            );
        }
        let long = format!(r#"{{"amount":"{}"}}"#, "1".repeat(14));
        assert_eq!(check(spec, &long), Err(ArgumentProblem::WrongLength));
        let alternatives = r#"a: {type: string, pattern: "a|b"}"#;
        assert_eq!(
            check(alternatives, r#"{"a":"ab"}"#),
            Err(ArgumentProblem::WrongPattern)
        );
    }

    #[test]
    fn a_pattern_that_backtracks_elsewhere_is_linear_here() {
        let spec = r#"a: {type: string, pattern: "(a+)+", max_length: 100000}"#;
        let json = format!(r#"{{"a":"{}!"}}"#, "a".repeat(50_000));
        let start = std::time::Instant::now();
        assert_eq!(check(spec, &json), Err(ArgumentProblem::WrongPattern));
        assert!(start.elapsed().as_secs() < 5);
    }

    #[test]
    fn numbers_are_exact_and_in_range() {
        let spec = "n: {type: integer, min: 1, max: 100}";
        assert_eq!(check(spec, r#"{"n":100}"#), Ok(()));
        for bad in [
            "0",
            "101",
            "1e2",
            "50.0",
            "-0",
            "9223372036854775808",
            "9007199254740993",
        ] {
            assert_eq!(
                check(spec, &format!(r#"{{"n":{bad}}}"#)),
                Err(ArgumentProblem::OutOfRange),
                "{bad}"
            );
        }
        assert_eq!(check(spec, r#"{"n":"5"}"#), Err(ArgumentProblem::WrongType));
        let spec = "n: {type: number, min: 0, max: 1}";
        assert_eq!(check(spec, r#"{"n":0.5}"#), Ok(()));
        assert_eq!(
            check(spec, r#"{"n":1.5}"#),
            Err(ArgumentProblem::OutOfRange)
        );
        // Exactly: a float would round this to one.
        let above = r#"{"n":1.00000000000000001}"#;
        assert_eq!(check(spec, above), Err(ArgumentProblem::OutOfRange));
        assert_eq!(check("n: {type: number}", r#"{"n":1e300}"#), Ok(()));
    }

    #[test]
    fn enums_booleans_arrays_and_objects_have_their_declared_shape() {
        let spec = "op: {type: string, enum: [create, cancel]}\nflag: {type: boolean}\n\
                    lines:\n  type: array\n  min_items: 1\n  max_items: 2\n  items:\n    type: object\n    \
                    properties:\n      payee: {type: string, required: true}";
        assert_eq!(
            check(
                spec,
                r#"{"op":"create","flag":false,"lines":[{"payee":"a"}]}"#
            ),
            Ok(())
        );
        for (json, problem) in [
            (r#"{"op":"Create"}"#, ArgumentProblem::NotInEnum),
            (r#"{"flag":0}"#, ArgumentProblem::WrongType),
            (r#"{"lines":[]}"#, ArgumentProblem::WrongLength),
            (
                r#"{"lines":[{"payee":"a"},{"payee":"a"},{"payee":"a"}]}"#,
                ArgumentProblem::WrongLength,
            ),
            (r#"{"lines":[{}]}"#, ArgumentProblem::Missing),
            (
                r#"{"lines":[{"payee":"a","note":"b"}]}"#,
                ArgumentProblem::Undeclared,
            ),
            (r#"{"lines":["a"]}"#, ArgumentProblem::WrongType),
            (r#"{"lines":{}}"#, ArgumentProblem::WrongType),
        ] {
            assert_eq!(check(spec, json), Err(problem), "{json}");
        }
    }

    #[test]
    fn a_problem_names_the_declared_argument_and_no_other() {
        let yaml = "version: 1\nid: t\ndefault: deny\ntools:\n  t:\n    args:\n\
                    \x20     a: {type: string, required: true}\n\
                    \x20     b: {type: array, required: true, items: {type: string}}\n";
        let policy = Policy::load(yaml).unwrap();
        let arguments = &policy.tool("t").unwrap().arguments;
        let named = |json: &str| {
            let document = Document::read(json.as_bytes(), &Caps::MESSAGE).unwrap();
            let error = arguments.check(Some(document.root())).unwrap_err();
            error.argument.map(str::to_owned)
        };
        assert_eq!(named(r#"{"a":null,"b":[]}"#).as_deref(), Some("a"));
        assert_eq!(named(r#"{"a":"x","b":[1]}"#).as_deref(), Some("b"));
        assert_eq!(named(r#"{"a":"x"}"#).as_deref(), Some("b"));
        assert_eq!(named(r#"{"a":"x","b":[],"words of a client":1}"#), None);
        assert_eq!(arguments.check(None).unwrap_err().argument, Some("a"));
    }
}
