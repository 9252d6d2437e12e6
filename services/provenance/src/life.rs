//! How requests end that nobody took back: by a Confirm or Cancel, or by going stale.

use std::collections::HashMap;

use crate::{Consumed, Grounding, Input, PaymentAsk, Reason, Refusal, dialogue::Dialogue};

/// Ends what a Confirm or Cancel has used up before a message (or by the end).
pub(crate) fn consume(dialogue: &mut Dialogue, input: &Input, before: Option<i64>) {
    let past = |through: i64| before.is_none_or(|sequence| through < sequence);
    for consumed in input
        .consumed
        .iter()
        .filter(|consumed| past(consumed.through_sequence))
    {
        for payment in dialogue
            .payments
            .iter_mut()
            .filter(|payment| payment.ended.is_none())
        {
            if newest_mention(&payment.ask) <= consumed.through_sequence
                && fits(&payment.ask, consumed)
            {
                payment.ended = Some(Reason::Consumed);
            }
        }
    }
    for consumed in input
        .consumed_acts
        .iter()
        .filter(|consumed| past(consumed.through_sequence))
    {
        for act in dialogue.acts.iter_mut().filter(|act| act.ended.is_none()) {
            let target = [
                act.ask.card.map(|card| card.value.to_string()),
                act.ask.order.map(|order| order.value.to_string()),
                act.ask
                    .transaction
                    .map(|transaction| transaction.value.to_string()),
            ];
            let named = target.into_iter().flatten().next();
            let same = named.is_none() || consumed.target.is_none() || named == consumed.target;
            if act.ask.act == consumed.act
                && same
                && act.ask.clause.sequence <= consumed.through_sequence
            {
                act.ended = Some(Reason::Consumed);
            }
        }
    }
}

/// Whether a Confirm or Cancel was about this request; an open part may have been filled on the panel.
fn fits(ask: &PaymentAsk, consumed: &Consumed) -> bool {
    let payee = ask
        .payee
        .is_none_or(|payee| payee.value.id_text() == consumed.payee);
    let amount = ask
        .amount
        .is_none_or(|amount| amount.value == consumed.amount && ask.currency == consumed.currency);
    payee && amount
}

fn newest_mention(ask: &PaymentAsk) -> i64 {
    let spans = [
        Some(ask.clause),
        ask.payee.map(|payee| payee.at),
        ask.amount.map(|amount| amount.at),
        ask.typed_iban.as_ref().map(|iban| iban.at),
    ];
    spans
        .into_iter()
        .flatten()
        .map(|span| span.sequence)
        .max()
        .unwrap_or(0)
}

pub(crate) fn finish(input: &Input, dialogue: Dialogue) -> Grounding {
    let mut grounding = Grounding {
        refusals: dialogue.refusals,
        taken_back_at: dialogue.taken_back_at,
        ..Grounding::default()
    };
    let place: HashMap<i64, usize> = input
        .messages
        .iter()
        .enumerate()
        .map(|(place, message)| (message.sequence, place))
        .collect();
    let is_stale = |sequence: i64| {
        // A message that is not among them is as old as can be.
        let Some(place) = place.get(&sequence) else {
            return true;
        };
        let later = input.messages.len() - 1 - place;
        let sent = input.messages[*place].sent_at_unix_seconds;
        later > input.stale_after_messages
            || input.now_unix_seconds.saturating_sub(sent) > input.stale_after_seconds
    };
    for payment in dialogue.payments {
        let mut ask = payment.ask;
        let ended = payment
            .ended
            .or_else(|| is_stale(newest_mention(&ask)).then_some(Reason::Stale));
        if let Some(reason) = ended {
            grounding.refusals.push(Refusal {
                at: ask.clause,
                reason,
            });
            continue;
        }
        keep_one_currency(input, &mut ask);
        grounding.payments.push(ask);
    }
    for act in dialogue.acts {
        let ended = act
            .ended
            .or_else(|| is_stale(act.ask.clause.sequence).then_some(Reason::Stale));
        match ended {
            Some(reason) => grounding.refusals.push(Refusal {
                at: act.ask.clause,
                reason,
            }),
            None => grounding.acts.push(act.ask),
        }
    }
    grounding
}

/// An amount without a currency beside an account in another one has two readings.
fn keep_one_currency(input: &Input, ask: &mut PaymentAsk) {
    let from = ask.from.and_then(|from| {
        input
            .accounts
            .iter()
            .find(|account| account.id == from.value)
    });
    if let (Some(account), Some(_)) = (from, ask.amount)
        && account.currency != ask.currency
    {
        ask.amount = None;
        ask.open_because = Some(Reason::AmbiguousAmount);
    }
}
