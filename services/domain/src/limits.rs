//! The rules about how much: pure, so that the request, the card and the Confirm apply the same ones.

use crate::{MinorUnits, ToolCode};

/// The limits of one customer in one currency, in minor units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most one transfer may move.
    pub per_transfer: MinorUnits,
    /// The most that may leave in one day of the bank's time zone.
    pub per_day: MinorUnits,
    /// The most that may wait on the panel at one time.
    pub pending_total: MinorUnits,
    /// The most that may go to new payees, all of them together, while they are new.
    pub first_payment: MinorUnits,
}

/// What counts against the limits at this moment. The action about to be superseded is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Used {
    /// Sent today already.
    pub sent_today: MinorUnits,
    /// Waiting on the panel in other actions.
    pub pending: MinorUnits,
}

/// One payment that is about to be asked for or confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payment {
    /// How much.
    pub amount: MinorUnits,
    /// Where the payee was never paid, or for the first time only lately: what went to such payees already, whoever they are, in the
    /// currency of the payment. Own accounts are never new.
    pub first_after: Option<MinorUnits>,
}

/// What went to new payees already, all of them together, from what went to each: [`Payment::first_after`] of a payment to one of them.
/// A sum that cannot be represented leaves room for nothing.
pub fn sent_to_new(each: impl IntoIterator<Item = MinorUnits>) -> MinorUnits {
    each.into_iter()
        .try_fold(MinorUnits::ZERO, MinorUnits::checked_add)
        .unwrap_or(MinorUnits::MAX)
}

/// Checks payments of one action against the limits; the first broken rule is returned.
///
/// Money that only waits counts against the pending total, not against the day: what was sent
/// counts against the day, and a Confirm checks the day again under the lock. Everything that goes to new payees is one first
/// payment: many of them at once do not multiply it.
///
/// # Errors
/// The code of the rule that would be broken. A sum that cannot be represented breaks the rule.
pub fn check(limits: &Limits, used: Used, payments: &[Payment]) -> Result<(), ToolCode> {
    let mut total = MinorUnits::ZERO;
    for payment in payments {
        if payment.amount > limits.per_transfer {
            return Err(ToolCode::LimitPerTransfer);
        }
        if let Some(sent) = payment.first_after {
            let first = payments
                .iter()
                .filter(|other| other.first_after.is_some())
                .try_fold(sent, |sum, other| sum.checked_add(other.amount));
            if first.is_none_or(|first| first > limits.first_payment) {
                return Err(ToolCode::LimitFirstPayment);
            }
        }
        total = total
            .checked_add(payment.amount)
            .ok_or(ToolCode::LimitPerDay)?;
    }
    match used.sent_today.checked_add(total) {
        Some(day) if day <= limits.per_day => {}
        _ => return Err(ToolCode::LimitPerDay),
    }
    match used.pending.checked_add(total) {
        Some(waiting) if waiting <= limits.pending_total => Ok(()),
        _ => Err(ToolCode::LimitPendingTotal),
    }
}

/// What is left to send today.
pub fn left_today(limits: &Limits, sent_today: MinorUnits) -> MinorUnits {
    limits
        .per_day
        .checked_sub(sent_today)
        .unwrap_or(MinorUnits::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(count: i64) -> MinorUnits {
        MinorUnits::new(count).unwrap()
    }

    fn limits() -> Limits {
        Limits {
            per_transfer: units(100),
            per_day: units(150),
            pending_total: units(120),
            first_payment: units(25),
        }
    }

    fn old(amount: i64) -> Payment {
        Payment {
            amount: units(amount),
            first_after: None,
        }
    }

    fn first(sent: i64, amount: i64) -> Payment {
        Payment {
            amount: units(amount),
            first_after: Some(units(sent)),
        }
    }

    #[test]
    fn each_rule_bites_at_one_above_its_limit() {
        let none = Used::default();
        assert_eq!(check(&limits(), none, &[old(100)]), Ok(()));
        assert_eq!(
            check(&limits(), none, &[old(101)]),
            Err(ToolCode::LimitPerTransfer)
        );
        assert_eq!(check(&limits(), none, &[first(0, 25)]), Ok(()));
        assert_eq!(
            check(&limits(), none, &[first(0, 26)]),
            Err(ToolCode::LimitFirstPayment)
        );
        let sent = Used {
            sent_today: units(60),
            pending: units(0),
        };
        assert_eq!(check(&limits(), sent, &[old(90)]), Ok(()));
        assert_eq!(
            check(&limits(), sent, &[old(91)]),
            Err(ToolCode::LimitPerDay)
        );
        let waiting = Used {
            sent_today: units(0),
            pending: units(50),
        };
        assert_eq!(check(&limits(), waiting, &[old(70)]), Ok(()));
        assert_eq!(
            check(&limits(), waiting, &[old(71)]),
            Err(ToolCode::LimitPendingTotal)
        );
    }

    #[test]
    fn splitting_an_amount_over_lines_changes_nothing() {
        assert_eq!(
            check(&limits(), Used::default(), &[old(80), old(80)]),
            Err(ToolCode::LimitPerDay)
        );
    }

    #[test]
    fn many_new_payees_share_one_first_payment() {
        let check = |payments: &[Payment]| check(&limits(), Used::default(), payments);
        assert_eq!(check(&[first(0, 13), first(0, 12), old(60)]), Ok(()));
        assert_eq!(
            check(&[first(0, 13), old(60), first(0, 13)]),
            Err(ToolCode::LimitFirstPayment)
        );
        assert_eq!(check(&[first(20, 5)]), Ok(()));
        assert_eq!(check(&[first(20, 6)]), Err(ToolCode::LimitFirstPayment));
        assert_eq!(
            check(&[first(20, 3), first(20, 3)]),
            Err(ToolCode::LimitFirstPayment)
        );
    }

    #[test]
    fn a_sum_that_does_not_fit_is_a_no() {
        let mut wide = limits();
        wide.per_transfer = MinorUnits::MAX;
        wide.per_day = MinorUnits::MAX;
        let max = Payment {
            amount: MinorUnits::MAX,
            first_after: None,
        };
        assert_eq!(
            check(&wide, Used::default(), &[max, max]),
            Err(ToolCode::LimitPerDay)
        );
    }
}
