//! The bank's own one-line summary of a request: stored values, payees' names as saved, no word of an outsider or a model.

use countersign_domain::{ActionKind, Currency, MinorUnits, Money, ProfileField};
use countersign_provenance::Target;
use countersign_store::{StoredLine, StoredVersion};

use crate::{names::Names, values::target};

/// The summary of a version.
pub(crate) fn summary(kind: ActionKind, values: &StoredVersion, names: &Names) -> String {
    match kind {
        ActionKind::Transfer => transfer(values, names),
        ActionKind::Refund => transaction("Send back", "received", values, names),
        ActionKind::Dispute => transaction("Dispute", "paid", values, names),
        ActionKind::StandingOrderCreate => create(values, names),
        ActionKind::StandingOrderChange => change(values, names),
        ActionKind::StandingOrderCancel => format!("End {}", order(values, names)),
        ActionKind::CardFreeze => format!("Freeze {}", card(values, names)),
        ActionKind::CardUnfreeze => format!("Unfreeze {}", card(values, names)),
        ActionKind::Payee => "Save a new payee".to_owned(),
        ActionKind::LimitChange => "Raise a limit".to_owned(),
        ActionKind::ProfileChange => match values.profile_field {
            Some(ProfileField::Address) => "Change your address".to_owned(),
            Some(ProfileField::Phone) => "Change your phone number".to_owned(),
            Some(ProfileField::Email) => "Change your e-mail address".to_owned(),
            None => "Change your profile".to_owned(),
        },
    }
}

fn money(amount: Option<MinorUnits>, currency: Option<Currency>) -> Option<String> {
    Some(
        Money {
            amount: amount?,
            currency: currency?,
        }
        .to_display(),
    )
}

fn transfer(values: &StoredVersion, names: &Names) -> String {
    let one = |line: &StoredLine| {
        let amount = money(line.amount, values.currency).unwrap_or_else(|| "money".to_owned());
        match target(line) {
            Some(Target::Payee(id)) => match names.payee(id) {
                Some(name) => format!("{amount} to {name}"),
                None => amount,
            },
            Some(Target::Own(id)) => match names.account(id) {
                Some(label) => format!("{amount} to your account {label}"),
                None => format!("{amount} to your other account"),
            },
            None => amount,
        }
    };
    let lines = &values.lines;
    let own = |line: &StoredLine| matches!(target(line), Some(Target::Own(_)));
    let verb = if !lines.is_empty() && lines.iter().all(own) {
        "Move"
    } else {
        "Send"
    };
    let each: Vec<String> = lines.iter().map(one).collect();
    if let [one] = &each[..] {
        return format!("{verb} {one}");
    }
    let total = lines
        .iter()
        .try_fold(MinorUnits::ZERO, |sum, line| sum.checked_add(line.amount?));
    let total = money(total, values.currency).unwrap_or_else(|| "money".to_owned());
    format!(
        "{verb} {total} in {} payments: {}",
        each.len(),
        each.join(", ")
    )
}

fn transaction(verb: &str, happened: &str, values: &StoredVersion, names: &Names) -> String {
    match values.transaction.and_then(|id| names.transaction(id)) {
        Some((money, day)) => format!("{verb} {} {happened} on {day}", money.to_display()),
        None => format!("{verb} a payment"),
    }
}

fn create(values: &StoredVersion, names: &Names) -> String {
    let line = values.lines.first();
    let rhythm = values
        .frequency
        .map_or_else(String::new, |frequency| format!("{frequency} "));
    let mut text = format!("Set up a {rhythm}standing order");
    if let Some(amount) = money(line.and_then(|line| line.amount), values.currency) {
        text.push_str(&format!(" of {amount}"));
    }
    if let Some(name) = line
        .and_then(|line| line.payee)
        .and_then(|id| names.payee(id))
    {
        text.push_str(&format!(" to {name}"));
    }
    if let Some(day) = values.start_date {
        text.push_str(&format!(" from {day}"));
    }
    text
}

fn change(values: &StoredVersion, names: &Names) -> String {
    let changes: Vec<String> = [
        money(
            values.lines.first().and_then(|line| line.amount),
            values.currency,
        ),
        values.frequency.map(|frequency| frequency.to_string()),
        values.start_date.map(|day| format!("from {day}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let what = order(values, names);
    if changes.is_empty() {
        format!("Change {what}")
    } else {
        format!("Change {what}: {}", changes.join(", "))
    }
}

fn order(values: &StoredVersion, names: &Names) -> String {
    match values.order.and_then(|id| names.order_payee(id)) {
        Some(name) => format!("the standing order to {name}"),
        None => "a standing order".to_owned(),
    }
}

fn card(values: &StoredVersion, names: &Names) -> String {
    match values.card.and_then(|id| names.card(id)) {
        Some(name) => format!("the card {name}"),
        None => "a card".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{blank, line};
    use countersign_domain::{Frequency, PayeeId};

    #[test]
    fn a_summary_says_who_and_how_much_and_nothing_of_what_is_open() {
        let bob = PayeeId::from_uuid(uuid::Uuid::from_u128(1));
        let names = Names::default().with_payee(bob, "Bob Smith");
        let mut values = blank("rules/1");
        values.currency = Some(Currency::Eur);
        for (target, amount, text) in [
            (
                Some(Target::Payee(bob)),
                MinorUnits::new(148_000),
                "Send 1,480.00 EUR to Bob Smith",
            ),
            (Some(Target::Payee(bob)), None, "Send money to Bob Smith"),
            (None, MinorUnits::new(2000), "Send 20.00 EUR"),
            (None, None, "Send money"),
        ] {
            values.lines = vec![line(1, target, amount)];
            assert_eq!(summary(ActionKind::Transfer, &values, &names), text);
        }
        values.lines = vec![line(1, Some(Target::Payee(bob)), MinorUnits::new(2000))];
        values.frequency = Some(Frequency::Monthly);
        assert_eq!(
            summary(ActionKind::StandingOrderCreate, &values, &names),
            "Set up a monthly standing order of 20.00 EUR to Bob Smith"
        );
    }

    #[test]
    fn a_summary_of_several_payments_says_the_total() {
        let payee = |number| PayeeId::from_uuid(uuid::Uuid::from_u128(number));
        let names = Names::default()
            .with_payee(payee(1), "Alice")
            .with_payee(payee(2), "Bob");
        let mut values = blank("rules/1");
        values.currency = Some(Currency::Eur);
        values.lines = vec![
            line(1, Some(Target::Payee(payee(1))), MinorUnits::new(3000)),
            line(3, Some(Target::Payee(payee(2))), MinorUnits::new(4500)),
        ];
        assert_eq!(
            summary(ActionKind::Transfer, &values, &names),
            "Send 75.00 EUR in 2 payments: 30.00 EUR to Alice, 45.00 EUR to Bob"
        );
        values.lines[0].amount = None;
        assert_eq!(
            summary(ActionKind::Transfer, &values, &names),
            "Send money in 2 payments: money to Alice, 45.00 EUR to Bob"
        );
    }

    #[test]
    fn every_kind_has_a_summary_before_anything_is_known() {
        for kind in ActionKind::ALL {
            let mut values = blank("rules/1");
            values.lines = vec![line(1, None, None)];
            assert!(!summary(*kind, &values, &Names::default()).is_empty());
        }
    }
}
