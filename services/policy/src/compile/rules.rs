//! `rules`.

use std::collections::{BTreeSet, HashMap};

use super::servers::check_ttl;
use super::tools::Tools;
use super::{check_plain, check_rate};
use crate::cap::Cap;
use crate::file::{PolicyFile, RuleEffect, RuleFile, Way};
use crate::load::Method;
use crate::name::Glob;
use crate::read::{PolicyError, meaning};
use crate::rule::{Effect, HoldTerms, Identity, Rule, Target};

/// Names of built-in checks, which refusals give in place of a rule.
const RESERVED: [&str; 7] = [
    "default",
    "name",
    "server",
    "write_words",
    "frame",
    "headers",
    "pin",
];

pub(super) fn compile(
    file: &PolicyFile,
    tools: &Tools,
    methods: &HashMap<Box<str>, Method>,
) -> Result<Vec<Rule>, PolicyError> {
    let mut rules: Vec<Rule> = Vec::with_capacity(file.rules.len());
    let mut ids = BTreeSet::new();
    for (at, rule) in file.rules.iter().enumerate() {
        let path = format!("rules.{}", rule.id);
        check_plain(&path, &rule.id)?;
        let is_path = ["tools.", "methods."]
            .iter()
            .any(|start| rule.id.starts_with(start));
        if RESERVED.contains(&&*rule.id) || is_path {
            return Err(meaning(path, "a built-in check has this name"));
        }
        if !ids.insert(rule.id.as_str()) {
            let message = format!("two rules have the id `{}`", rule.id);
            return Err(meaning(format!("rules.{at}.id"), message));
        }
        let compiled = compile_rule(file, &path, rule, tools, methods)?;
        let same = rules.iter().find(|other| says_the_same(other, &compiled));
        if let Some(other) = same {
            return Err(meaning(path, format!("rule `{}` says the same", other.id)));
        }
        rules.push(compiled);
    }
    rules.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(rules)
}

fn says_the_same(one: &Rule, other: &Rule) -> bool {
    std::mem::discriminant(&one.effect) == std::mem::discriminant(&other.effect)
        && one.target == other.target
        && one.server == other.server
        && one.identities == other.identities
}

fn compile_rule(
    file: &PolicyFile,
    path: &str,
    rule: &RuleFile,
    tools: &Tools,
    methods: &HashMap<Box<str>, Method>,
) -> Result<Rule, PolicyError> {
    check_keys(path, rule)?;
    let exact = rule.effect == RuleEffect::Allow;
    let glob = |key: &str, pattern: &str| -> Result<Glob, PolicyError> {
        if exact && pattern.contains('*') {
            let message = "a rule that allows names exactly; `*` only denies or holds";
            return Err(meaning(format!("{path}.{key}"), message));
        }
        Glob::new(pattern).ok_or_else(|| {
            let message = "the pattern is not one of names and '*'";
            meaning(format!("{path}.{key}"), message)
        })
    };
    let target = match (&rule.tool, &rule.method) {
        (Some(tool), None) => Target::Tool(glob("tool", tool)?),
        (None, Some(method)) => Target::Method(glob("method", method)?),
        _ => return Err(meaning(path, "a rule is about a tool or about a method")),
    };
    let server = rule.server.as_deref();
    let server = server.map(|pattern| glob("server", pattern)).transpose()?;
    if server.is_some() && rule.method.is_some() {
        let message = "a method's rule is about every server";
        return Err(meaning(format!("{path}.server"), message));
    }
    if let Some(server) = &server
        && !file.servers.keys().any(|name| server.matches(name))
    {
        let message = "no server of this policy has such a name";
        return Err(meaning(format!("{path}.server"), message));
    }
    if exact {
        let listed = match &target {
            Target::Tool(tool) => tool_of(tools, tool.text()).is_some(),
            Target::Method(method) => methods.contains_key(method.text()),
        };
        if !listed {
            let message = "what a rule allows needs an entry of its own under `tools` or `methods`";
            return Err(meaning(path, message));
        }
    }
    let mut compiled = Rule {
        id: rule.id.as_str().into(),
        target,
        server,
        identities: identities(path, rule)?,
        effect: match rule.effect {
            RuleEffect::Allow => Effect::Allow,
            RuleEffect::Deny => Effect::Deny,
            RuleEffect::RequireApproval => Effect::Hold(hold(file, path, rule)?),
        },
        rate_per_minute: rule.rate_per_minute,
        cap: None,
    };
    if let Some(cap) = &rule.cap {
        let path = format!("{path}.cap");
        let tool = rule.tool.as_deref().and_then(|name| tool_of(tools, name));
        let tool = tool.ok_or_else(|| {
            meaning(
                &*path,
                "a cap needs its argument: name one exact tool that declares it",
            )
        })?;
        compiled.cap = Some(Cap::compile(&path, &rule.id, cap, &tool.arguments)?);
    }
    Ok(compiled)
}

