//! Fills an open slot: the value becomes a panel entry, the action a new version, the card a new card.

use countersign_domain::{
    AccountId, ActionId, ActionKind, CardId, Money, OrderId, PayeeId, Secret, TransferId,
    text::{is_hidden, parse_iban},
};
use countersign_store::action::{StoredAction, StoredLine, StoredVersion};
use sqlx::PgPool;
use time::{Date, macros::format_description};

use crate::{
    ActError, Card, cancel, cards::NonceSource, care, change::Change, event::Detail, facts::Facts,
    next_version::NewEntry, slots::open_slots,
};

/// Longest text a customer types into a slot, in characters.
const TEXT_LENGTH_MAX: usize = 1000;
/// Longest name of a new payee, in characters.
const PAYEE_NAME_LENGTH_MAX: usize = 140;

/// A value for one slot.
#[derive(Clone, Debug)]
pub struct FillInput {
    /// The version of the card that was displayed.
    pub version: i32,
    /// The slot.
    pub slot: String,
    /// The payment it belongs to, 0 for the whole card.
    pub line: i16,
    /// What the customer picked or typed.
    pub value: String,
}

/// Fills an open slot and returns the new card.
///
/// A value that is already there is never edited: only slots that are open on the current version can be filled.
///
/// # Errors
/// [`ActError::StaleCard`] when the slot is not open on this version, [`ActError::Invalid`] when the value cannot be taken.
pub async fn fill(
    pool: &PgPool,
    secret: &Secret,
    which: ActionId,
    input: &FillInput,
    nonce: NonceSource<'_>,
) -> Result<Card, ActError> {
    let mut change = Change::begin(pool, secret, which, nonce).await?;
    let slot = open_slots(&change.action, &change.facts)
        .into_iter()
        .find(|slot| slot.slot == input.slot && slot.line == input.line);
    let (Some(slot), true) = (slot, change.action.values.version == input.version) else {
        return change.stale().await;
    };
    if let Some(choices) = &slot.choices
        && !choices.iter().any(|choice| choice.value == input.value)
    {
        return Err(ActError::Invalid("Choose one of the list."));
    }
    if slot.slot == care::PURPOSE && input.value == care::TOLD {
        // Not an answer but the way out: whoever is told what to say is being robbed.
        cancel::write(&mut change.transaction, &change.action, care::TOLD).await?;
        return change.end().await;
    }
    let (values, stored) = with_value(&change.action, &change.facts, slot.slot, input)?;
    let entry = NewEntry {
        slot: slot.slot,
        line: slot.line,
        value: &stored,
    };
    let detail = Detail {
        slot: Some(slot.slot),
        line: (slot.line > 0).then_some(slot.line),
        ..Detail::default()
    };
    change.make(&values, entry, "slot_filled", detail).await
}

