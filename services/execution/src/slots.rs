//! What is still open on a card, as fields with choices the bank made.

use countersign_domain::{ActionKind, DisputeReason, Frequency};
use countersign_screening::display_name;
use countersign_store::action::{StoredAction, StoredLine};

use crate::{
    card::{Choice, OpenSlot, SlotInput},
    facts::Facts,
    wording,
};

/// The open slots of an action, in the order a person fills them.
pub(crate) fn open_slots(action: &StoredAction, facts: &Facts) -> Vec<OpenSlot> {
    let values = &action.values;
    let mut slots = Vec::new();
    let typed = |slot: &str| values.typed.contains_key(slot);
    match action.kind {
        ActionKind::Transfer => {
            for line in &values.lines {
                payee_and_amount(&mut slots, line, facts, true);
            }
            from_account(&mut slots, action, facts);
        }
        ActionKind::Refund => {
            if values.transaction.is_none() {
                slots.push(transaction(facts, true));
            }
            from_account(&mut slots, action, facts);
        }
        ActionKind::StandingOrderCreate => {
            for line in &values.lines {
                payee_and_amount(&mut slots, line, facts, false);
            }
            if values.frequency.is_none() {
                slots.push(frequency());
            }
            if values.start_date.is_none() {
                slots.push(date("start_date", "First payment on"));
            }
            from_account(&mut slots, action, facts);
        }
        ActionKind::StandingOrderChange => {
            if values.order.is_none() {
                slots.push(order(facts));
            }
            let nothing_new = values.lines.iter().all(|line| line.amount.is_none())
                && values.frequency.is_none()
                && values.start_date.is_none();
            if nothing_new {
                slots.push(amount(1, "New amount"));
            }
        }
        ActionKind::StandingOrderCancel => {
            if values.order.is_none() {
                slots.push(order(facts));
            }
        }
        ActionKind::CardFreeze | ActionKind::CardUnfreeze => {
            if values.card.is_none() {
                slots.push(card(facts, action.kind == ActionKind::CardUnfreeze));
            }
        }
        ActionKind::Dispute => {
            if values.transaction.is_none() {
                slots.push(transaction(facts, false));
            }
            if values.dispute_reason.is_none() {
                slots.push(choice(
                    "dispute_reason",
                    "What is wrong with it?",
                    "",
                    DisputeReason::ALL.iter().map(|reason| Choice {
                        value: reason.text().to_owned(),
                        label: wording::dispute_reason(*reason).to_owned(),
                    }),
                ));
            }
            if !typed("details") {
                slots.push(text(
                    "details",
                    "What happened, in your words",
                    "The bank's team reads this.",
                ));
            }
        }
        ActionKind::Payee => {
            if !typed("payee_name") {
                slots.push(text(
                    "payee_name",
                    "Name of the payee",
                    "As it stands on their account.",
                ));
            }
            if !typed("payee_iban") {
                slots.push(text(
                    "payee_iban",
                    "Account number (IBAN)",
                    "Type it from a source you trust, not from a message.",
                ));
            }
        }
        ActionKind::ProfileChange => {
            if !typed("value") {
                let label = values
                    .profile_field
                    .map_or("New value".to_owned(), |field| {
                        format!("Your new {}", wording::profile_field(field))
                    });
                slots.push(OpenSlot {
                    label,
                    ..text("value", "", "")
                });
            }
        }
    }
    slots
}

fn payee_and_amount(
    slots: &mut Vec<OpenSlot>,
    line: &StoredLine,
    facts: &Facts,
    own_accounts: bool,
) {
    if line.payee.is_none() && line.own_account.is_none() {
        // Saved payees and own accounts only: whoever sent a payment is never in this list.
        let mut choices: Vec<Choice> = facts
            .payees
            .iter()
            .map(|payee| Choice {
                value: payee.id.to_string(),
                label: wording::name_and_account(&display_name(&payee.name).text, &payee.iban),
            })
            .collect();
        if own_accounts {
            choices.extend(facts.accounts.iter().map(|account| Choice {
                value: account.id.to_string(),
                label: format!(
                    "Your {}",
                    wording::name_and_account(&account.label, &account.iban)
                ),
            }));
        }
        slots.push(OpenSlot {
            line: line.line_number,
            ..choice("payee", "To whom?", "Choose who gets the money.", choices)
        });
    }
    if line.amount.is_none() {
        slots.push(amount(line.line_number, "How much?"));
    }
}

