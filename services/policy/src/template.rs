//! Texts with `${NAME}` in them, filled from the environment. What was filled in is never shown.

use std::fmt;

use zeroize::Zeroizing;

use crate::read::{PolicyError, meaning};

/// What a variable holds; none when there is no such variable.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// A text of the policy as it is written, its variables not filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// Where it stands.
    path: Box<str>,
    written: Box<str>,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Box<str>),
    Variable(Box<str>),
}

/// A text with its variables filled in. Shown, it is the text as written in the policy.
#[derive(Clone)]
pub struct Filled {
    written: Box<str>,
    text: Zeroizing<String>,
}

impl Template {
    /// Reads a text that stands at a path of the file.
    pub fn read(path: &str, written: &str) -> Result<Self, PolicyError> {
        let mut parts = Vec::new();
        let mut rest = written;
        while let Some(at) = rest.find("${") {
            let (before, after) = rest.split_at(at);
            let name = &after[2..];
            if let Some(before) = before.strip_suffix('$') {
                parts.push(Part::Text(format!("{before}${{").into()));
                rest = name;
                continue;
            }
            let name = match name.split_once('}') {
                Some((variable, after)) if is_name(variable) => {
                    rest = after;
                    variable
                }
                _ => {
                    let message = "a variable is written ${NAME}; a plain `${` is written `$${`";
                    return Err(meaning(path, message));
                }
            };
            parts.push(Part::Text(before.into()));
            parts.push(Part::Variable(name.into()));
        }
        parts.push(Part::Text(rest.into()));
        if written.contains('\0') {
            return Err(meaning(path, "it holds a NUL"));
        }
        Ok(Self {
            path: path.into(),
            written: written.into(),
            parts,
        })
    }

    /// Whether anything is to be filled in.
    pub fn has_variables(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Variable(_)))
    }

    /// Fills the variables in.
    pub fn fill(&self, environment: Environment<'_>) -> Result<Filled, PolicyError> {
        let mut text = Zeroizing::new(String::new());
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Variable(name) => {
                    let value = environment(name).map(Zeroizing::new).ok_or_else(|| {
                        let message = format!("the environment has no variable {name}: set it");
                        meaning(&*self.path, message)
                    })?;
                    // A header or an argument with one of these is read as two by somebody.
                    if value.contains(['\0', '\r', '\n']) {
                        let message = format!("the variable {name} holds a line break or a NUL");
                        return Err(meaning(&*self.path, message));
                    }
                    text.push_str(&value);
                }
            }
        }
        Ok(Filled {
            written: self.written.clone(),
            text,
        })
    }
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(plain)
        && name
            .bytes()
            .next()
            .is_some_and(|first| !first.is_ascii_digit())
}

impl Filled {
    /// The text itself. It may be a secret.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Filled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.written, formatter)
    }
}

impl fmt::Display for Filled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        match name {
            "TOKEN" => Some("hunter2".into()),
            "LINES" => Some("a\nb".into()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_filled_in_and_never_shown() {
        for (written, filled) in [
            ("Bearer ${TOKEN}", "Bearer hunter2"),
            ("${TOKEN}${TOKEN}", "hunter2hunter2"),
            ("$${TOKEN} costs $5", "${TOKEN} costs $5"),
            ("plain", "plain"),
            ("", ""),
        ] {
            let template = Template::read("p", written).unwrap();
            let text = template.fill(&environment).unwrap();
            assert_eq!(text.expose(), filled);
            assert_eq!(text.to_string(), written);
            assert!(!format!("{text:?}").contains("hunter2"));
        }
    }

    #[test]
    fn a_variable_that_is_missing_is_named() {
        let template = Template::read("servers.s.url", "${TOKEN}${ABSENT}").unwrap();
        let error = template.fill(&environment).unwrap_err().to_string();
        assert!(error.contains("ABSENT"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
        let template = Template::read("p", "${LINES}").unwrap();
        assert!(template.fill(&environment).is_err());
    }

    #[test]
    fn what_is_no_variable_is_refused() {
        for written in ["${", "${}", "${a b}", "${A", "${1A}", "${A:-b}", "a\0b"] {
            assert!(Template::read("p", written).is_err(), "{written}");
        }
    }
}
