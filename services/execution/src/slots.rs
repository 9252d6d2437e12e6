//! What is still open on a card, as fields with choices the bank made.

use countersign_domain::{ActionKind, DisputeReason, Frequency};
use countersign_screening::display_name;
use countersign_store::{
    action::{StoredAction, StoredLine},
    slots,
};

use crate::{
    card::{Choice, OpenSlot, SlotInput},
    care,
    facts::Facts,
    wording,
};

/// The open slots of an action, in the order a person fills them: which values are missing `store` says, what else the bank asks
/// [`care`] says, what they look like this room.
pub(crate) fn open_slots(action: &StoredAction, facts: &Facts) -> Vec<OpenSlot> {
    let mut slots: Vec<OpenSlot> = slots::open_slots(action.kind, &action.values)
        .into_iter()
        .map(|open| field(open, action, facts))
        .collect();
    for line in &action.values.lines {
        if care::wants_last_four(action, line, facts) {
            slots.push(last_four(line, facts));
        }
    }
    if care::wants_purpose(action, facts) {
        slots.push(choice(
            care::PURPOSE,
            "What is this payment for?",
            "Nobody from the bank tells you what to answer. Not sure? Call the number on the back of your card first.",
            care::PURPOSES.iter().map(|purpose| Choice {
                value: purpose.code.to_owned(),
                label: purpose.label.to_owned(),
            }),
        ));
    }
    slots
}

fn last_four(line: &StoredLine, facts: &Facts) -> OpenSlot {
    let name = line
        .payee
        .and_then(|payee| facts.payee(payee))
        .map_or_else(String::new, |payee| display_name(&payee.name).text);
    OpenSlot {
        line: line.line_number,
        ..text(
            care::LAST_FOUR,
            &format!("Last four characters of the account number of {name}"),
            "The account is in another name. Take them from a bill or a card of theirs, not from a message.",
        )
    }
}

fn field(open: slots::OpenSlot, action: &StoredAction, facts: &Facts) -> OpenSlot {
    let kind = action.kind;
    match open.slot {
        "payee" => payee(open.line, facts, kind == ActionKind::Transfer),
        "amount" if kind == ActionKind::StandingOrderChange => amount(open.line, "New amount"),
        "amount" => amount(open.line, "How much?"),
        "from_account" => from_account(action, facts),
        "card" => card(facts, kind == ActionKind::CardUnfreeze),
        "order" => order(facts),
        "transaction" => transaction(facts, kind == ActionKind::Refund),
        "frequency" => frequency(),
        "start_date" => date("start_date", "First payment on"),
        "dispute_reason" => choice(
            "dispute_reason",
            "What is wrong with it?",
            "",
            DisputeReason::ALL.iter().map(|reason| Choice {
                value: reason.text().to_owned(),
                label: wording::dispute_reason(*reason).to_owned(),
            }),
        ),
        "details" => text(
            "details",
            "What happened, in your words",
            "The bank's team reads this.",
        ),
        "payee_name" => text(
            "payee_name",
            "Name of the payee",
            "As it stands on their account.",
        ),
        "payee_iban" => text(
            "payee_iban",
            "Account number (IBAN)",
            "Type it from a source you trust, not from a message.",
        ),
        other => {
            let label = action
                .values
                .profile_field
                .map_or("New value".to_owned(), |field| {
                    format!("Your new {}", wording::profile_field(field))
                });
            OpenSlot {
                label,
                ..text(other, "", "")
            }
        }
    }
}

fn payee(line: i16, facts: &Facts, own_accounts: bool) -> OpenSlot {
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
    OpenSlot {
        line,
        ..choice("payee", "To whom?", "Choose who gets the money.", choices)
    }
}

fn from_account(action: &StoredAction, facts: &Facts) -> OpenSlot {
    let of_currency = facts.accounts.iter().filter(|account| {
        action
            .values
            .currency
            .is_none_or(|currency| account.currency == currency)
    });
    choice(
        "from_account",
        "From which account?",
        "",
        of_currency.map(|account| Choice {
            value: account.id.to_string(),
            label: format!(
                "{} ({})",
                wording::name_and_account(&account.label, &account.iban),
                account.currency
            ),
        }),
    )
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
