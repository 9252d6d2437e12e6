//! `tools` and `methods`.

use std::collections::HashMap;

use super::check_rate;
use crate::cap::Cap;
use crate::file::PolicyFile;
use crate::load::{Method, Tool};
use crate::name::{Glob, check_name};
use crate::pin::Pin;
use crate::read::{PolicyError, meaning};
use crate::rule::Rule;
use crate::shape;
use crate::words::WriteWords;

/// Tools by server, then by their own names there.
pub(super) type Tools = HashMap<Box<str>, HashMap<Box<str>, Tool>>;

pub(super) fn tools(file: &PolicyFile, words: &WriteWords) -> Result<Tools, PolicyError> {
    let mut tools = Tools::new();
    for (key, tool) in &file.tools {
        let path = format!("tools.{key}");
        if !check_name(key, file.allow_dots) {
            return Err(meaning(path, "a tool is allowed by its exact, plain name"));
        }
        let (server, name) = split(file, &path, key)?;
        check_rate(&format!("{path}.rate_per_minute"), tool.rate_per_minute)?;
        let pin = match &tool.schema_sha256 {
            None => None,
            Some(text) => Some(Pin::from_text(text).map_err(|_| {
                meaning(
                    format!("{path}.schema_sha256"),
                    "64 lower-case hexadecimal digits are wanted",
                )
            })?),
        };
        let arguments = shape::compile(&format!("{path}.args"), &tool.args)?;
        let cap = match &tool.cap {
            None => None,
            Some(cap) => {
                let path = format!("{path}.cap");
                Some(Cap::compile(&path, &path, cap, &arguments)?)
            }
        };
        let compiled = Tool {
            rule: path.into_boxed_str(),
            key: key.as_str().into(),
            pin,
            acknowledged: tool.acknowledged,
            holds_write_word: words.in_name(name),
            rate_per_minute: tool.rate_per_minute,
            arguments,
            cap,
            task: tool.task,
            rules: Box::default(),
        };
        tools
            .entry(server.into())
            .or_default()
            .insert(name.into(), compiled);
    }
    Ok(tools)
}

/// The server and the own name of a tool, from its name in the file.
fn split<'f>(
    file: &'f PolicyFile,
    path: &str,
    key: &'f str,
) -> Result<(&'f str, &'f str), PolicyError> {
    if file.servers.len() <= 1 {
        let server = file.servers.keys().next().map_or("", String::as_str);
        return Ok((server, key));
    }
    let parts = key.split_once("__");
    let parts = parts.filter(|(server, _)| file.servers.contains_key(*server));
    parts.filter(|(_, name)| !name.is_empty()).ok_or_else(|| {
        let names: Vec<_> = file.servers.keys().map(String::as_str).collect();
        let message = format!(
            "with several servers a tool is named SERVER__TOOL; the servers are: {}",
            names.join(", ")
        );
        meaning(path, message)
    })
}

pub(super) fn methods(file: &PolicyFile) -> Result<HashMap<Box<str>, Method>, PolicyError> {
    let mut methods = HashMap::with_capacity(file.methods.len());
    for (name, method) in &file.methods {
        let path = format!("methods.{name}");
        if name == "tools/call" || name.contains('*') || Glob::new(name).is_none() {
            return Err(meaning(
                path,
                "a method besides tools/call is allowed by its exact name",
            ));
        }
        check_rate(&format!("{path}.rate_per_minute"), method.rate_per_minute)?;
        let compiled = Method {
            rule: path.clone().into_boxed_str(),
            rate_per_minute: method.rate_per_minute,
            arguments: shape::compile(&format!("{path}.args"), &method.args)?,
            rules: Box::default(),
        };
        methods.insert(name.as_str().into(), compiled);
    }
    Ok(methods)
}

/// Notes at every tool and method which rules are about it, so that no call looks at the others.
pub(super) fn bind_rules(
    tools: &mut Tools,
    methods: &mut HashMap<Box<str>, Method>,
    rules: &[Rule],
) {
    let about = |is_about: &dyn Fn(&Rule) -> bool| -> Box<[usize]> {
        let rules = rules.iter().enumerate();
        rules
            .filter(|(_, rule)| is_about(rule))
            .map(|(at, _)| at)
            .collect()
    };
    for (server, tools) in tools {
        for (name, tool) in tools {
            tool.rules = about(&|rule| rule.is_about_tool(server, name, &tool.key));
        }
    }
    for (name, method) in methods {
        method.rules = about(&|rule| rule.is_about_method(name));
    }
}
