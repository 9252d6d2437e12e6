//! Care with payees: what the bank says and asks before money goes to somebody new.
//!
//! A payee is new until some time after their first payment. Meanwhile what went to all who are new counts together against the
//! limit of a first payment; to one whose account is in another name no more than half of it goes. Then the customer also types
//! the end of the account number, and says what the payment is for, as with a payment that takes a large share of the account.
//! Every text is the bank's own; its code stands in the record.

use countersign_domain::{
    ActionKind, MinorUnits, Money, NameCheck, PayeeId, limits, text::last_four,
};
use countersign_store::action::{StoredAction, StoredLine};

use crate::{
    card::Warning,
    facts::{Facts, PayeeFact},
    hold, wording,
};

/// The answer that ends a request: somebody told the customer what to answer.
pub(crate) const TOLD: &str = "told_what_to_answer";
/// The slot that asks what a payment is for, and where its answer is kept.
pub(crate) const PURPOSE: &str = "purpose";
/// The slot that asks for the end of an account number.
pub(crate) const LAST_FOUR: &str = "last_four";

/// What a payment can be for, with what the customer picks and what the bank then says.
pub(crate) struct Purpose {
    pub code: &'static str,
    pub label: &'static str,
    warning: &'static str,
    says: &'static str,
}

/// The purposes, in the order they are offered; the last is the way out.
pub(crate) const PURPOSES: [Purpose; 6] = [
    Purpose {
        code: "somebody_i_know",
        label: "For somebody I know",
        warning: "purpose_somebody_i_know",
        says: "If they asked for it in a message, call them on a number you already had before you send it.",
    },
    Purpose {
        code: "bill",
        label: "A bill or an invoice",
        warning: "purpose_bill",
        says: "Invoices are copied with another account number on them. Call the company on a number from an older letter.",
    },
    Purpose {
        code: "purchase",
        label: "Something I am buying",
        warning: "purpose_purchase",
        says: "A transfer cannot be taken back if nothing arrives. Whoever takes nothing but a transfer is often no seller.",
    },
    Purpose {
        code: "investment",
        label: "An investment",
        warning: "purpose_investment",
        says: "Gains that are promised are the mark of a fraud. Look the firm up in the regulator's register first.",
    },
    Purpose {
        code: "keep_safe",
        label: "To keep my money safe",
        warning: "purpose_keep_safe",
        says: "No bank and no police asks you to move money to keep it safe. Whoever told you so is stealing it.",
    },
    Purpose {
        code: TOLD,
        label: "Somebody told me what to answer here",
        warning: "",
        says: "",
    },
];

/// Where the answer to "last four digits" of a line is kept among what was typed.
pub(crate) fn last_four_key(line: i16) -> String {
    format!("{LAST_FOUR}_{line}")
}

fn typed<'a>(action: &'a StoredAction, key: &str) -> Option<&'a str> {
    action
        .values
        .typed
        .get(key)
        .and_then(serde_json::Value::as_str)
}

/// What the customer said the payment is for.
pub(crate) fn purpose(action: &StoredAction) -> Option<&'static Purpose> {
    let code = typed(action, PURPOSE)?;
    PURPOSES.iter().find(|purpose| purpose.code == code)
}

fn is_careful(kind: ActionKind) -> bool {
    matches!(kind, ActionKind::Transfer | ActionKind::StandingOrderCreate)
}

fn payee<'a>(line: &StoredLine, facts: &'a Facts) -> Option<&'a PayeeFact> {
    line.payee.and_then(|payee| facts.payee(payee))
}

pub(crate) fn new_payees<'a>(
    action: &'a StoredAction,
    facts: &'a Facts,
) -> impl Iterator<Item = (&'a StoredLine, &'a PayeeFact)> {
    action
        .values
        .lines
        .iter()
        .filter(|_| is_careful(action.kind))
        .filter_map(|line| Some((line, payee(line, facts)?)))
        .filter(|(_, payee)| payee.is_new)
}

/// Whether the end of the account number is still to be typed for a line.
pub(crate) fn wants_last_four(action: &StoredAction, line: &StoredLine, facts: &Facts) -> bool {
    new_payees(action, facts).any(|(new, payee)| {
        new.line_number == line.line_number
            && payee.name_check == NameCheck::NoMatch
            && typed(action, &last_four_key(line.line_number)) != Some(last_four(&payee.iban))
    })
}

/// Whether what the payment is for is still to be said.
pub(crate) fn wants_purpose(action: &StoredAction, facts: &Facts) -> bool {
    let other_name =
        new_payees(action, facts).any(|(_, payee)| payee.name_check == NameCheck::NoMatch);
    purpose(action).is_none() && (other_name || is_large_share(action, facts))
}

/// Whether a transfer with a new payee in it takes more of the account than the bank lets pass without a question.
pub(crate) fn is_large_share(action: &StoredAction, facts: &Facts) -> bool {
    if action.kind != ActionKind::Transfer || new_payees(action, facts).next().is_none() {
        return false;
    }
    let account = action
        .values
        .from_account
        .and_then(|account| facts.account(account));
    let leaves = action
        .values
        .lines
        .iter()
        .filter(|line| line.own_account.is_none())
        .filter_map(|line| line.amount)
        .try_fold(MinorUnits::ZERO, MinorUnits::checked_add);
    match (account, leaves) {
        (Some(account), Some(leaves)) => {
            i128::from(leaves.count()) * 100
                > i128::from(account.balance.count()) * i128::from(facts.large_share_percent)
        }
        // Unknown yet, or beyond every account.
        (None, _) => false,
        (_, None) => true,
    }
}

