//! Which transaction a dispute or refund is about.
//!
//! Outsiders write the names of merchants and senders, so a name is looked for only in a clause that asks
//! for such an act already, and it never hides another word of the clause.

use countersign_domain::TransferId;

use crate::{
    Grounded, MessageSpan, Transaction,
    arguments::{Arguments, Item},
    context::Context,
    fold::{folded_name, without_accents},
    lexicon,
    moves::HowMuch,
    tokens::{Kind, Token},
};

/// The one transaction the words of a clause fit.
pub(crate) fn find(
    context: &Context,
    clause: &[Token],
    incoming: bool,
    found: &Arguments,
) -> Option<Grounded<TransferId>> {
    let (start, end) = (clause.first()?.start, clause.last()?.end);
    let text = &context.folded.text[start..end];
    let amounts: Vec<(countersign_domain::MinorUnits, MessageSpan)> = found
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Amount { mention, .. } => match mention.much {
                HowMuch::Sum(units, _) => Some((units, mention.at)),
                _ => None,
            },
            Item::Payee { .. } => None,
        })
        .collect();
    let any_amount = found.amounts() > 0;
    let mut fitting: Vec<(&Transaction, MessageSpan)> = Vec::new();
    for transaction in context
        .input
        .transactions
        .iter()
        .filter(|transaction| transaction.incoming == incoming)
    {
        let amount = amounts
            .iter()
            .find(|(units, _)| *units == transaction.amount);
        let named = name_in(text, &transaction.counterparty)
            .or_else(|| saved_name(context, clause, &transaction.counterparty));
        if any_amount && amount.is_none() {
            continue;
        }
        let at = match (named, amount) {
            (Some((from, to)), _) => MessageSpan {
                sequence: context.sequence,
                span: context.folded.typed(start + from, start + to),
            },
            // An amount alone may fit by chance: it counts only where no other name stands in the clause.
            (None, Some((_, at))) if !names_somebody(clause) => *at,
            _ => continue,
        };
        if dates_fit(clause, transaction) {
            fitting.push((transaction, at));
        }
    }
    match fitting.as_slice() {
        [(transaction, at)] if !clause.iter().any(|token| token.pasted) => Some(Grounded {
            value: transaction.id,
            at: *at,
        }),
        _ => None,
    }
}

/// Where a saved payee of the same name stands in a clause, in whatever form ("od Boba"), from its first byte.
fn saved_name(context: &Context, clause: &[Token], name: &str) -> Option<(usize, usize)> {
    let start = clause.first()?.start;
    let name = folded_name(name);
    clause.iter().find_map(|token| {
        let meaning = context.meaning(token)?;
        let same = |payee: &usize| folded_name(&context.input.payees[*payee].name) == name;
        meaning
            .payees
            .iter()
            .any(same)
            .then(|| (token.start - start, token.end - start))
    })
}

fn names_somebody(clause: &[Token]) -> bool {
    clause.iter().any(|token| {
        matches!(token.kind, Kind::Name { .. }) || (token.is_unknown() && token.capital)
    })
}

fn dates_fit(clause: &[Token], transaction: &Transaction) -> bool {
    clause.iter().all(|token| match token.kind {
        Kind::Date(Some((_, month, day))) => {
            (transaction.date.1, transaction.date.2) == (month, day)
        }
        _ => true,
    })
}

/// Where the telling word of a name stands in a text: the whole name, or its first word that is no ordinary one.
fn name_in(text: &str, name: &str) -> Option<(usize, usize)> {
    let name = folded_name(name);
    let first = name
        .split(' ')
        .find(|word| word.chars().count() >= 3 && lexicon::known(word).is_empty())?;
    [name.as_str(), first].into_iter().find_map(|wanted| {
        let plain = without_accents(wanted);
        [wanted, plain.as_str()].into_iter().find_map(|wanted| {
            text.match_indices(wanted).find_map(|(at, _)| {
                let end = at + wanted.len();
                let free = !text[..at].ends_with(char::is_alphanumeric)
                    && !text[end..].starts_with(char::is_alphanumeric);
                free.then_some((at, end))
            })
        })
    })
}
