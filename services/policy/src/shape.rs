//! Declared arguments, compiled: everything that could fail at a call fails here.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use regex_syntax::ast;

use crate::arguments::{ArgumentSpec, Arguments, Shape};
use crate::decimal::Decimal;
use crate::file::{ARGUMENTS_MAX, ArgumentFile, ArgumentType};
use crate::read::{PolicyError, meaning};

/// Deepest nesting of declared arrays and objects.
const SHAPE_DEPTH_MAX: usize = 8;
/// Greatest length of a string that declares none, in characters.
const LENGTH_DEFAULT: u32 = 1024;
/// Greatest number of elements of an array that declares none.
const ITEMS_DEFAULT: u32 = 32;
/// Most memory of one compiled pattern, in bytes.
pub(crate) const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Largest integer that a float keeps exactly.
const EXACT_MAX: i64 = (1 << 53) - 1;

/// Compiles the arguments declared at a path of the file.
pub(crate) fn compile(
    path: &str,
    files: &BTreeMap<String, ArgumentFile>,
) -> Result<Arguments, PolicyError> {
    arguments(path, files, SHAPE_DEPTH_MAX)
}

fn arguments(
    path: &str,
    files: &BTreeMap<String, ArgumentFile>,
    depth: usize,
) -> Result<Arguments, PolicyError> {
    if files.len() > ARGUMENTS_MAX {
        return Err(meaning(
            path,
            format!("at most {ARGUMENTS_MAX} arguments can be declared"),
        ));
    }
    let specs = files
        .iter()
        .map(|(name, file)| {
            let spec = spec(&format!("{path}.{name}"), file, depth)?;
            Ok((name.as_str().into(), spec))
        })
        .collect::<Result<_, PolicyError>>()?;
    Ok(Arguments::new(specs))
}

fn spec(path: &str, file: &ArgumentFile, depth: usize) -> Result<ArgumentSpec, PolicyError> {
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| meaning(path, "declared too deep"))?;
    check_keys(path, file)?;
    let shape = match file.kind {
        ArgumentType::String => text(path, file)?,
        ArgumentType::Integer => Shape::Integer {
            min: file.min.unwrap_or(-EXACT_MAX),
            max: file.max.unwrap_or(EXACT_MAX),
        },
        ArgumentType::Number => Shape::Number {
            min: file.min.map(Decimal::from_whole),
            max: file.max.map(Decimal::from_whole),
        },
        ArgumentType::Boolean => Shape::Boolean,
        ArgumentType::Array => Shape::Array {
            items: match &file.items {
                Some(items) => Box::new(spec(&format!("{path}.items"), items, depth)?),
                None => return Err(meaning(path, "an array declares its items")),
            },
            min_items: file.min_items.unwrap_or(0) as usize,
            max_items: file.max_items.unwrap_or(ITEMS_DEFAULT) as usize,
        },
        ArgumentType::Object => Shape::Object(match &file.properties {
            Some(properties) => arguments(&format!("{path}.properties"), properties, depth)?,
            None => return Err(meaning(path, "an object declares its properties")),
        }),
    };
    Ok(ArgumentSpec {
        required: file.required,
        shape,
    })
}

fn text(path: &str, file: &ArgumentFile) -> Result<Shape, PolicyError> {
    let (min_length, max_length) = (
        file.min_length.unwrap_or(0) as usize,
        file.max_length.unwrap_or(LENGTH_DEFAULT) as usize,
    );
    let pattern = (file.pattern.as_deref())
        .map(|text| pattern(path, text))
        .transpose()?;
    let words = file.one_of.as_deref().unwrap_or_default();
    for (at, word) in words.iter().enumerate() {
        let length = word.chars().count();
        let passes = (min_length..=max_length).contains(&length)
            && pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(word));
        let message = if words[..at].contains(word) {
            format!("`{word}` is there twice")
        } else if passes {
            continue;
        } else {
            format!("`{word}` can never pass: the pattern or a length refuses it")
        };
        return Err(meaning(format!("{path}.enum"), message));
    }
    Ok(Shape::Text {
        min_length,
        max_length,
        pattern,
        one_of: (file.one_of.as_ref())
            .map(|words| words.iter().map(|word| word.as_str().into()).collect()),
    })
}