fn from_account(slots: &mut Vec<OpenSlot>, action: &StoredAction, facts: &Facts) {
    if action.values.from_account.is_none() {
        let of_currency = facts.accounts.iter().filter(|account| {
            action
                .values
                .currency
                .is_none_or(|currency| account.currency == currency)
        });
        let choices: Vec<Choice> = of_currency
            .map(|account| Choice {
                value: account.id.to_string(),
                label: format!(
                    "{} ({})",
                    wording::name_and_account(&account.label, &account.iban),
                    account.currency
                ),
            })
            .collect();
        slots.push(choice("from_account", "From which account?", "", choices));
    }
}

fn transaction(facts: &Facts, incoming: bool) -> OpenSlot {
    let rows = facts
        .transactions
        .iter()
        .filter(|row| row.incoming == incoming);
    let label = if incoming {
        "Which payment goes back?"
    } else {
        "Which transaction?"
    };
    choice(
        "transaction",
        label,
        "The newest ones are listed.",
        rows.map(|row| Choice {
            value: row.id.to_string(),
            label: format!(
                "{} · {} · {}",
                row.day,
                row.amount,
                display_name(&row.counterparty).text
            ),
        }),
    )
}

fn order(facts: &Facts) -> OpenSlot {
    choice(
        "order",
        "Which standing order?",
        "",
        facts
            .orders
            .iter()
            .filter(|order| order.active)
            .map(|order| {
                let payee = facts
                    .payee(order.payee)
                    .map_or_else(String::new, |payee| display_name(&payee.name).text);
                Choice {
                    value: order.id.to_string(),
                    label: format!(
                        "{} to {payee}, {}",
                        order.amount,
                        wording::frequency(order.frequency)
                    ),
                }
            }),
    )
}

fn card(facts: &Facts, frozen: bool) -> OpenSlot {
    choice(
        "card",
        "Which card?",
        "",
        facts
            .cards
            .iter()
            .filter(|card| card.frozen == frozen)
            .map(|card| Choice {
                value: card.id.to_string(),
                label: format!("{} ·· {}", card.label, card.last_four),
            }),
    )
}

fn frequency() -> OpenSlot {
    choice(
        "frequency",
        "How often?",
        "",
        Frequency::ALL.iter().map(|frequency| Choice {
            value: frequency.text().to_owned(),
            label: wording::frequency(*frequency).to_owned(),
        }),
    )
}

fn amount(line: i16, label: &str) -> OpenSlot {
    OpenSlot {
        slot: "amount",
        line,
        label: label.to_owned(),
        help: "For example 20.00".to_owned(),
        kind: SlotInput::Amount,
        choices: None,
    }
}

fn date(slot: &'static str, label: &str) -> OpenSlot {
    OpenSlot {
        slot,
        line: 0,
        label: label.to_owned(),
        help: String::new(),
        kind: SlotInput::Date,
        choices: None,
    }
}

fn text(slot: &'static str, label: &str, help: &str) -> OpenSlot {
    OpenSlot {
        slot,
        line: 0,
        label: label.to_owned(),
        help: help.to_owned(),
        kind: SlotInput::Text,
        choices: None,
    }
}

fn choice(
    slot: &'static str,
    label: &str,
    help: &str,
    choices: impl IntoIterator<Item = Choice>,
) -> OpenSlot {
    OpenSlot {
        slot,
        line: 0,
        label: label.to_owned(),
        help: help.to_owned(),
        kind: SlotInput::Choice,
        choices: Some(choices.into_iter().collect()),
    }
}
