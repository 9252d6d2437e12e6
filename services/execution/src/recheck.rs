//! Whether what a card claims can be reproduced from the customer's own words and panel entries.
//!
//! The grounding that `bank-mcp` found when the request was made is a hint and is not read here: the words are ground again.

use countersign_domain::{ActionKind, Currency};
use countersign_provenance::{
    Act, ActAsk, Grounded, Grounding, Input, Message, MessageSpan, PaymentAsk, Span, Target, ground,
};
use countersign_store::{
    action::{ActionError, StoredAction, StoredLine},
    grounding::{self, around},
};
use sqlx::PgConnection;

use crate::{facts::Facts, matching::one_each};

/// What the customer filled in or decided on the panel, over all versions of the action.
pub(crate) struct Entry {
    pub slot: String,
    pub line: i16,
    pub value: String,
}

/// Where a card stands against the customer's words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Every value is in the words or on the panel. The clause is the one that asks.
    Live { clause: MessageSpan },
    /// It was, and then the customer wrote something that takes it back or changes it.
    AsksAgain {
        clause: MessageSpan,
        later: MessageSpan,
    },
    /// The customer typed it on the panel; no message asks for it.
    OnPanel,
    /// It is not, and was not.
    Unreproducible,
}

/// Reads the customer's words and panel entries and weighs an action by them. Answers with the words that were read, too.
///
/// # Errors
/// When the database fails or holds what its schema forbids.
pub(crate) async fn weigh(
    connection: &mut PgConnection,
    action: &StoredAction,
    facts: &Facts,
) -> Result<(Standing, Input), ActionError> {
    let words = grounding::load(connection, action.conversation, Some(action.id)).await?;
    let entries = load_entries(connection, action).await?;
    let standing = recheck(action, &entries, &words, facts);
    Ok((standing, words))
}

async fn load_entries(
    connection: &mut PgConnection,
    action: &StoredAction,
) -> Result<Vec<Entry>, ActionError> {
    let rows = sqlx::query!(
        r#"SELECT slot, line_number, value FROM bank.panel_entry
            WHERE customer_id = $1 AND action_id = $2 AND version <= $3 ORDER BY version, slot, line_number"#,
        action.customer.uuid(),
        action.id.uuid(),
        action.values.version
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Entry {
            slot: row.slot,
            line: row.line_number,
            value: row.value,
        })
        .collect())
}

/// Grounds the action anew. `input` is of the action's conversation.
pub(crate) fn recheck(
    action: &StoredAction,
    entries: &[Entry],
    input: &Input,
    facts: &Facts,
) -> Standing {
    if action.kind == ActionKind::LimitChange {
        return Standing::OnPanel;
    }
    let words = Words {
        action,
        entries,
        facts,
    };
    // A card does not go stale under the customer's eyes: its own time limit ends it.
    let at_creation = action.created_at.unix_timestamp();
    let hold_still = |mut input: Input| {
        input.now_unix_seconds = at_creation;
        input.stale_after_messages = usize::MAX;
        input
    };
    let kept_through = entries
        .iter()
        .filter(|entry| entry.slot == "keep")
        .filter_map(|entry| entry.value.parse::<i64>().ok())
        .max()
        .unwrap_or(action.grounded_through);

    let mut now = hold_still(input.clone());
    now.messages.retain(|message| {
        message.sequence <= action.grounded_through || message.sequence > kept_through
    });
    let grounding_now = ground(&now);
    if let Some(clause) = words.grounded(&grounding_now) {
        // Words that only say "no" may leave a value standing that an entry grounds; they still ask again.
        return match taken_back(&grounding_now, input, kept_through) {
            Some(later) => Standing::AsksAgain { clause, later },
            None => Standing::Live { clause },
        };
    }

    let mut then = hold_still(input.clone());
    then.messages
        .retain(|message| message.sequence <= action.grounded_through);
    let Some(clause) = words.grounded(&ground(&then)) else {
        return Standing::Unreproducible;
    };
    let later = taken_back(&grounding_now, input, kept_through).or_else(|| {
        let last = input.messages.last()?;
        (last.sequence > kept_through).then(|| whole(last))
    });
    match later {
        Some(later) => Standing::AsksAgain { clause, later },
        None => Standing::Unreproducible,
    }
}

