//! Why words of a customer count as a request, or do not: the grounding, laid over the messages.

use countersign_domain::{Currency, Money, PayeeId};
use countersign_provenance::{
    ActAsk, Grounding, Input, Locale, Message, MessageSpan, Payee, PaymentAsk, Reason, Span, ground,
};
use uuid::Uuid;

use crate::conversation::Conversation;

/// Everything the page shows.
#[derive(Debug)]
pub struct Explanation {
    /// The messages, cut where something begins or ends.
    pub messages: Vec<Vec<Piece>>,
    /// Payments that are live, or would be with a slot filled.
    pub payments: Vec<PaymentLine>,
    /// Other acts that are live.
    pub acts: Vec<ActLine>,
    /// Clauses that count for nothing.
    pub refusals: Vec<RefusalLine>,
}

/// A part of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// The customer's words, byte for byte.
    pub text: String,
    /// What they are: `amount`, `payee`, `asks`, `refused`, `pasted`, or nothing.
    pub class: &'static str,
}

/// A payment.
#[derive(Debug)]
pub struct PaymentLine {
    /// How much, in money.
    pub amount: String,
    /// To whom, as saved.
    pub payee: String,
    /// The clause that asks.
    pub clause: String,
    /// Why a part is open; empty when nothing is.
    pub open: &'static str,
}

/// Another act.
#[derive(Debug)]
pub struct ActLine {
    /// Which.
    pub act: String,
    /// The clause that asks.
    pub clause: String,
}

/// A clause that counts for nothing.
#[derive(Debug)]
pub struct RefusalLine {
    /// The clause.
    pub clause: String,
    /// Why, in words.
    pub why: &'static str,
}

/// Grounds a conversation that an operator reads, as it stands now: nothing is stale, nothing is used up.
pub fn explain(conversation: &Conversation, currency: Currency) -> Explanation {
    let input = input(conversation, currency);
    let grounding = ground(&input);
    let words = |at: MessageSpan| words(conversation, at);
    Explanation {
        messages: pieces(conversation, &grounding),
        payments: grounding
            .payments
            .iter()
            .map(|ask| payment(conversation, ask, words(ask.clause)))
            .collect(),
        acts: grounding
            .acts
            .iter()
            .map(|ask: &ActAsk| ActLine {
                act: act_words(ask),
                clause: words(ask.clause),
            })
            .collect(),
        refusals: grounding
            .refusals
            .iter()
            .map(|refusal| RefusalLine {
                clause: words(refusal.at),
                why: reason_words(refusal.reason),
            })
            .collect(),
    }
}

fn input(conversation: &Conversation, currency: Currency) -> Input {
    let messages = conversation.messages.iter().zip(1..);
    Input {
        messages: messages
            .map(|(message, sequence)| Message {
                sequence,
                text: message.body.clone(),
                pasted: message.spans.iter().map(Span::from).collect(),
                sent_at_unix_seconds: 0,
            })
            .collect(),
        payees: (0..)
            .zip(&conversation.payees)
            .map(|(number, payee)| Payee {
                id: PayeeId::from_uuid(Uuid::from_u128(number)),
                name: payee.name.clone(),
                aliases: payee.alias.iter().cloned().collect(),
                iban: String::new(),
            })
            .collect(),
        accounts: Vec::new(),
        cards: Vec::new(),
        orders: Vec::new(),
        transactions: Vec::new(),
        consumed: Vec::new(),
        consumed_acts: Vec::new(),
        account_currency: currency,
        locale: Locale(conversation.locale.clone()),
        now_unix_seconds: 0,
        stale_after_seconds: i64::MAX,
        stale_after_messages: usize::MAX,
    }
}

fn payment(conversation: &Conversation, ask: &PaymentAsk, clause: String) -> PaymentLine {
    let amount = ask.amount.map_or_else(
        || "open".to_owned(),
        |amount| {
            Money {
                amount: amount.value,
                currency: ask.currency,
            }
            .to_display()
        },
    );
    let payee = match (&ask.payee, &ask.typed_iban) {
        (Some(payee), _) => words(conversation, payee.at),
        (None, Some(_)) => "an account number".to_owned(),
        (None, None) => "open".to_owned(),
    };
    PaymentLine {
        amount,
        payee,
        clause,
        open: ask.open_because.map_or("", reason_words),
    }
}

fn words(conversation: &Conversation, at: MessageSpan) -> String {
    usize::try_from(at.sequence - 1)
        .ok()
        .and_then(|index| {
            conversation
                .messages
                .get(index)?
                .body
                .get(at.span.start..at.span.end)
        })
        .unwrap_or_default()
        .to_owned()
}

/// Cuts every message where a value, a clause or a paste begins or ends. What is said last about a byte holds: a value
/// inside its clause is a value, a pasted part is pasted whatever it says.
fn pieces(conversation: &Conversation, grounding: &Grounding) -> Vec<Vec<Piece>> {
    let mut classes: Vec<Vec<&'static str>> = conversation
        .messages
        .iter()
        .map(|message| vec![""; message.body.len()])
        .collect();
    let mut mark = |at: MessageSpan, class: &'static str| {
        let message = usize::try_from(at.sequence - 1).ok();
        let bytes =
            message.and_then(|index| classes.get_mut(index)?.get_mut(at.span.start..at.span.end));
        bytes.into_iter().flatten().for_each(|byte| *byte = class);
    };
    for refusal in &grounding.refusals {
        mark(refusal.at, "refused");
    }
    let clauses = grounding.acts.iter().map(|ask| ask.clause);
    for clause in clauses.chain(grounding.payments.iter().map(|ask| ask.clause)) {
        mark(clause, "asks");
    }
    // Behind all clauses: two payments of one clause keep the values of both.
    for ask in &grounding.payments {
        ask.amount
            .iter()
            .for_each(|amount| mark(amount.at, "amount"));
        ask.payee.iter().for_each(|payee| mark(payee.at, "payee"));
    }
    for (message, sequence) in conversation.messages.iter().zip(1..) {
        for span in &message.spans {
            mark(
                MessageSpan {
                    sequence,
                    span: span.into(),
                },
                "pasted",
            );
        }
    }
    conversation
        .messages
        .iter()
        .zip(classes)
        .map(|(message, classes)| cut(&message.body, &classes))
        .collect()
}

