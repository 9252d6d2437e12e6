//! `rules` and `redaction`.

use super::Lint;
use crate::file::{RuleEffect, RuleFile, Way};
use crate::name::Glob;

/// A suppression that lasts longer is as good as one for ever, in seconds.
const SUPPRESSION_SECONDS_MAX: i64 = 366 * 86_400;

pub(super) fn look(lint: &mut Lint<'_>) {
    let file = lint.file;
    for rule in &file.rules {
        look_at(lint, &format!("rules.{}", rule.id), rule);
    }
    let Some(redaction) = &file.redaction else {
        return;
    };
    for (at, suppression) in redaction.suppress.iter().enumerate() {
        let path = format!("redaction.suppress.{at}.expires");
        let Some(expires) = crate::date::unix_seconds(&suppression.expires) else {
            continue;
        };
        if expires <= lint.unix_seconds {
            lint.warn(
                "suppression_over",
                &path,
                "it is over and suppresses nothing: take it out, or look at it again",
            );
        } else if expires - lint.unix_seconds > SUPPRESSION_SECONDS_MAX {
            lint.warn(
                "suppression_long",
                &path,
                "more than a year from now: look at it again sooner",
            );
        }
    }
}

fn look_at(lint: &mut Lint<'_>, path: &str, rule: &RuleFile) {
    let holds = rule.effect == RuleEffect::RequireApproval;
    if let Some(pattern) = &rule.tool {
        look_at_pattern(lint, path, rule, pattern);
    }
    let ways = rule.ways.as_deref().unwrap_or_default();
    if holds && ways == [Way::Elicitation] {
        lint.warn(
            "no_person",
            &format!("{path}.ways"),
            "a question through the client never counts as a person: add `page`",
        );
    }
    if rule.countdown_seconds.is_some() {
        let writes: Vec<_> = tools_of(lint, rule)
            .filter(|name| lint.words.in_name(name))
            .map(str::to_owned)
            .collect();
        if !writes.is_empty() {
            lint.warn(
                "countdown_on_write_tool",
                &format!("{path}.countdown_seconds"),
                format!(
                    "a payment or write tool is released without a person: {}",
                    writes.join(", ")
                ),
            );
        }
    }
}

fn look_at_pattern(lint: &mut Lint<'_>, path: &str, rule: &RuleFile, pattern: &str) {
    let matched = tools_of(lint, rule).count();
    let whole = rule.identities.is_none() && rule.server.is_none();
    let path = format!("{path}.tool");
    if pattern.contains('*') && whole && matched > 0 && matched == lint.file.tools.len() {
        let message = match rule.effect {
            RuleEffect::Deny => "it denies every tool of this policy: nothing passes",
            _ => "it holds every tool of this policy: a person who is always asked stops reading",
        };
        lint.warn("wide_glob", &path, message);
    } else if matched == 0 && rule.effect != RuleEffect::Deny {
        lint.warn("matches_nothing", &path, "no tool of this policy is meant");
    }
}

/// The names of the tools in the file that a rule is about.
fn tools_of<'l>(lint: &'l Lint<'_>, rule: &RuleFile) -> impl Iterator<Item = &'l str> {
    let glob = rule.tool.as_deref().and_then(Glob::new);
    lint.file
        .tools
        .keys()
        .map(String::as_str)
        .filter(move |key| {
            let own = key.split_once("__").map_or(*key, |(_, own)| own);
            glob.as_ref()
                .is_some_and(|glob| glob.matches(key) || glob.matches(own))
        })
}