fn tool_of<'t>(tools: &'t Tools, key: &str) -> Option<&'t crate::load::Tool> {
    let mut tools = tools.values().flat_map(HashMap::values);
    tools.find(|tool| &*tool.key == key)
}

/// Refuses keys that mean nothing for what the rule does.
fn check_keys(path: &str, rule: &RuleFile) -> Result<(), PolicyError> {
    let holds = rule.effect == RuleEffect::RequireApproval;
    let denies = rule.effect == RuleEffect::Deny;
    for (key, given, fits, instead) in [
        ("reversible", rule.reversible, holds, "require_approval"),
        (
            "countdown_seconds",
            rule.countdown_seconds.is_some(),
            holds,
            "require_approval",
        ),
        (
            "ttl_seconds",
            rule.ttl_seconds.is_some(),
            holds,
            "require_approval",
        ),
        ("ways", rule.ways.is_some(), holds, "require_approval"),
        (
            "rate_per_minute",
            rule.rate_per_minute.is_some(),
            !denies,
            "allow or require_approval",
        ),
        (
            "cap",
            rule.cap.is_some(),
            !denies,
            "allow or require_approval",
        ),
    ] {
        if given && !fits {
            let message = format!("means something for `effect: {instead}` alone");
            return Err(meaning(format!("{path}.{key}"), message));
        }
    }
    check_rate(&format!("{path}.rate_per_minute"), rule.rate_per_minute)
}

fn hold(file: &PolicyFile, path: &str, rule: &RuleFile) -> Result<HoldTerms, PolicyError> {
    let ttl_seconds = rule
        .ttl_seconds
        .or(file.approval.ttl_seconds)
        .unwrap_or(super::servers::TTL_DEFAULT);
    check_ttl(&format!("{path}.ttl_seconds"), ttl_seconds)?;
    if let Some(countdown) = rule.countdown_seconds {
        let path = format!("{path}.countdown_seconds");
        if !rule.reversible {
            let message = "a countdown releases only what can be taken back: mark the rule \
                           `reversible: true`, or take the countdown away";
            return Err(meaning(path, message));
        }
        if countdown == 0 || countdown >= ttl_seconds {
            let message = format!(
                "1 to {} seconds are wanted: less than the call is held",
                ttl_seconds - 1
            );
            return Err(meaning(path, message));
        }
    }
    let ways = rule.ways.clone().unwrap_or_else(|| vec![Way::Page]);
    let path = format!("{path}.ways");
    if ways.is_empty() {
        return Err(meaning(path, "nobody would be asked"));
    }
    if ways.contains(&Way::Webhook) && file.approval.webhook.is_none() {
        return Err(meaning(path, "`webhook` needs `approval.webhook`"));
    }
    let unique: BTreeSet<_> = ways.into_iter().collect();
    Ok(HoldTerms {
        ttl_seconds,
        reversible: rule.reversible,
        countdown_seconds: rule.countdown_seconds,
        ways: unique.into_iter().collect(),
    })
}

fn identities(path: &str, rule: &RuleFile) -> Result<Option<Box<[Identity]>>, PolicyError> {
    let Some(names) = &rule.identities else {
        return Ok(None);
    };
    let path = format!("{path}.identities");
    if names.is_empty() {
        return Err(meaning(path, "the rule would be about nobody"));
    }
    let identities = names.iter().map(|name| {
        if rule.effect == RuleEffect::Allow && name.contains('*') {
            let message = "a rule that allows names exactly; `*` only denies or holds";
            return Err(meaning(&*path, message));
        }
        let (text, group) = match name.strip_prefix("group:") {
            Some(group) => (group, true),
            None => (name.as_str(), false),
        };
        let glob = Glob::of_identity(text)
            .ok_or_else(|| meaning(&*path, format!("`{name}` is no plain identity")))?;
        Ok(match group {
            true => Identity::Group(glob),
            false => Identity::Subject(glob),
        })
    });
    identities.collect::<Result<_, _>>().map(Some)
}
