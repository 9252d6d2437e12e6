//! What is still missing in a request: the slots that the customer fills on the panel.

use countersign_domain::ActionKind;

use crate::{StoredLine, StoredVersion};

/// A missing value, by the name it has in the panel's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpenSlot {
    /// `payee`, `amount`, `from_account`, `card`, `order`, `transaction`, `frequency`, `start_date`, `dispute_reason`,
    /// `details`, `payee_name`, `payee_iban` or `value`.
    pub slot: &'static str,
    /// The payment it belongs to, from 1; 0 for a value of the whole request.
    pub line: i16,
}

/// The values without which a request of a kind cannot take effect, in the order a card asks for them.
pub fn open_slots(kind: ActionKind, values: &StoredVersion) -> Vec<OpenSlot> {
    let mut slots = Vec::new();
    let mut need = |missing: bool, slot, line| {
        if missing {
            slots.push(OpenSlot { slot, line });
        }
    };
    let typed = |name: &str| {
        values
            .typed
            .get(name)
            .and_then(serde_json::Value::as_str)
            .is_some_and(|text| !text.is_empty())
    };
    let has_target = |line: &StoredLine| line.payee.is_some() || line.own_account.is_some();
    match kind {
        ActionKind::Transfer | ActionKind::StandingOrderCreate => {
            for line in &values.lines {
                need(!has_target(line), "payee", line.line_number);
                need(line.amount.is_none(), "amount", line.line_number);
            }
            if kind == ActionKind::StandingOrderCreate {
                need(values.frequency.is_none(), "frequency", 0);
                need(values.start_date.is_none(), "start_date", 0);
            }
            need(values.from_account.is_none(), "from_account", 0);
        }
        ActionKind::Refund => {
            need(values.transaction.is_none(), "transaction", 0);
            // Known once the payment is; asked for only where the customer has no account of the currency to name.
            let account_is_open = values.transaction.is_some() && values.from_account.is_none();
            need(account_is_open, "from_account", 0);
        }
        ActionKind::StandingOrderChange => {
            need(values.order.is_none(), "order", 0);
            let changes = values.frequency.is_some()
                || values.start_date.is_some()
                || values.lines.iter().any(|line| line.amount.is_some());
            need(!changes, "amount", 1);
        }
        ActionKind::StandingOrderCancel => need(values.order.is_none(), "order", 0),
        ActionKind::CardFreeze | ActionKind::CardUnfreeze => need(values.card.is_none(), "card", 0),
        ActionKind::Dispute => {
            need(values.transaction.is_none(), "transaction", 0);
            need(values.dispute_reason.is_none(), "dispute_reason", 0);
            need(!typed("details"), "details", 0);
        }
        ActionKind::Payee => {
            need(!typed("payee_name"), "payee_name", 0);
            need(!typed("payee_iban"), "payee_iban", 0);
        }
        // Made whole by the panel, or not at all.
        ActionKind::LimitChange => need(!typed("limit_value"), "value", 0),
        ActionKind::ProfileChange => {
            need(values.profile_field.is_none(), "profile_field", 0);
            need(!typed("value"), "value", 0);
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_domain::{CardId, Frequency, MinorUnits};

    fn blank(lines: usize) -> StoredVersion {
        StoredVersion {
            version: 1,
            currency: None,
            from_account: None,
            card: None,
            order: None,
            transaction: None,
            frequency: None,
            start_date: None,
            dispute_reason: None,
            profile_field: None,
            typed: serde_json::Map::new(),
            rules_version: "rules/1".to_owned(),
            provenance_version: "provenance/2".to_owned(),
            lines: (1..)
                .take(lines)
                .map(|line_number| StoredLine {
                    line_number,
                    payee: None,
                    own_account: None,
                    amount: None,
                })
                .collect(),
        }
    }

    fn names(kind: ActionKind, values: &StoredVersion) -> Vec<&'static str> {
        open_slots(kind, values)
            .into_iter()
            .map(|slot| slot.slot)
            .collect()
    }

    #[test]
    fn every_kind_needs_something_before_it_can_take_effect() {
        for kind in ActionKind::ALL {
            assert!(!names(*kind, &blank(1)).is_empty(), "{kind}");
        }
    }

    #[test]
    fn a_slot_belongs_to_its_line() {
        let mut values = blank(2);
        values.lines[0].amount = MinorUnits::new(2000);
        let slots = open_slots(ActionKind::Transfer, &values);
        let places: Vec<_> = slots.iter().map(|slot| (slot.slot, slot.line)).collect();
        assert_eq!(
            places,
            [
                ("payee", 1),
                ("payee", 2),
                ("amount", 2),
                ("from_account", 0)
            ]
        );
    }

    #[test]
    fn a_change_of_an_order_needs_one_thing_that_changes() {
        let mut values = blank(1);
        values.order = Some(countersign_domain::OrderId::from_uuid(uuid::Uuid::nil()));
        assert_eq!(names(ActionKind::StandingOrderChange, &values), ["amount"]);
        values.frequency = Some(Frequency::Weekly);
        assert!(names(ActionKind::StandingOrderChange, &values).is_empty());
    }

    #[test]
    fn what_is_typed_closes_its_slot() {
        let mut values = blank(0);
        values.card = Some(CardId::from_uuid(uuid::Uuid::nil()));
        assert!(names(ActionKind::CardFreeze, &values).is_empty());
        values.typed.insert("payee_name".into(), "Bob".into());
        values.typed.insert("payee_iban".into(), "".into());
        assert_eq!(names(ActionKind::Payee, &values), ["payee_iban"]);
    }
}
