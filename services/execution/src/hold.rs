//! When the bank waits after a Confirm, and what it says about it: on the card before, and while it waits.

use countersign_domain::{ActionKind, MinorUnits, Money, NameCheck};
use countersign_store::action::StoredAction;
use countersign_texts::Texts;

use crate::{aftermath, card::Warning, care, event::timestamp, facts::Facts};

/// Why the bank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A rule of the bank's operators: somebody looks at it first.
    OperatorRule,
    /// The account of a new payee is in another name.
    NameNoMatch,
    /// The name of a new payee could not be checked, and it is no small sum.
    NameUnavailable,
    /// A large share of the account goes to somebody new.
    CoolingOff,
}

impl Reason {
    /// Every reason; the first that applies is the one that holds.
    pub const ALL: [Self; 4] = [
        Self::OperatorRule,
        Self::NameNoMatch,
        Self::NameUnavailable,
        Self::CoolingOff,
    ];

    /// The code in the database and in the record's warnings.
    pub const fn text(self) -> &'static str {
        match self {
            Self::OperatorRule => "operator_rule",
            Self::NameNoMatch => "name_no_match",
            Self::NameUnavailable => "name_unavailable",
            Self::CoolingOff => "cooling_off",
        }
    }

    /// The code of the warning that says so before Confirm.
    const fn warning(self) -> &'static str {
        match self {
            Self::OperatorRule => "held_operator_rule",
            Self::NameNoMatch => "held_name_no_match",
            Self::NameUnavailable => "held_name_unavailable",
            Self::CoolingOff => "held_cooling_off",
        }
    }

    fn applies(self, action: &StoredAction, facts: &Facts) -> bool {
        match self {
            Self::OperatorRule => is_over_an_operators_rule(action, facts),
            Self::NameNoMatch => care::new_payees(action, facts)
                .any(|(_, payee)| payee.name_check == NameCheck::NoMatch),
            Self::NameUnavailable => is_large_unchecked(action, facts),
            Self::CoolingOff => care::is_large_share(action, facts),
        }
    }

    /// Why, in words that follow "The bank waits".
    const fn because(self) -> &'static str {
        match self {
            Self::OperatorRule => "until somebody of the bank has looked at it",
            Self::NameNoMatch => "because the account is in another name",
            Self::NameUnavailable => {
                "until the name of the account could be checked, because you have not paid it before"
            }
            Self::CoolingOff => {
                "because it is a large share of your account and goes to somebody new"
            }
        }
    }

    /// Whether it goes by itself when its time is over.
    const fn goes_by_itself(self) -> bool {
        matches!(self, Self::NameNoMatch | Self::CoolingOff)
    }
}

/// Why a Confirm of this action would be held; nothing for one that runs at once.
pub(crate) fn reason(action: &StoredAction, facts: &Facts) -> Option<Reason> {
    if !matches!(action.kind, ActionKind::Transfer | ActionKind::Refund) {
        return None;
    }
    Reason::ALL
        .into_iter()
        .find(|reason| reason.applies(action, facts))
}

/// What leaves the customer's accounts with an action; nothing where it is beyond all counting.
fn leaves(action: &StoredAction) -> Option<Money> {
    let amount = action
        .values
        .lines
        .iter()
        .filter(|line| line.own_account.is_none())
        .filter_map(|line| line.amount)
        .try_fold(MinorUnits::ZERO, MinorUnits::checked_add)?;
    let currency = action.values.currency?;
    Some(Money { amount, currency })
}

fn is_over_an_operators_rule(action: &StoredAction, facts: &Facts) -> bool {
    let Some(leaves) = leaves(action) else {
        return false;
    };
    leaves.amount > MinorUnits::ZERO
        && facts
            .operator_rules
            .iter()
            .any(|rule| rule.currency == leaves.currency && leaves.amount > rule.amount)
}

/// Whether more than half of what a first payment may be goes to somebody new whose name nobody could check.
fn is_large_unchecked(action: &StoredAction, facts: &Facts) -> bool {
    let limits = action
        .values
        .currency
        .and_then(|currency| facts.limits.get(&currency));
    let Some(limits) = limits else { return false };
    care::new_payees(action, facts)
        .filter(|(_, payee)| payee.name_check == NameCheck::Unavailable)
        .any(|(_, payee)| {
            let going = care::new_payees(action, facts)
                .filter(|(_, other)| other.id == payee.id)
                .filter_map(|(line, _)| line.amount)
                .try_fold(care::sent(action, payee, facts), MinorUnits::checked_add);
            going.is_none_or(|going| going.count() > limits.first_payment.count() / 2)
        })
}

/// Whether everything a held payment waited for has come: each new payee's account is in the name it should be.
pub(crate) fn is_met(action: &StoredAction, facts: &Facts) -> bool {
    care::new_payees(action, facts).all(|(_, payee)| payee.name_check == NameCheck::Match)
}

/// Whether a check answered that a new payee's account is in another name, or only nearly in theirs.
pub(crate) fn is_answered_otherwise(action: &StoredAction, facts: &Facts) -> bool {
    care::new_payees(action, facts)
        .any(|(_, payee)| matches!(payee.name_check, NameCheck::Close | NameCheck::NoMatch))
}

/// What the card says before Confirm about a hold that would follow it.
pub(crate) fn warning(action: &StoredAction, facts: &Facts) -> Option<Warning> {
    let reason = reason(action, facts)?;
    let texts = facts.texts;
    let then = if reason.goes_by_itself() {
        let time = hours(texts, facts.cooling_off_seconds);
        texts.with("It goes after {time}.", &[("time", &time)])
    } else {
        let time = hours(texts, facts.hold_seconds_max);
        texts.with(
            "If that takes longer than {time}, nothing is sent.",
            &[("time", &time)],
        )
    };
    Some(Warning {
        code: reason.warning(),
        text: texts.with(
            "After your press the bank waits {because}. {then} You can cancel until it goes.",
            &[("because", texts.say(reason.because())), ("then", &then)],
        ),
    })
}

/// A time a person plans by: "24 hours", "4 days", "10 minutes".
pub(crate) fn hours(texts: &Texts, seconds: i32) -> String {
    let (count, unit) = match seconds {
        172_800.. if seconds % 86_400 == 0 => (seconds / 86_400, "{count} days"),
        7_200.. => (seconds / 3_600, "{count} hours"),
        _ => (seconds / 60, "{count} minutes"),
    };
    texts.with(unit, &[("count", &count.to_string())])
}

/// A hold as the card shows it while the bank waits.
pub(crate) fn shown(texts: &Texts, hold: &aftermath::Hold) -> crate::card::CardHold {
    let reason = Reason::ALL
        .into_iter()
        .find(|reason| reason.text() == hold.reason);
    let because = reason.map_or("", Reason::because);
    crate::card::CardHold {
        reason: hold.reason.clone(),
        text: texts.with(
            "You agreed to this. The bank waits {because}. You can cancel until it goes.",
            &[("because", texts.say(because))],
        ),
        goes: hold.release_after.map(timestamp),
        ends: timestamp(hold.ends_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_wait_is_said_in_whole_units() {
        let english = countersign_texts::of("en");
        assert_eq!(hours(english, 86_400), "24 hours");
        assert_eq!(hours(english, 345_600), "4 days");
        assert_eq!(hours(english, 600), "10 minutes");
    }

    #[test]
    fn every_reason_has_a_code_and_a_warning_of_its_own() {
        for reason in Reason::ALL {
            assert_eq!(reason.warning(), format!("held_{}", reason.text()));
            assert!(!reason.because().is_empty());
        }
    }
}