/// What of the first payment's limit counts for a payee.
fn cap(payee: &PayeeFact, first_payment: MinorUnits) -> MinorUnits {
    if payee.name_check == NameCheck::NoMatch {
        MinorUnits::new(first_payment.count() / 2).unwrap_or_default()
    } else {
        first_payment
    }
}

/// Whether more would go to a new payee in another name than may.
pub(crate) fn is_over_name_cap(
    action: &StoredAction,
    facts: &Facts,
    first_payment: MinorUnits,
) -> bool {
    let going = |to: PayeeId, sent: MinorUnits| {
        new_payees(action, facts)
            .filter(|(_, payee)| payee.id == to)
            .filter_map(|(line, _)| line.amount)
            .try_fold(sent, MinorUnits::checked_add)
    };
    new_payees(action, facts)
        .filter(|(_, payee)| payee.name_check == NameCheck::NoMatch)
        .any(|(_, payee)| {
            going(payee.id, sent(action, payee, facts))
                .is_none_or(|going| going > cap(payee, first_payment))
        })
}

/// What went to a new payee already, in the currency of the action.
pub(crate) fn sent(action: &StoredAction, payee: &PayeeFact, facts: &Facts) -> MinorUnits {
    action
        .values
        .currency
        .and_then(|currency| facts.sent_lately.get(&(payee.id, currency)).copied())
        .unwrap_or_default()
}

/// What went to all new payees already, in the currency of the action: they share one first payment.
pub(crate) fn sent_to_new(action: &StoredAction, facts: &Facts) -> MinorUnits {
    let new = facts.payees.iter().filter(|payee| payee.is_new);
    limits::sent_to_new(new.map(|payee| sent(action, payee, facts)))
}

/// What the bank says about one payee before money goes to them.
pub(crate) fn payee_warnings(
    action: &StoredAction,
    payee: &PayeeFact,
    name: &str,
    facts: &Facts,
) -> Vec<Warning> {
    let texts = facts.texts;
    let mut warnings = Vec::new();
    let mut warn = |code, text| warnings.push(Warning { code, text });
    if payee.is_new {
        let shown = action.values.currency.and_then(|currency| {
            let limits = facts.limits.get(&currency)?;
            let amount = cap(payee, limits.first_payment);
            let at_most = texts.money(Money { amount, currency });
            let amount = sent(action, payee, facts);
            Some((at_most, texts.money(Money { amount, currency })))
        });
        let hours = facts.new_payee_seconds.div_euclid(3_600).to_string();
        match (payee.paid_before, shown) {
            (false, Some((at_most, _))) => warn(
                "first_payment",
                texts.with(
                    "You have never paid {name} before. In the first {hours} hours they can get {most} at most.",
                    &[("name", name), ("hours", &hours), ("most", &at_most)],
                ),
            ),
            (false, None) => warn(
                "first_payment",
                texts.with("You have never paid {name} before.", &[("name", name)]),
            ),
            (true, Some((at_most, sent))) => warn(
                "new_payee",
                texts.with(
                    "{name} is still new. In the first {hours} hours they can get {most} at most; {sent} went to them already.",
                    &[("name", name), ("hours", &hours), ("most", &at_most), ("sent", &sent)],
                ),
            ),
            (true, None) => warn(
                "new_payee",
                texts.with("{name} is still new.", &[("name", name)]),
            ),
        }
    }
    match payee.name_check {
        NameCheck::Close => {
            if let Some(holder) = &payee.holder {
                warn(
                    "name_close",
                    texts.with("The account is in the name of {holder}.", &[("holder", holder)]),
                );
            }
        }
        NameCheck::NoMatch => warn(
            "name_no_match",
            texts.with(
                "The account is not in the name of {name}. Ask them for the number again, on a way you know.",
                &[("name", name)],
            ),
        ),
        NameCheck::Unavailable if payee.is_new => warn(
            "name_unavailable",
            texts.with(
                "The bank could not check that the account is in the name of {name}.",
                &[("name", name)],
            ),
        ),
        NameCheck::Unavailable | NameCheck::Match | NameCheck::NotChecked => {}
    }
    warnings
}

/// What the bank says about the payment as a whole.
pub(crate) fn payment_warnings(action: &StoredAction, facts: &Facts) -> Vec<Warning> {
    let texts = facts.texts;
    let mut warnings = Vec::new();
    if is_large_share(action, facts) {
        let account = action
            .values
            .from_account
            .and_then(|account| facts.account(account));
        let percent = facts.large_share_percent.to_string();
        let text = match account {
            Some(account) => texts.with(
                "This is more than {percent} % of what is in {account}.",
                &[
                    ("percent", &percent),
                    (
                        "account",
                        &wording::name_and_account(&account.label, &account.iban),
                    ),
                ],
            ),
            None => texts.with("This is more than {percent} %.", &[("percent", &percent)]),
        };
        warnings.push(Warning {
            code: "large_share",
            text,
        });
    }
    if let Some(purpose) = purpose(action).filter(|purpose| !purpose.says.is_empty()) {
        warnings.push(Warning {
            code: purpose.warning,
            text: texts.say(purpose.says).to_owned(),
        });
    }
    warnings.extend(hold::warning(action, facts));
    warnings
}
