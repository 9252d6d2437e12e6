//! What is still open on a card, as fields with choices the bank made.

use countersign_domain::{ActionKind, DisputeReason, Frequency, ProfileField};
use countersign_screening::display_name;
use countersign_store::{
    action::{StoredAction, StoredLine},
    slots,
};
use countersign_texts::Texts;

use crate::{
    card::{Choice, OpenSlot, SlotInput},
    care,
    facts::Facts,
    wording,
};

/// The open slots of an action, in the order a person fills them: which values are missing `store` says, what else the bank asks
/// [`care`] says, what they look like this room.
pub(crate) fn open_slots(action: &StoredAction, facts: &Facts) -> Vec<OpenSlot> {
    let texts = facts.texts;
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
            texts,
            care::PURPOSE,
            "What is this payment for?",
            "Nobody from the bank tells you what to answer. Not sure? Call the number on the back of your card first.",
            care::PURPOSES.iter().map(|purpose| Choice {
                value: purpose.code.to_owned(),
                label: texts.say(purpose.label).to_owned(),
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
    let texts = facts.texts;
    OpenSlot {
        line: line.line_number,
        label: texts.with(
            "Last four characters of the account number of {name}",
            &[("name", &name)],
        ),
        ..text(
            texts,
            care::LAST_FOUR,
            "",
            "The account is in another name. Take them from a bill or a card of theirs, not from a message.",
        )
    }
}

fn field(open: slots::OpenSlot, action: &StoredAction, facts: &Facts) -> OpenSlot {
    let kind = action.kind;
    let texts = facts.texts;
    match open.slot {
        "payee" => payee(open.line, facts, kind == ActionKind::Transfer),
        "amount" if kind == ActionKind::StandingOrderChange => {
            amount(texts, open.line, "New amount")
        }
        "amount" => amount(texts, open.line, "How much?"),
        "from_account" => from_account(action, facts),
        "card" => card(facts, kind == ActionKind::CardUnfreeze),
        "order" => order(facts),
        "transaction" => transaction(facts, kind == ActionKind::Refund),
        "frequency" => frequency(texts),
        "start_date" => date(texts, "start_date", "First payment on"),
        "dispute_reason" => choice(
            texts,
            "dispute_reason",
            "What is wrong with it?",
            "",
            DisputeReason::ALL.iter().map(|reason| Choice {
                value: reason.text().to_owned(),
                label: texts.say(wording::dispute_reason(*reason)).to_owned(),
            }),
        ),
        "details" => text(
            texts,
            "details",
            "What happened, in your words",
            "The bank's team reads this.",
        ),
        "payee_name" => text(
            texts,
            "payee_name",
            "Name of the payee",
            "As it stands on their account.",
        ),
        "payee_iban" => text(
            texts,
            "payee_iban",
            "Account number (IBAN)",
            "Type it from a source you trust, not from a message.",
        ),
        other => {
            let label = match action.values.profile_field {
                None => "New value",
                Some(ProfileField::Address) => "Your new address",
                Some(ProfileField::Phone) => "Your new phone number",
                Some(ProfileField::Email) => "Your new e-mail address",
            };
            text(texts, other, label, "")
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
            label: facts.texts.with(
                "Your {account}",
                &[(
                    "account",
                    &wording::name_and_account(&account.label, &account.iban),
                )],
            ),
        }));
    }
    OpenSlot {
        line,
        ..choice(
            facts.texts,
            "payee",
            "To whom?",
            "Choose who gets the money.",
            choices,
        )
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
        facts.texts,
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
        facts.texts,
        "transaction",
        label,
        "The newest ones are listed.",
        rows.map(|row| Choice {
            value: row.id.to_string(),
            label: format!(
                "{} · {} · {}",
                facts.texts.day(row.day),
                facts.texts.money(row.amount),
                display_name(&row.counterparty).text
            ),
        }),
    )
}

fn order(facts: &Facts) -> OpenSlot {
    choice(
        facts.texts,
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
                    label: facts.texts.with(
                        "{amount} to {name}, {often}",
                        &[
                            ("amount", &facts.texts.money(order.amount)),
                            ("name", &payee),
                            (
                                "often",
                                facts.texts.say(wording::frequency(order.frequency)),
                            ),
                        ],
                    ),
                }
            }),
    )
}

fn card(facts: &Facts, frozen: bool) -> OpenSlot {
    choice(
        facts.texts,
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

fn frequency(texts: &Texts) -> OpenSlot {
    choice(
        texts,
        "frequency",
        "How often?",
        "",
        Frequency::ALL.iter().map(|frequency| Choice {
            value: frequency.text().to_owned(),
            label: texts.say(wording::frequency(*frequency)).to_owned(),
        }),
    )
}

fn amount(texts: &Texts, line: i16, label: &str) -> OpenSlot {
    OpenSlot {
        slot: "amount",
        line,
        label: texts.say(label).to_owned(),
        help: texts.with("For example {example}", &[("example", "20.00")]),
        kind: SlotInput::Amount,
        choices: None,
    }
}

fn date(texts: &Texts, slot: &'static str, label: &str) -> OpenSlot {
    OpenSlot {
        slot,
        line: 0,
        label: texts.say(label).to_owned(),
        help: String::new(),
        kind: SlotInput::Date,
        choices: None,
    }
}

fn text(texts: &Texts, slot: &'static str, label: &str, help: &str) -> OpenSlot {
    OpenSlot {
        slot,
        line: 0,
        label: texts.say(label).to_owned(),
        help: texts.say(help).to_owned(),
        kind: SlotInput::Text,
        choices: None,
    }
}

fn choice(
    texts: &Texts,
    slot: &'static str,
    label: &str,
    help: &str,
    choices: impl IntoIterator<Item = Choice>,
) -> OpenSlot {
    OpenSlot {
        slot,
        line: 0,
        label: texts.say(label).to_owned(),
        help: texts.say(help).to_owned(),
        kind: SlotInput::Choice,
        choices: Some(choices.into_iter().collect()),
    }
}
