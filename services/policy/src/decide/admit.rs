//! The checks that do not look at arguments: name, server, words, rules, allowlist, pin.

use super::Live;
use crate::explain::{Check, Step};
use crate::file::OnChangedTool;
use crate::load::{Method, Policy, Tool};
use crate::name::check_name;
use crate::rule::{self, Rule, Who};
use crate::{Decision, Reason};

/// What a call is allowed under once the checks that need no arguments have passed.
pub(super) struct Admitted<'p> {
    pub rule: &'p str,
    /// The definition is not the pinned one, and the policy asks a person.
    pub changed: bool,
}

impl Policy {
    /// Takes a call of a tool in, as far as its arguments do not matter.
    pub(super) fn admit_tool<'p>(
        &'p self,
        server: &str,
        name: &str,
        live: Live,
        who: Who<'_>,
        note: &mut impl FnMut(Step<'p>),
    ) -> Result<(&'p Tool, Admitted<'p>), Decision<'p>> {
        let mut check = |check, refused: Option<(Reason, &'p str)>| match refused {
            None => {
                note(Step::passed(check));
                Ok(())
            }
            Some((reason, rule)) => {
                let decision = Decision::deny(self, reason, rule);
                note(Step::refused(check, &decision));
                Err(decision)
            }
        };
        let plain = check_name(name, self.allow_dots);
        check(Check::Name, (!plain).then_some((Reason::BadName, "name")))?;
        let known = self.servers.contains_key(server);
        check(
            Check::Server,
            (!known).then_some((Reason::UnknownServer, "server")),
        )?;
        let tool = self.tools.get(server).and_then(|tools| tools.get(name));
        let unacknowledged = match tool {
            Some(tool) => tool.holds_write_word && tool.acknowledged.is_none(),
            None => self.words.in_name(name),
        };
        check(
            Check::WriteWords,
            unacknowledged.then_some((Reason::WriteWord, "write_words")),
        )?;
        let denial = match tool {
            Some(tool) => self.first_denial(self.rules_at(&tool.rules), who),
            None => {
                let key = format!("{server}__{name}");
                let about = self
                    .rules
                    .iter()
                    .filter(|rule| rule.is_about_tool(server, name, &key));
                self.first_denial(about, who)
            }
        };
        check(
            Check::DenyRules,
            denial.map(|rule| (Reason::DeniedByRule, &*rule.id)),
        )?;
        let Some(tool) = tool else {
            check(Check::Allowlist, Some((Reason::NotListed, "default")))?;
            return Err(Decision::deny(self, Reason::NotListed, "default"));
        };
        check(Check::Allowlist, None)?;
        let rule = self.allowed_by(&tool.rules, &tool.rule, who);
        check(
            Check::AllowRules,
            rule.is_none()
                .then_some((Reason::NotAllowedToCaller, &*tool.rule)),
        )?;
        let mut changed = false;
        let drift = match (live, tool.pin) {
            (Live::NotOffered, _) => Some(Reason::NotOffered),
            (Live::Offered(_), None) if self.require_pins => Some(Reason::NotPinned),
            (Live::Offered(live), Some(pin)) if live != pin => match self.on_changed_tool {
                OnChangedTool::Block => Some(Reason::DefinitionChanged),
                OnChangedTool::RequireApproval => {
                    changed = true;
                    None
                }
            },
            (Live::Offered(_), _) => None,
        };
        check(Check::Pin, drift.map(|reason| (reason, &*tool.rule)))?;
        let rule = rule.unwrap_or(&tool.rule);
        Ok((tool, Admitted { rule, changed }))
    }

    /// Takes another method in, as far as its parameters do not matter.
    pub(super) fn admit_method<'p>(
        &'p self,
        method: &str,
        who: Who<'_>,
        note: &mut impl FnMut(Step<'p>),
    ) -> Result<(&'p str, &'p Method, Admitted<'p>), Decision<'p>> {
        let mut check = |check, refused: Option<(Reason, &'p str)>| match refused {
            None => {
                note(Step::passed(check));
                Ok(())
            }
            Some((reason, rule)) => {
                let decision = Decision::deny(self, reason, rule);
                note(Step::refused(check, &decision));
                Err(decision)
            }
        };
        let listed = self.methods.get_key_value(method);
        let denial = match listed {
            Some((_, listed)) => self.first_denial(self.rules_at(&listed.rules), who),
            None => {
                let about = self.rules.iter();
                self.first_denial(about.filter(|rule| rule.is_about_method(method)), who)
            }
        };
        check(
            Check::DenyRules,
            denial.map(|rule| (Reason::DeniedByRule, &*rule.id)),
        )?;
        let Some((name, listed)) = listed else {
            check(Check::Allowlist, Some((Reason::UnknownMethod, "default")))?;
            return Err(Decision::deny(self, Reason::UnknownMethod, "default"));
        };
        check(Check::Allowlist, None)?;
        let rule = self.allowed_by(&listed.rules, &listed.rule, who);
        check(
            Check::AllowRules,
            rule.is_none()
                .then_some((Reason::NotAllowedToCaller, &*listed.rule)),
        )?;
        let rule = rule.unwrap_or(&listed.rule);
        let changed = false;
        Ok((name, listed, Admitted { rule, changed }))
    }

    /// The denial that is named: the first by id, whatever the order of the file.
    fn first_denial<'p>(
        &'p self,
        mut about: impl Iterator<Item = &'p Rule>,
        who: Who<'_>,
    ) -> Option<&'p Rule> {
        about.find(|rule| matches!(rule.effect, rule::Effect::Deny) && rule.is_about(who))
    }

    /// The line that allows it to this caller: its own entry where no rule allows it, else a rule.
    fn allowed_by<'p>(
        &'p self,
        rules: &'p [usize],
        entry: &'p str,
        who: Who<'_>,
    ) -> Option<&'p str> {
        let mut allows = self
            .rules_at(rules)
            .filter(|rule| matches!(rule.effect, rule::Effect::Allow))
            .peekable();
        if allows.peek().is_none() {
            return Some(entry);
        }
        allows.find(|rule| rule.is_about(who)).map(|rule| &*rule.id)
    }
}
