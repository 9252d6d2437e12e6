//! Why words of a customer count as a request, or do not: the crate's own explanation, laid over the messages.

use countersign_domain::{Currency, PayeeId};
use countersign_provenance::{ExplainedWords, Input, Locale, Message, Payee, Span};
use uuid::Uuid;

use crate::conversation::Conversation;

/// Everything the page shows.
#[derive(Debug)]
pub struct Explanation {
    /// The messages, cut where something begins or ends, with what their clauses do.
    pub messages: Vec<ShownMessage>,
    /// What the grounding says of itself.
    pub read: countersign_provenance::Explanation,
}

/// One message.
#[derive(Debug)]
pub struct ShownMessage {
    /// Its words in their order.
    pub pieces: Vec<Piece>,
    /// Each clause and what it does.
    pub clauses: Vec<(String, String)>,
}

/// A part of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// The customer's words, byte for byte.
    pub text: String,
    /// What they are: `amount`, `payee`, `asks`, `refused`, `pasted`, or nothing.
    pub class: &'static str,
}

/// Explains a conversation that an operator reads, as it stands now: nothing is stale, nothing is used up.
pub fn explain(conversation: &Conversation, currency: Currency) -> Explanation {
    let read = countersign_provenance::explain(&input(conversation, currency));
    let clauses = read.messages.iter().map(|message| {
        message
            .clauses
            .iter()
            .map(|clause| {
                let words = message.text.get(clause.start..clause.end);
                (words.unwrap_or_default().to_owned(), clause.does.clone())
            })
            .collect()
    });
    let messages = pieces(conversation, &read)
        .into_iter()
        .zip(clauses)
        .map(|(pieces, clauses)| ShownMessage { pieces, clauses })
        .collect();
    Explanation { messages, read }
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

/// Cuts every message where a value, a clause or a paste begins or ends. What is said last about a byte holds: a value
/// inside its clause is a value, a pasted part is pasted whatever it says.
fn pieces(
    conversation: &Conversation,
    read: &countersign_provenance::Explanation,
) -> Vec<Vec<Piece>> {
    let mut classes: Vec<Vec<&'static str>> = conversation
        .messages
        .iter()
        .map(|message| vec![""; message.body.len()])
        .collect();
    let mut mark = |at: &ExplainedWords, class: &'static str| {
        let message = usize::try_from(at.sequence - 1).ok();
        let bytes = message.and_then(|index| classes.get_mut(index)?.get_mut(at.start..at.end));
        bytes.into_iter().flatten().for_each(|byte| *byte = class);
    };
    for refusal in &read.refusals {
        mark(&refusal.at, "refused");
    }
    let clauses = read.acts.iter().map(|ask| &ask.asked);
    for clause in clauses.chain(read.payments.iter().map(|ask| &ask.asked)) {
        mark(clause, "asks");
    }
    // Behind all clauses: two payments of one clause keep the values of both.
    for ask in &read.payments {
        ask.amount_words.iter().for_each(|at| mark(at, "amount"));
        ask.payee_words.iter().for_each(|at| mark(at, "payee"));
    }
    for (message, classes) in conversation.messages.iter().zip(&mut classes) {
        for span in message.spans.iter().map(Span::from) {
            let bytes = classes.get_mut(span.start..span.end);
            bytes
                .into_iter()
                .flatten()
                .for_each(|byte| *byte = "pasted");
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
            .pieces
            .iter()
            .filter(|piece| ["amount", "payee"].contains(&piece.class))
            .map(|piece| (piece.text.as_str(), piece.class))
            .collect();
        assert_eq!(marked, [("20", "amount"), ("Bob", "payee")]);
        let payment = &shown.read.payments[0];
        assert_eq!(payment.amount.as_deref(), Some("20.00 EUR"));
        assert_eq!(payment.payee.as_deref(), Some("Bob"));
        let clauses: Vec<_> = shown.messages[0]
            .clauses
            .iter()
            .map(|(words, _)| words.as_str())
            .collect();
        assert_eq!(clauses, ["Send 50 to Alice", "Actually, 20 to Bob"]);
        let whole: String = shown.messages[0]
            .pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect();
        assert_eq!(whole, "Send 50 to Alice. Actually, 20 to Bob");
    }

    #[test]
    fn two_payments_of_one_clause_keep_the_values_of_both() {
        let shown = explain(&said(&["Pay Alice 30 and Bob 45"]), Currency::Eur);
        let marked: Vec<_> = shown.messages[0]
            .pieces
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
        assert!(shown.read.payments.is_empty());
        assert!(
            shown.messages[0]
                .pieces
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
            .pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect();
        assert_eq!(whole, "Zahl Zoë 20 €");
    }
}