/// The message in which the customer took something back after `kept_through`: shown whole, so that they know it again.
fn taken_back(grounding: &Grounding, input: &Input, kept_through: i64) -> Option<MessageSpan> {
    let at = grounding
        .taken_back_at
        .filter(|at| at.sequence > kept_through)?;
    input
        .messages
        .iter()
        .find(|message| message.sequence == at.sequence)
        .map(whole)
}

fn whole(message: &Message) -> MessageSpan {
    MessageSpan {
        sequence: message.sequence,
        span: Span {
            start: 0,
            end: message.text.len(),
        },
    }
}

/// Whether an ask is for a standing order, with or without a rhythm.
fn recurs(ask: &PaymentAsk) -> bool {
    ask.recurring || ask.frequency.is_some()
}

struct Words<'a> {
    action: &'a StoredAction,
    entries: &'a [Entry],
    facts: &'a Facts,
}

impl Words<'_> {
    fn entered(&self, slot: &str, line: i16) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.slot == slot && entry.line == line)
    }

    /// A value is right when it is open, was entered on the panel, or is what the words ground.
    fn holds<T: PartialEq>(
        &self,
        slot: &str,
        line: i16,
        value: Option<&T>,
        words: Option<&Grounded<T>>,
    ) -> bool {
        match value {
            None => true,
            Some(_) if self.entered(slot, line) => true,
            Some(value) => words.is_some_and(|words| words.value == *value),
        }
    }

    fn grounded(&self, grounding: &Grounding) -> Option<MessageSpan> {
        let values = &self.action.values;
        match self.action.kind {
            ActionKind::Transfer => self.payments(grounding),
            ActionKind::StandingOrderCreate => {
                let line = values.lines.first()?;
                grounding
                    .payments
                    .iter()
                    .find(|ask| {
                        recurs(ask)
                            && self.pays(ask, line)
                            && self.holds(
                                "frequency",
                                0,
                                values.frequency.as_ref(),
                                ask.frequency.as_ref(),
                            )
                            && self.starts(ask.start.as_ref())
                    })
                    .map(|ask| ask.clause)
            }
            ActionKind::Refund => self.act(grounding, Act::Refund, |ask| {
                self.holds(
                    "transaction",
                    0,
                    values.transaction.as_ref(),
                    ask.transaction.as_ref(),
                ) && self.refunds_its_row()
            }),
            ActionKind::StandingOrderChange => self.act(grounding, Act::OrderChange, |ask| {
                let amount = values.lines.first().and_then(|line| line.amount);
                self.holds("order", 0, values.order.as_ref(), ask.order.as_ref())
                    && self.holds("amount", 1, amount.as_ref(), ask.amount.as_ref())
                    && self.holds(
                        "frequency",
                        0,
                        values.frequency.as_ref(),
                        ask.frequency.as_ref(),
                    )
                    && self.starts(ask.start.as_ref())
            }),
            ActionKind::StandingOrderCancel => self.act(grounding, Act::OrderCancel, |ask| {
                self.holds("order", 0, values.order.as_ref(), ask.order.as_ref())
            }),
            ActionKind::CardFreeze => self.act(grounding, Act::CardFreeze, |ask| {
                self.holds("card", 0, values.card.as_ref(), ask.card.as_ref())
            }),
            ActionKind::CardUnfreeze => self.act(grounding, Act::CardUnfreeze, |ask| {
                self.holds("card", 0, values.card.as_ref(), ask.card.as_ref())
            }),
            ActionKind::Dispute => self.act(grounding, Act::Dispute, |ask| {
                self.holds(
                    "transaction",
                    0,
                    values.transaction.as_ref(),
                    ask.transaction.as_ref(),
                ) && self.holds(
                    "dispute_reason",
                    0,
                    values.dispute_reason.as_ref(),
                    ask.dispute_reason.as_ref(),
                )
            }),
            // Asked for by no words.
            ActionKind::LimitChange => None,
            ActionKind::Payee => self.act(grounding, Act::PayeeAdd, |_| true),
            ActionKind::ProfileChange => self.act(grounding, Act::ProfileChange, |ask| {
                values.profile_field.is_some()
                    && ask.profile_field.as_ref().map(|field| field.value) == values.profile_field
            }),
        }
    }

    /// Each line by a request of its own, all of one message: the words from the first of them to the last.
    fn payments(&self, grounding: &Grounding) -> Option<MessageSpan> {
        let lines = &self.action.values.lines;
        let mut messages: Vec<i64> = Vec::new();
        for ask in &grounding.payments {
            if !messages.contains(&ask.clause.sequence) {
                messages.push(ask.clause.sequence);
            }
        }
        messages.into_iter().find_map(|message| {
            let asks: Vec<&PaymentAsk> = grounding
                .payments
                .iter()
                .filter(|ask| ask.clause.sequence == message && !recurs(ask))
                .collect();
            let chosen = one_each(lines.len(), asks.len(), |line, ask| {
                self.pays(asks[ask], &lines[line])
            })?;
            chosen
                .into_iter()
                .map(|ask| asks[ask].clause)
                .reduce(around)
        })
    }

    fn act(
        &self,
        grounding: &Grounding,
        act: Act,
        fits: impl Fn(&ActAsk) -> bool,
    ) -> Option<MessageSpan> {
        grounding
            .acts
            .iter()
            .find(|ask| ask.act == act && fits(ask))
            .map(|ask| ask.clause)
    }

    /// Payee and amount as a pair of one request, and the account the customer named or their default.
    fn pays(&self, ask: &PaymentAsk, line: &StoredLine) -> bool {
        let values = &self.action.values;
        let target = line
            .payee
            .map(Target::Payee)
            .or(line.own_account.map(Target::Own));
        let amount_from_words = line.amount.is_some() && !self.entered("amount", line.line_number);
        let currency_fits = !amount_from_words || values.currency == Some(ask.currency);
        self.holds(
            "payee",
            line.line_number,
            target.as_ref(),
            ask.payee.as_ref(),
        ) && self.holds(
            "amount",
            line.line_number,
            line.amount.as_ref(),
            ask.amount.as_ref(),
        ) && currency_fits
            && self.leaves(ask, values.currency)
    }

    fn leaves(&self, ask: &PaymentAsk, currency: Option<Currency>) -> bool {
        match (self.action.values.from_account, &ask.from) {
            (None, _) => true,
            (Some(_), _) if self.entered("from_account", 0) => true,
            (Some(from), Some(named)) => named.value == from,
            (Some(from), None) => {
                currency.and_then(|currency| self.facts.default_account(currency)) == Some(from)
            }
        }
    }

    fn starts(&self, words: Option<&Grounded<(i32, u8, u8)>>) -> bool {
        let value = self
            .action
            .values
            .start_date
            .map(|date| (date.year(), u8::from(date.month()), date.day()));
        self.holds("start_date", 0, value.as_ref(), words)
    }

    /// A refund sends back exactly what came in.
    fn refunds_its_row(&self) -> bool {
        let values = &self.action.values;
        let Some(transaction) = values.transaction else {
            return true;
        };
        self.facts.transaction(transaction).is_some_and(|row| {
            row.incoming
                && values.currency == Some(row.amount.currency)
                && values.lines.first().and_then(|line| line.amount) == Some(row.amount.amount)
        })
    }
}