fn cut(body: &str, classes: &[&'static str]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, character) in body.char_indices() {
        let class = classes.get(at).copied().unwrap_or_default();
        match pieces.last_mut() {
            Some(last) if last.class == class => last.text.push(character),
            _ => pieces.push(Piece {
                text: character.into(),
                class,
            }),
        }
    }
    pieces
}

fn act_words(ask: &ActAsk) -> String {
    use countersign_provenance::Act;
    match ask.act {
        Act::CardFreeze => "Freeze a card",
        Act::CardUnfreeze => "Unfreeze a card",
        Act::Dispute => "Dispute a transaction",
        Act::Refund => "Send a payment back",
        Act::OrderChange => "Change a standing order",
        Act::OrderCancel => "End a standing order",
        Act::PayeeAdd => "Save a payee",
        Act::ProfileChange => "Change the profile",
    }
    .to_owned()
}

/// A reason as an operator would tell a customer.
fn reason_words(reason: Reason) -> &'static str {
    match reason {
        Reason::Negated => "It says not to.",
        Reason::TakenBack => "Later words took it back or changed it.",
        Reason::Question => "It is a question.",
        Reason::Conditional => "It depends on a condition.",
        Reason::Report => "It tells of something and asks for nothing.",
        Reason::Reminder => "It is a reminder, not a request for now.",
        Reason::Reverse => "The money would go the other way.",
        Reason::Quoted => "These are somebody else's words.",
        Reason::Pasted => "It was pasted, not typed.",
        Reason::AmbiguousPayee => "More than one payee may be meant.",
        Reason::UnknownPayee => "No saved payee has this name.",
        Reason::LookAlike => "It looks like a saved payee's name and is another.",
        Reason::AmbiguousAmount => "The amount can be read in two ways.",
        Reason::Computed => "The amount would have to be worked out.",
        Reason::UnreadableAmount => "The amount cannot be read.",
        Reason::NoAmount => "No amount is named.",
        Reason::NoPayee => "No payee is named.",
        Reason::HiddenCharacter => "A hidden character stands in it.",
        Reason::BadIban => "The account number has a wrong check digit.",
        Reason::Consumed => "It was confirmed or cancelled before.",
        Reason::Stale => "It was said too long ago.",
        Reason::UnknownLanguage => "It is in a language the bank does not read.",
        Reason::NoRequest => "It asks for no payment and no other act.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Foreign, Named, Typed};

    fn said(messages: &[&str]) -> Conversation {
        Conversation {
            locale: "en".into(),
            payees: ["Alice", "Bob"]
                .map(|name| Named {
                    name: name.into(),
                    alias: None,
                })
                .into(),
            messages: messages
                .iter()
                .map(|body| Typed {
                    body: (*body).into(),
                    spans: Vec::new(),
                })
                .collect(),
        }
    }

    #[test]
    fn the_values_of_a_request_are_marked_where_they_were_typed() {
        let shown = explain(
            &said(&["Send 50 to Alice. Actually, 20 to Bob"]),
            Currency::Eur,
        );
        let marked: Vec<_> = shown.messages[0]
            .iter()
            .filter(|piece| ["amount", "payee"].contains(&piece.class))
            .map(|piece| (piece.text.as_str(), piece.class))
            .collect();
        assert_eq!(marked, [("20", "amount"), ("Bob", "payee")]);
        assert_eq!(shown.payments[0].amount, "20.00 EUR");
        assert_eq!(shown.payments[0].payee, "Bob");
        let whole: String = shown.messages[0]
            .iter()
            .map(|piece| piece.text.as_str())
            .collect();
        assert_eq!(whole, "Send 50 to Alice. Actually, 20 to Bob");
    }

    #[test]
    fn two_payments_of_one_clause_keep_the_values_of_both() {
        let shown = explain(&said(&["Pay Alice 30 and Bob 45"]), Currency::Eur);
        let marked: Vec<_> = shown.messages[0]
            .iter()
            .filter(|piece| ["amount", "payee"].contains(&piece.class))
            .map(|piece| piece.text.as_str())
            .collect();
        assert_eq!(marked, ["Alice", "30", "Bob", "45"]);
    }

    #[test]
    fn a_paste_is_shown_as_one_and_grounds_nothing() {
        let mut conversation = said(&["Look: Send 20 to Bob"]);
        conversation.messages[0].spans = vec![Foreign { start: 6, end: 20 }];
        let shown = explain(&conversation, Currency::Eur);
        assert!(shown.payments.is_empty());
        assert!(
            shown.messages[0]
                .iter()
                .any(|piece| piece.class == "pasted")
        );
    }

    #[test]
    fn a_span_outside_the_message_marks_nothing_and_breaks_nothing() {
        let mut conversation = said(&["Zahl Zoë 20 €"]);
        conversation.messages[0].spans = vec![Foreign { start: 6, end: 900 }];
        let shown = explain(&conversation, Currency::Eur);
        let whole: String = shown.messages[0]
            .iter()
            .map(|piece| piece.text.as_str())
            .collect();
        assert_eq!(whole, "Zahl Zoë 20 €");
    }
}
