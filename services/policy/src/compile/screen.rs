//! `redaction` and `injection`.

use std::collections::BTreeSet;

use regex::RegexBuilder;

use crate::file::{BuiltInRule, CustomRuleFile, PolicyFile, RedactionFile, SuppressionFile};
use crate::read::{PolicyError, meaning};
use crate::screen::{CustomRule, Injection, Redaction, Screening, Suppression};
use crate::shape::PATTERN_BYTES_MAX;

/// Most rules of a policy's own.
const CUSTOM_MAX: usize = 32;
/// Longest name of one of them, in bytes.
const NAME_BYTES_MAX: usize = 40;

pub(super) fn compile(file: &PolicyFile) -> Result<Screening, PolicyError> {
    let injection = file
        .injection
        .as_ref()
        .map_or_else(Injection::default, |file| Injection {
            results: file.results,
            definitions: file.definitions,
        });
    let redaction = file.redaction.as_ref();
    Ok(Screening {
        redaction: redaction
            .map(|redaction| compile_redaction(file, redaction))
            .transpose()?,
        injection,
    })
}

fn compile_redaction(
    file: &PolicyFile,
    redaction: &RedactionFile,
) -> Result<Redaction, PolicyError> {
    let built_in: BTreeSet<BuiltInRule> = match &redaction.rules {
        Some(rules) => rules.iter().chain(&redaction.also).copied().collect(),
        None => BuiltInRule::ALL
            .into_iter()
            .filter(|rule| !rule.is_opt_in())
            .chain(redaction.also.iter().copied())
            .collect(),
    };
    if redaction.custom.len() > CUSTOM_MAX {
        let message = format!("at most {CUSTOM_MAX} rules of your own are read");
        return Err(meaning("redaction.custom", message));
    }
    let mut names: BTreeSet<&str> = BuiltInRule::ALL.iter().map(|rule| rule.name()).collect();
    let mut custom = Vec::with_capacity(redaction.custom.len());
    for (at, rule) in redaction.custom.iter().enumerate() {
        if !names.insert(&rule.id) {
            let message = format!("another rule has the id `{}`", rule.id);
            return Err(meaning(format!("redaction.custom.{at}.id"), message));
        }
        custom.push(compile_custom(rule)?);
    }
    if built_in.is_empty() && custom.is_empty() {
        return Err(meaning(
            "redaction",
            "no rule applies: name one, or leave it out",
        ));
    }
    let suppressions = redaction.suppress.iter().enumerate();
    Ok(Redaction {
        results: redaction.results,
        arguments: redaction.arguments,
        suppressions: suppressions
            .map(|(at, suppression)| suppress(file, &names, at, suppression))
            .collect::<Result<_, _>>()?,
        built_in: built_in.into_iter().collect(),
        custom,
    })
}

fn compile_custom(rule: &CustomRuleFile) -> Result<CustomRule, PolicyError> {
    let path = format!("redaction.custom.{}", rule.id);
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if rule.id.is_empty() || rule.id.len() > NAME_BYTES_MAX || !rule.id.bytes().all(plain) {
        let message = format!("a-z, 0-9 and '_' are allowed, {NAME_BYTES_MAX} at most");
        return Err(meaning(path, message));
    }
    let path = format!("{path}.pattern");
    let pattern = RegexBuilder::new(&rule.pattern)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| meaning(&*path, error.to_string()))?;
    if pattern.is_match("") {
        return Err(meaning(
            path,
            "it finds the empty text, which is everywhere",
        ));
    }
    Ok(CustomRule {
        id: rule.id.as_str().into(),
        pattern: rule.pattern.as_str().into(),
    })
}

fn suppress(
    file: &PolicyFile,
    names: &BTreeSet<&str>,
    at: usize,
    suppression: &SuppressionFile,
) -> Result<Suppression, PolicyError> {
    let path = |key: &str| format!("redaction.suppress.{at}.{key}");
    if !file.servers.contains_key(&suppression.server) {
        return Err(meaning(path("server"), "the policy names no such server"));
    }
    if !names.contains(&*suppression.rule) {
        return Err(meaning(path("rule"), "there is no such redaction rule"));
    }
    if suppression.reason.trim().is_empty() {
        return Err(meaning(
            path("reason"),
            "say why, for whoever reads it next",
        ));
    }
    let expires_unix_seconds = crate::date::unix_seconds(&suppression.expires)
        .ok_or_else(|| meaning(path("expires"), "a day is wanted, as YYYY-MM-DD"))?;
    Ok(Suppression {
        server: suppression.server.as_str().into(),
        rule: suppression.rule.as_str().into(),
        reason: suppression.reason.as_str().into(),
        expires_unix_seconds,
    })
}
