//! The two slots of a payment, and the reason one is open.

use countersign_domain::{Currency, MinorUnits};

use crate::{
    Grounded, PaymentAsk, Reason,
    moves::{AmountMention, HowMuch, PayeeMention, Who},
};

/// Sets the amount of a request, or says why it is open.
pub(crate) fn set_amount(
    ask: &mut PaymentAsk,
    mention: Option<AmountMention>,
    same: Option<(Grounded<MinorUnits>, Currency)>,
) {
    let missing = match mention.map(|mention| (mention.much, mention.at)) {
        Some((HowMuch::Sum(units, currency), at)) => {
            ask.amount = Some(Grounded { value: units, at });
            ask.currency = currency;
            None
        }
        Some((HowMuch::Same, _)) => match same {
            Some((amount, currency)) => {
                ask.amount = Some(amount);
                ask.currency = currency;
                None
            }
            None => Some(Reason::Computed),
        },
        Some((HowMuch::Open(reason), _)) => Some(reason),
        None => Some(Reason::NoAmount),
    };
    if missing.is_some() {
        ask.amount = None;
    }
    renew_reason(ask, missing, Reason::NoPayee);
}

/// Sets the payee of a request, or says why it is open.
pub(crate) fn set_payee(ask: &mut PaymentAsk, mention: Option<&PayeeMention>) {
    ask.payee = None;
    ask.typed_iban = None;
    let missing = match mention.map(|mention| (&mention.who, mention.at)) {
        Some((Who::Target(target), at)) => {
            ask.payee = Some(Grounded { value: *target, at });
            None
        }
        Some((Who::Account(number), at)) => {
            ask.typed_iban = Some(Grounded {
                value: number.clone(),
                at,
            });
            None
        }
        Some((Who::Open(reason), _)) => Some(*reason),
        None => Some(Reason::NoPayee),
    };
    renew_reason(ask, missing, Reason::NoAmount);
}

/// Keeps the reason of a slot that is still open; `other` is what to say when only the other one is.
fn renew_reason(ask: &mut PaymentAsk, missing: Option<Reason>, other: Reason) {
    let open = ask.amount.is_none() || (ask.payee.is_none() && ask.typed_iban.is_none());
    ask.open_because = match missing {
        Some(reason) => Some(reason),
        None if open => ask.open_because.or(Some(other)),
        None => None,
    };
}
