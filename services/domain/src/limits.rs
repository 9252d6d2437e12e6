//! The rules about how much: pure, so that the request, the card and the Confirm apply the same ones.

use crate::{MinorUnits, PayeeId, ToolCode};

/// The limits of one customer in one currency, in minor units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most one transfer may move.
    pub per_transfer: MinorUnits,
    /// The most that may leave in one day of the bank's time zone.
    pub per_day: MinorUnits,
    /// The most that may wait on the panel at one time.
    pub pending_total: MinorUnits,
    /// The most a first payment to a new payee may be.
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
    /// The payee, where they are new. Own accounts never are.
    pub first_to: Option<NewPayee>,
}

/// A payee who was never paid, or for the first time so recently that more of it still counts as the first payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPayee {
    /// Who.
    pub payee: PayeeId,
    /// What went to them already, in the currency of the payment.
    pub sent: MinorUnits,
}

/// Checks payments of one action against the limits; the first broken rule is returned.
///
/// Money that only waits counts against the pending total, not against the day: what was sent
/// counts against the day, and a Confirm checks the day again under the lock. Everything that goes to one new payee is their
/// first payment.
///
/// # Errors
/// The code of the rule that would be broken. A sum that cannot be represented breaks the rule.
pub fn check(limits: &Limits, used: Used, payments: &[Payment]) -> Result<(), ToolCode> {
    let mut total = MinorUnits::ZERO;
    for payment in payments {
        if payment.amount > limits.per_transfer {
            return Err(ToolCode::LimitPerTransfer);
        }
        if let Some(new) = payment.first_to {
            let first = payments
                .iter()
                .filter(|other| other.first_to.is_some_and(|other| other.payee == new.payee))
                .try_fold(new.sent, |sum, other| sum.checked_add(other.amount));
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
            first_to: None,
        }
    }

    fn first(payee: u128, amount: i64) -> Payment {
        Payment {
            amount: units(amount),
            first_to: Some(NewPayee {
                payee: PayeeId::from_uuid(uuid::Uuid::from_u128(payee)),
                sent: MinorUnits::ZERO,
            }),
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
        assert_eq!(check(&limits(), none, &[first(1, 25)]), Ok(()));
        assert_eq!(
            check(&limits(), none, &[first(1, 26)]),
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
    fn each_new_payee_has_a_first_payment_of_their_own_and_one_only() {
        let check = |payments: &[Payment]| check(&limits(), Used::default(), payments);
        assert_eq!(check(&[first(1, 25), first(2, 25), old(60)]), Ok(()));
        assert_eq!(check(&[first(1, 13), first(2, 25), first(1, 12)]), Ok(()));
        assert_eq!(
            check(&[first(1, 13), first(2, 25), first(1, 13)]),
            Err(ToolCode::LimitFirstPayment)
        );
        let after = |sent: i64, amount: i64| {
            let mut payment = first(1, amount);
            payment.first_to = payment.first_to.map(|new| NewPayee {
                sent: units(sent),
                ..new
            });
            check(&[payment])
        };
        assert_eq!(after(20, 5), Ok(()));
        assert_eq!(after(20, 6), Err(ToolCode::LimitFirstPayment));
    }

    #[test]
    fn a_sum_that_does_not_fit_is_a_no() {
        let mut wide = limits();
        wide.per_transfer = MinorUnits::MAX;
        wide.per_day = MinorUnits::MAX;
        let max = Payment {
            amount: MinorUnits::MAX,
            first_to: None,
        };
        assert_eq!(
            check(&wide, Used::default(), &[max, max]),
            Err(ToolCode::LimitPerDay)
        );
    }
}