/// The values with the slot filled, and the text that goes into the panel entry.
fn with_value(
    action: &StoredAction,
    facts: &Facts,
    slot: &str,
    input: &FillInput,
) -> Result<(StoredVersion, String), ActError> {
    let mut values = action.values.clone();
    let value = input.value.trim();
    let mut stored = value.to_owned();
    match slot {
        "payee" => {
            let line = line_mut(&mut values, input.line)?;
            if let Ok(payee) = value.parse::<PayeeId>() {
                line.payee = Some(payee);
            } else {
                let account: AccountId = value.parse().map_err(|_| bad_choice())?;
                line.own_account = Some(account);
            }
        }
        "amount" => {
            let currency = values
                .currency
                .or_else(|| {
                    values
                        .order
                        .and_then(|order| facts.order(order))
                        .map(|order| order.amount.currency)
                })
                .ok_or(ActError::Invalid("Choose the account first."))?;
            let money = Money::parse_wire(value, currency).map_err(amount_sentence)?;
            values.currency = Some(currency);
            if values.lines.is_empty() {
                values.lines.push(StoredLine {
                    line_number: 1,
                    payee: None,
                    own_account: None,
                    amount: None,
                });
            }
            line_mut(&mut values, input.line)?.amount = Some(money.amount);
        }
        "from_account" => {
            let account: AccountId = value.parse().map_err(|_| bad_choice())?;
            let fact = facts.account(account).ok_or_else(bad_choice)?;
            if values
                .currency
                .is_some_and(|currency| currency != fact.currency)
            {
                return Err(ActError::Invalid("This account is in another currency."));
            }
            values.currency = Some(fact.currency);
            values.from_account = Some(account);
        }
        "card" => values.card = Some(value.parse::<CardId>().map_err(|_| bad_choice())?),
        "order" => values.order = Some(value.parse::<OrderId>().map_err(|_| bad_choice())?),
        "transaction" => {
            let id: TransferId = value.parse().map_err(|_| bad_choice())?;
            values.transaction = Some(id);
            if action.kind == ActionKind::Refund {
                let row = facts.transaction(id).ok_or_else(bad_choice)?;
                if row.counterparty_iban.is_none() {
                    return Err(ActError::Invalid(
                        "The bank does not know where this payment came from.",
                    ));
                }
                values.currency = Some(row.amount.currency);
                values.from_account = facts.default_account(row.amount.currency);
                values.lines = vec![StoredLine {
                    line_number: 1,
                    payee: None,
                    own_account: None,
                    amount: Some(row.amount.amount),
                }];
            }
        }
        "frequency" => values.frequency = Some(value.parse().map_err(|_| bad_choice())?),
        "dispute_reason" => values.dispute_reason = Some(value.parse().map_err(|_| bad_choice())?),
        "start_date" => {
            let form = format_description!("[year]-[month]-[day]");
            let date = Date::parse(value, &form)
                .map_err(|_| ActError::Invalid("Type a day such as 2027-01-31."))?;
            if date < facts.today {
                return Err(ActError::Invalid(
                    "The first payment cannot be in the past.",
                ));
            }
            values.start_date = Some(date);
        }
        "payee_iban" => {
            stored = parse_iban(value).ok_or(ActError::Invalid(
                "This account number is not right. Check it digit by digit.",
            ))?;
            if facts.accounts.iter().any(|account| account.iban == stored) {
                return Err(ActError::Invalid("This is your own account."));
            }
            if facts.payees.iter().any(|payee| payee.iban == stored) {
                return Err(ActError::Invalid(
                    "You have saved a payee with this account already.",
                ));
            }
            values.typed.insert(slot.to_owned(), stored.clone().into());
        }
        "payee_name" => {
            check_text(value, PAYEE_NAME_LENGTH_MAX)?;
            values.typed.insert(slot.to_owned(), value.into());
        }
        care::PURPOSE => {
            values.typed.insert(slot.to_owned(), value.into());
        }
        care::LAST_FOUR => {
            let line = line_mut(&mut values, input.line)?;
            let payee = line.payee.and_then(|payee| facts.payee(payee));
            let payee = payee.ok_or_else(bad_choice)?;
            stored = value.to_uppercase();
            if stored != countersign_domain::text::last_four(&payee.iban) {
                return Err(ActError::Invalid(
                    "The account number does not end like this. Ask the payee before you send anything.",
                ));
            }
            let key = care::last_four_key(input.line);
            values.typed.insert(key, stored.clone().into());
        }
        "details" | "value" => {
            check_text(value, TEXT_LENGTH_MAX)?;
            values.typed.insert(slot.to_owned(), value.into());
        }
        _ => return Err(bad_choice()),
    }
    Ok((values, stored))
}

fn line_mut(values: &mut StoredVersion, number: i16) -> Result<&mut StoredLine, ActError> {
    values
        .lines
        .iter_mut()
        .find(|line| line.line_number == number)
        .ok_or_else(bad_choice)
}

fn bad_choice() -> ActError {
    ActError::Invalid("Choose one of the list.")
}

fn amount_sentence(error: countersign_domain::money::AmountError) -> ActError {
    use countersign_domain::money::AmountError;
    ActError::Invalid(match error {
        AmountError::Pattern => "Type an amount such as 20.00, with a point and without spaces.",
        AmountError::Decimals(_) => "This currency does not have that many decimals.",
        AmountError::Zero => "The amount must be more than zero.",
        AmountError::TooLarge => "This amount is too large.",
    })
}

fn check_text(text: &str, length_max: usize) -> Result<(), ActError> {
    if text.is_empty() {
        return Err(ActError::Invalid("Type something here."));
    }
    if text.chars().count() > length_max {
        return Err(ActError::Invalid("This is too long."));
    }
    if text.chars().any(is_hidden) {
        return Err(ActError::Invalid(
            "This holds a line break or a character that cannot be seen.",
        ));
    }
    Ok(())
}
