//! The checks after those: arguments, rate, caps, approval.

use countersign_wire::Value;

use super::Context;
use super::admit::Admitted;
use crate::explain::{Check, Outcome, Step};
use crate::ledger::Counting;
use crate::rate::Limit;
use crate::rule::{self, HoldTerms, Rule};
use crate::{Arguments, Decision, Effect, Hold, Policy, Reason};

/// What all checks after the arguments need of a tool or a method.
pub(super) struct Subject<'p> {
    /// Its counter's name.
    pub counter: (&'static str, &'p str),
    pub rate_per_minute: Option<u32>,
    pub arguments: &'p Arguments,
    pub cap: Option<&'p crate::cap::Cap>,
    pub rules: &'p [usize],
}

impl Policy {
    /// The checks after those: arguments, rate, caps, approval.
    pub(super) fn settle<'p>(
        &'p self,
        subject: &Subject<'p>,
        admitted: &Admitted<'p>,
        checked: Result<(), crate::ArgumentError<'p>>,
        arguments: Option<Value<'_>>,
        context: &Context<'_>,
        note: &mut impl FnMut(Step<'p>),
    ) -> Decision<'p> {
        let rule = admitted.rule;
        let mut refuse = |check, decision: Decision<'p>| {
            note(Step::refused(check, &decision));
            decision
        };
        if let Err(error) = checked {
            let decision = Decision::deny_arguments(self, error, rule);
            return refuse(Check::Arguments, decision);
        }
        let who = context.who();
        let applying = || {
            let rules = self.rules_at(subject.rules);
            rules.filter(move |rule| rule.is_about(who))
        };
        if !self.within_rates(subject, applying(), context) {
            note(Step::passed(Check::Arguments));
            let decision = Decision::deny(self, Reason::Rate, rule);
            note(Step::refused(Check::Rate, &decision));
            return decision;
        }
        let caps = subject
            .cap
            .into_iter()
            .chain(applying().filter_map(|rule| rule.cap.as_ref()));
        let counted = match count(caps, arguments, context) {
            Ok(counted) => counted,
            Err((cap, problem)) => {
                note(Step::passed(Check::Arguments));
                note(Step::passed(Check::Rate));
                let decision = Decision {
                    argument: Some(&cap.argument),
                    ..Decision::deny(self, Reason::Cap(problem), &cap.rule)
                };
                note(Step::refused(Check::Caps, &decision));
                return decision;
            }
        };
        for check in [Check::Arguments, Check::Rate, Check::Caps] {
            note(Step::passed(check));
        }
        let mut decision = Decision {
            counted,
            ..Decision::allow(self, rule)
        };
        if let Some((rule, hold)) = self.hold(applying(), admitted) {
            decision.effect = Effect::Hold;
            decision.reason = match admitted.changed {
                true => Reason::DefinitionChanged,
                false => Reason::ApprovalNeeded,
            };
            decision.rule = rule;
            decision.hold = Some(hold);
            note(Step::of(Check::Approval, Outcome::Held, &decision));
        } else {
            note(Step::passed(Check::Approval));
        }
        decision
    }

    fn within_rates<'p>(
        &'p self,
        subject: &Subject<'p>,
        applying: impl Iterator<Item = &'p Rule>,
        context: &Context<'_>,
    ) -> bool {
        let who = context.identity;
        let mut limits = Vec::new();
        let of_all = (("calls", ""), self.rate_per_minute);
        let of_this = (subject.counter, subject.rate_per_minute);
        let of_rules = applying.map(|rule| (("rule", &*rule.id), rule.rate_per_minute));
        for (what, most) in [of_all, of_this].into_iter().chain(of_rules) {
            limits.extend(most.map(|most| Limit { what, who, most }));
        }
        context.rates.take(&limits, context.now_milliseconds)
    }

    /// What holds a call, and the rule that is named for it: the strictest, then the first by id.
    fn hold<'p>(
        &'p self,
        applying: impl Iterator<Item = &'p Rule>,
        admitted: &Admitted<'p>,
    ) -> Option<(&'p str, Hold)> {
        let holds: Vec<_> = applying
            .filter_map(|rule| match &rule.effect {
                rule::Effect::Hold(terms) => Some((&*rule.id, terms)),
                _ => None,
            })
            .collect();
        // Nobody has looked at the new definition: no countdown, whatever a rule says.
        let of_change = admitted.changed.then(|| HoldTerms {
            ttl_seconds: self.approval.ttl_seconds(),
            reversible: false,
            countdown_seconds: None,
            ways: Box::new([crate::Way::Page]),
        });
        let named = holds
            .iter()
            .min_by_key(|(id, terms)| (terms.countdown_seconds.is_some(), *id))
            .map(|(id, _)| *id);
        let terms = holds.iter().map(|(_, terms)| *terms);
        let terms = HoldTerms::strictest(terms.chain(&of_change))?;
        let hold = Hold {
            ttl_seconds: terms.ttl_seconds,
            countdown_seconds: terms.countdown_seconds,
            reversible: terms.reversible,
            ways: terms.ways,
        };
        Some((named.unwrap_or(admitted.rule), hold))
    }
}

/// Counts what a call comes to under its caps.
fn count<'p>(
    caps: impl Iterator<Item = &'p crate::cap::Cap>,
    arguments: Option<Value<'_>>,
    context: &Context<'_>,
) -> Result<crate::Reservation, (&'p crate::cap::Cap, crate::CapProblem)> {
    use crate::CapProblem;
    let mut amounts = Vec::new();
    for cap in caps {
        let amount = cap.amount(arguments).map_err(|problem| (cap, problem))?;
        if cap.per_call.is_some_and(|limit| amount >= limit) {
            return Err((cap, CapProblem::PerCall));
        }
        amounts.push((cap, amount));
    }
    let sums = |cap: &&crate::cap::Cap| cap.per_day.is_some() || cap.per_session.is_some();
    let Some(first) = amounts.iter().map(|(cap, _)| *cap).find(sums) else {
        return Ok(crate::Reservation::default());
    };
    let ledger = context.circumstances.caps;
    let ledger = ledger.ok_or((first, CapProblem::NotCounted))?;
    let counting = Counting {
        identity: context.identity,
        session: context.circumstances.session,
        unix_seconds: context.circumstances.unix_seconds,
    };
    ledger
        .reserve(&amounts, counting)
        .map_err(|(at, problem)| (amounts[at].0, problem))
}
