//! Which amount goes with which payee of a clause.

use crate::{
    Reason,
    arguments::{Arguments, Item},
    moves::{AmountMention, HowMuch, Pair, PayeeMention, Who},
};

/// Pairs the values of a clause. Where two pairings are possible the amounts are open.
pub(crate) fn pair(found: &Arguments) -> Vec<Pair> {
    let items = relevant(&found.items);
    let mut amounts: Vec<AmountMention> = items.iter().filter_map(amount).collect();
    let same = |one: &AmountMention, other: &AmountMention| {
        one.much == other.much && matches!(one.much, HowMuch::Sum(..))
    };
    // "50, fifty, only fifty"
    if amounts.len() > 1
        && items.len() - amounts.len() <= 1
        && amounts.iter().all(|other| same(&amounts[0], other))
    {
        amounts.truncate(1);
    }
    let payees: Vec<PayeeMention> = items.iter().filter_map(payee).collect();
    match (amounts.as_slice(), payees.as_slice()) {
        ([], []) => vec![Pair::default()],
        ([], payees) => payees
            .iter()
            .map(|payee| Pair {
                payee: Some(payee.clone()),
                amount: None,
            })
            .collect(),
        ([amount], []) => vec![Pair {
            payee: None,
            amount: Some(*amount),
        }],
        ([amount, ..], []) => vec![Pair {
            payee: None,
            amount: Some(open(*amount)),
        }],
        ([amount], [payee]) => {
            let total_of_many = found.each && matches!(amount.much, HowMuch::Open(_));
            let amount = if total_of_many {
                open(*amount)
            } else {
                *amount
            };
            vec![Pair {
                payee: Some(payee.clone()),
                amount: Some(amount),
            }]
        }
        ([amount], payees) => {
            let shared = if found.each { *amount } else { open(*amount) };
            payees
                .iter()
                .map(|payee| Pair {
                    payee: Some(payee.clone()),
                    amount: Some(shared),
                })
                .collect()
        }
        (amounts, payees) => {
            let ready = amounts.len() == payees.len()
                && !found.each
                && (alternates(&items) || (found.respectively && in_blocks(&items)));
            payees
                .iter()
                .enumerate()
                .map(|(at, payee)| {
                    let amount = if ready {
                        amounts[at]
                    } else {
                        open(amounts[at.min(amounts.len() - 1)])
                    };
                    Pair {
                        payee: Some(payee.clone()),
                        amount: Some(amount),
                    }
                })
                .collect()
        }
    }
}

fn open(mut mention: AmountMention) -> AmountMention {
    if !matches!(mention.much, HowMuch::Open(_)) {
        mention.much = HowMuch::Open(Reason::AmbiguousAmount);
    }
    mention
}

/// Drops a total beside its parts, and a payee a payment is made for beside the one it goes to.
fn relevant(items: &[Item]) -> Vec<Item> {
    let has_part = items
        .iter()
        .any(|item| matches!(item, Item::Amount { total: false, .. }));
    // "60 to Gran before 5": an hour beside the sum.
    let has_plain = items.iter().any(|item| {
        matches!(
            item,
            Item::Amount {
                after_on: false,
                ..
            }
        )
    });
    let mut kept: Vec<Item> = Vec::new();
    for item in items {
        match item {
            Item::Amount {
                after_on: true,
                mention,
                ..
            } if has_plain && is_hour(mention) => {}
            Item::Amount { total: true, .. } if has_part => {}
            Item::Payee { weak: true, .. }
                if matches!(kept.last(), Some(Item::Payee { weak: false, .. })) => {}
            // "to the academy, Academy Newton": one payee in two words.
            Item::Payee { mention, .. } if matches!((kept.last(), &mention.who), (Some(Item::Payee { mention: before, .. }), Who::Target(_)) if before.who == mention.who) =>
                {}
            other => kept.push(other.clone()),
        }
    }
    kept
}

/// Whether a sum in whole units of up to 24 can be an hour.
fn is_hour(mention: &AmountMention) -> bool {
    const HOURS: i64 = 24;
    match mention.much {
        HowMuch::Sum(units, currency) => {
            let one = 10_i64.pow(currency.exponent());
            units.count() % one == 0 && units.count() / one <= HOURS
        }
        _ => false,
    }
}

fn amount(item: &Item) -> Option<AmountMention> {
    match item {
        Item::Amount { mention, .. } => Some(*mention),
        Item::Payee { .. } => None,
    }
}

fn payee(item: &Item) -> Option<PayeeMention> {
    match item {
        Item::Payee { mention, .. } => Some(mention.clone()),
        Item::Amount { .. } => None,
    }
}

fn is_amount(item: &Item) -> bool {
    matches!(item, Item::Amount { .. })
}

/// Amount, payee, amount, payee; or the other way round all through.
fn alternates(items: &[Item]) -> bool {
    items
        .windows(2)
        .all(|pair| is_amount(&pair[0]) != is_amount(&pair[1]))
}

/// All of one kind, then all of the other.
fn in_blocks(items: &[Item]) -> bool {
    items
        .windows(2)
        .filter(|pair| is_amount(&pair[0]) != is_amount(&pair[1]))
        .count()
        == 1
}
