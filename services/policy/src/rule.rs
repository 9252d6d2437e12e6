//! Rules, compiled: what they are about, whom they are about, what they do.

use crate::cap::Cap;
use crate::file::Way;
use crate::name::Glob;

/// A rule of the policy.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub id: Box<str>,
    pub target: Target,
    pub server: Option<Glob>,
    pub identities: Option<Box<[Identity]>>,
    pub effect: Effect,
    pub rate_per_minute: Option<u32>,
    pub cap: Option<Cap>,
}

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Tool(Glob),
    Method(Glob),
}

/// What a rule does.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    Allow,
    Deny,
    Hold(HoldTerms),
}

/// How a call is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HoldTerms {
    pub ttl_seconds: u32,
    pub reversible: bool,
    pub countdown_seconds: Option<u32>,
    pub ways: Box<[Way]>,
}

/// Somebody a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Subject(Glob),
    Group(Glob),
}

/// Who calls, as the verified token says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who<'a> {
    pub identity: &'a str,
    pub groups: &'a [&'a str],
}

impl Rule {
    /// Whether it is about a tool of a server. `key` is the tool's name as clients see it.
    pub fn is_about_tool(&self, server: &str, name: &str, key: &str) -> bool {
        self.is_about_server(server)
            && match &self.target {
                Target::Tool(glob) => glob.matches(name) || glob.matches(key),
                Target::Method(glob) => glob.matches("tools/call"),
            }
    }

    /// Whether it is about a method. A rule about some servers only is about every server's
    /// methods when it takes something away, since a method's server may be any.
    pub fn is_about_method(&self, method: &str) -> bool {
        match &self.target {
            Target::Method(glob) => glob.matches(method),
            Target::Tool(_) => false,
        }
    }

    fn is_about_server(&self, server: &str) -> bool {
        self.server.as_ref().is_none_or(|glob| glob.matches(server))
    }

    /// Whether it is about a caller. Whoever is not known is everybody a rule takes something away
    /// from, and nobody it gives something to.
    pub fn is_about(&self, who: Who<'_>) -> bool {
        let Some(identities) = &self.identities else {
            return true;
        };
        if who.identity.is_empty() {
            return !matches!(self.effect, Effect::Allow);
        }
        identities.iter().any(|identity| match identity {
            Identity::Subject(glob) => glob.matches(who.identity),
            Identity::Group(glob) => who.groups.iter().any(|group| glob.matches(group)),
        })
    }
}

impl HoldTerms {
    /// What holds a call when several rules do: the least that all of them allow.
    pub fn strictest<'r>(mut terms: impl Iterator<Item = &'r Self>) -> Option<Self> {
        let first = terms.next()?.clone();
        Some(terms.fold(first, |strict, other| {
            Self {
                ttl_seconds: strict.ttl_seconds.min(other.ttl_seconds),
                reversible: strict.reversible && other.reversible,
                countdown_seconds: match (strict.countdown_seconds, other.countdown_seconds) {
                    (Some(one), Some(two)) => Some(one.max(two)),
                    _ => None,
                },
                ways: strict
                    .ways
                    .iter()
                    .copied()
                    .filter(|way| other.ways.contains(way))
                    .collect(),
            }
        }))
    }
}