/// Refuses keys that mean nothing for the type, and bounds that nothing satisfies.
fn check_keys(path: &str, file: &ArgumentFile) -> Result<(), PolicyError> {
    use ArgumentType as Type;
    for (key, given, fits) in [
        (
            "min",
            file.min.is_some(),
            matches!(file.kind, Type::Integer | Type::Number),
        ),
        (
            "max",
            file.max.is_some(),
            matches!(file.kind, Type::Integer | Type::Number),
        ),
        (
            "min_length",
            file.min_length.is_some(),
            file.kind == Type::String,
        ),
        (
            "max_length",
            file.max_length.is_some(),
            file.kind == Type::String,
        ),
        ("pattern", file.pattern.is_some(), file.kind == Type::String),
        ("enum", file.one_of.is_some(), file.kind == Type::String),
        ("items", file.items.is_some(), file.kind == Type::Array),
        (
            "min_items",
            file.min_items.is_some(),
            file.kind == Type::Array,
        ),
        (
            "max_items",
            file.max_items.is_some(),
            file.kind == Type::Array,
        ),
        (
            "properties",
            file.properties.is_some(),
            file.kind == Type::Object,
        ),
    ] {
        if given && !fits {
            return Err(meaning(
                format!("{path}.{key}"),
                "means nothing for this type",
            ));
        }
    }
    let exact = |bound: Option<i64>| bound.is_none_or(|bound| bound.abs() <= EXACT_MAX);
    if !exact(file.min) || !exact(file.max) {
        return Err(meaning(path, "a bound is at most 2^53 - 1 away from zero"));
    }
    let crossed = file.min.zip(file.max).is_some_and(|(min, max)| min > max)
        || file.min_length.unwrap_or(0) > file.max_length.unwrap_or(LENGTH_DEFAULT)
        || file.min_items.unwrap_or(0) > file.max_items.unwrap_or(ITEMS_DEFAULT);
    if crossed || file.one_of.as_ref().is_some_and(Vec::is_empty) {
        return Err(meaning(path, "nothing can satisfy it"));
    }
    Ok(())
}

/// Compiles a pattern over the whole value.
pub(crate) fn pattern(path: &str, text: &str) -> Result<Regex, PolicyError> {
    let path = format!("{path}.pattern");
    // On its own first: `a)|(b` must not climb out of what is put around it.
    let parsed = ast::parse::Parser::new()
        .parse(text)
        .map_err(|error| meaning(&*path, format!("no pattern: {}", error.kind())))?;
    ast::visit(&parsed, SamePattern).map_err(|(part, instead)| {
        meaning(
            &*path,
            format!("`{part}` means other things in other engines: write {instead}"),
        )
    })?;
    RegexBuilder::new(&format!(r"\A(?:{text})\z"))
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                meaning(path, "too big once compiled: ask for less at once")
            }
            other => meaning(path, other.to_string()),
        })
}

/// Finds what reaches further here than in most engines: other scripts' digits, letters that fold,
/// borders of words in all scripts.
struct SamePattern;

impl ast::Visitor for SamePattern {
    type Output = ();
    type Err = (String, &'static str);

    fn finish(self) -> Result<(), Self::Err> {
        Ok(())
    }

    fn visit_pre(&mut self, part: &ast::Ast) -> Result<(), Self::Err> {
        match part {
            ast::Ast::ClassPerl(class) => Err(perl(class)),
            ast::Ast::Flags(_) => Err(("(?…)".to_owned(), "what it stands for")),
            ast::Ast::Group(group) => match &group.kind {
                ast::GroupKind::NonCapturing(flags) if !flags.items.is_empty() => {
                    Err(("(?…:".to_owned(), "what it stands for"))
                }
                _ => Ok(()),
            },
            ast::Ast::Assertion(assertion) => match assertion.kind {
                ast::AssertionKind::StartLine
                | ast::AssertionKind::EndLine
                | ast::AssertionKind::StartText
                | ast::AssertionKind::EndText => Ok(()),
                _ => Err((r"\b".to_owned(), "the characters at the border")),
            },
            _ => Ok(()),
        }
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), Self::Err> {
        match item {
            ast::ClassSetItem::Perl(class) => Err(perl(class)),
            _ => Ok(()),
        }
    }
}

fn perl(class: &ast::ClassPerl) -> (String, &'static str) {
    let (part, instead) = match (&class.kind, class.negated) {
        (ast::ClassPerlKind::Digit, false) => (r"\d", "[0-9]"),
        (ast::ClassPerlKind::Digit, true) => (r"\D", "[^0-9]"),
        (ast::ClassPerlKind::Word, false) => (r"\w", "[A-Za-z0-9_]"),
        (ast::ClassPerlKind::Word, true) => (r"\W", "[^A-Za-z0-9_]"),
        (ast::ClassPerlKind::Space, false) => (r"\s", "[ ]"),
        (ast::ClassPerlKind::Space, true) => (r"\S", "[^ ]"),
    };
    (part.to_owned(), instead)
}
