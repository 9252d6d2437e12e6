//! `args`.

use std::collections::BTreeMap;

use regex_syntax::ast;

use super::Lint;
use crate::file::{ArgumentFile, ArgumentType};

pub(super) fn look(
    lint: &mut Lint<'_>,
    path: &str,
    arguments: &BTreeMap<String, ArgumentFile>,
    writes: bool,
) {
    for (name, argument) in arguments {
        look_at(lint, &format!("{path}.{name}"), argument, writes);
    }
}

fn look_at(lint: &mut Lint<'_>, path: &str, argument: &ArgumentFile, writes: bool) {
    match argument.kind {
        ArgumentType::String => text(lint, path, argument, writes),
        ArgumentType::Integer | ArgumentType::Number => {
            if writes && (argument.min.is_none() || argument.max.is_none()) {
                lint.warn(
                    "no_bounds",
                    path,
                    "a number of a payment or write tool without `min` and `max`",
                );
            }
        }
        ArgumentType::Boolean => {}
        ArgumentType::Array => {
            if let Some(items) = &argument.items {
                look_at(lint, &format!("{path}.items"), items, writes);
            }
        }
        ArgumentType::Object => match &argument.properties {
            Some(properties) if properties.is_empty() => lint.warn(
                "empty_object",
                path,
                "an object without members: each one is refused",
            ),
            Some(properties) => look(lint, &format!("{path}.properties"), properties, writes),
            None => {}
        },
    }
}

fn text(lint: &mut Lint<'_>, path: &str, argument: &ArgumentFile, writes: bool) {
    if argument.max_length.is_none() && argument.one_of.is_none() {
        lint.warn(
            "no_max_length",
            path,
            "a string without `max_length` may have 1024 characters: say how many it needs",
        );
    }
    let Some(pattern) = &argument.pattern else {
        if writes && argument.one_of.is_none() {
            lint.warn(
                "free_text",
                path,
                "free text in a payment or write tool: give it a `pattern` or an `enum`",
            );
        }
        return;
    };
    let path = format!("{path}.pattern");
    let Ok(parsed) = ast::parse::Parser::new().parse(pattern) else {
        return;
    };
    let Ok(seen) = ast::visit(&parsed, Seen::default());
    if seen.anchor {
        lint.warn(
            "needless_anchors",
            &path,
            "a pattern is about the whole value already: `^` and `$` say nothing more",
        );
    }
    if seen.anything {
        lint.warn(
            "matches_anything",
            &path,
            "`.` stands for any character, invisible ones too: name the characters",
        );
    }
}

/// What is in a pattern.
#[derive(Default)]
struct Seen {
    anchor: bool,
    anything: bool,
}

impl ast::Visitor for Seen {
    type Output = Self;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<Self, Self::Err> {
        Ok(self)
    }

    fn visit_pre(&mut self, part: &ast::Ast) -> Result<(), Self::Err> {
        match part {
            ast::Ast::Assertion(_) => self.anchor = true,
            ast::Ast::Dot(_) => self.anything = true,
            ast::Ast::ClassBracketed(class) => self.anything |= class.negated,
            _ => {}
        }
        Ok(())
    }
}
