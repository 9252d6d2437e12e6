//! How the words of a conversation were read, for the people who answer a customer's complaint.

use countersign_domain::Money;
use serde::Serialize;

use crate::{
    Act, Input, MessageSpan, PaymentAsk, Reason, Span, Target, VERSION, ground,
    ground::moves_of,
    moves::{Move, Strength},
};

/// A conversation, what each of its clauses does, and what is live in the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The grammar's version.
    pub version: &'static str,
    /// The messages with their clauses, oldest first.
    pub messages: Vec<ExplainedMessage>,
    /// Live payments, complete or with open slots.
    pub payments: Vec<ExplainedPayment>,
    /// Other live acts.
    pub acts: Vec<ExplainedAct>,
    /// What grounds nothing, and why.
    pub refusals: Vec<ExplainedRefusal>,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedMessage {
    /// Its number in the conversation.
    pub sequence: i64,
    /// Its text. A customer wrote it: show it as text and nothing else.
    pub text: String,
    /// Its clauses in their order.
    pub clauses: Vec<ExplainedClause>,
}

/// One clause and what it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedClause {
    /// First byte in the message.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What it does to the conversation, for people.
    pub does: String,
}

/// Words of the customer that ground a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedWords {
    /// The message.
    pub sequence: i64,
    /// First byte in it.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The words themselves.
    pub words: String,
}

/// A live payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedPayment {
    /// The payee's or own account's name, or the account number that was typed; `None` is an open slot.
    pub payee: Option<String>,
    /// The words that name it.
    pub payee_words: Option<ExplainedWords>,
    /// The amount as a decimal with its currency; `None` is an open slot.
    pub amount: Option<String>,
    /// The words that name it.
    pub amount_words: Option<ExplainedWords>,
    /// Whether it repeats.
    pub recurring: bool,
    /// Why a slot is open, in a stable word.
    pub open_because: Option<String>,
    /// The same in a sentence.
    pub open_why: Option<&'static str>,
    /// The clause that asks.
    pub asked: ExplainedWords,
}

/// Another live act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedAct {
    /// What is asked, in a stable word.
    pub act: String,
    /// The same for people.
    pub name: &'static str,
    /// The card, order or transaction it is about; `None` is an open slot or an act without a target.
    pub target: Option<String>,
    /// The clause that asks.
    pub asked: ExplainedWords,
}

/// A clause that grounds nothing, or a request that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedRefusal {
    /// Why, in a stable word.
    pub reason: String,
    /// The same in a sentence.
    pub why: &'static str,
    /// The words.
    pub at: ExplainedWords,
}

/// Explains the grounding of a conversation. As pure as [`ground`], and as sure to end.
pub fn explain(input: &Input) -> Explanation {
    let grounding = ground(input);
    let messages = input
        .messages
        .iter()
        .zip(moves_of(input))
        .map(|(message, said)| ExplainedMessage {
            sequence: message.sequence,
            text: message.text.clone(),
            clauses: said
                .into_iter()
                .filter(|said| said.act != Move::Nothing)
                .map(|said| ExplainedClause {
                    start: said.at.span.start,
                    end: said.at.span.end,
                    does: does(&said.act).to_owned(),
                })
                .collect(),
        })
        .collect();
    Explanation {
        version: VERSION,
        messages,
        payments: grounding
            .payments
            .iter()
            .map(|ask| payment(input, ask))
            .collect(),
        acts: grounding
            .acts
            .iter()
            .map(|ask| {
                let target = [
                    ask.card.map(|card| card.value.to_string()),
                    ask.order.map(|order| order.value.to_string()),
                    ask.transaction
                        .map(|transaction| transaction.value.to_string()),
                ];
                ExplainedAct {
                    act: act_word(ask.act).to_owned(),
                    name: act_name(ask.act),
                    target: target.into_iter().flatten().next(),
                    asked: words(input, ask.clause),
                }
            })
            .collect(),
        refusals: grounding
            .refusals
            .iter()
            .map(|refusal| ExplainedRefusal {
                reason: reason_word(refusal.reason).to_owned(),
                why: why(refusal.reason),
                at: words(input, refusal.at),
            })
            .collect(),
    }
}

fn payment(input: &Input, ask: &PaymentAsk) -> ExplainedPayment {
    let name = |target: Target| match target {
        Target::Payee(id) => input
            .payees
            .iter()
            .find(|payee| payee.id == id)
            .map(|payee| payee.name.clone()),
        Target::Own(id) => input
            .accounts
            .iter()
            .find(|account| account.id == id)
            .and_then(|account| account.names.first().cloned()),
    };
    let payee = ask.payee.and_then(|payee| name(payee.value));
    let typed = ask.typed_iban.as_ref();
    ExplainedPayment {
        payee: payee.or_else(|| typed.map(|iban| iban.value.clone())),
        payee_words: ask
            .payee
            .map(|payee| payee.at)
            .or_else(|| typed.map(|iban| iban.at))
            .map(|at| words(input, at)),
        amount: ask.amount.map(|amount| {
            let money = Money {
                amount: amount.value,
                currency: ask.currency,
            };
            format!("{} {}", money.to_wire(), ask.currency)
        }),
        amount_words: ask.amount.map(|amount| words(input, amount.at)),
        recurring: ask.recurring,
        open_because: ask
            .open_because
            .map(|reason| reason_word(reason).to_owned()),
        open_why: ask.open_because.map(why),
        asked: words(input, ask.clause),
    }
}

fn words(input: &Input, at: MessageSpan) -> ExplainedWords {
    let Span { start, end } = at.span;
    let text = input
        .messages
        .iter()
        .find(|message| message.sequence == at.sequence)
        .and_then(|message| message.text.get(start..end))
        .unwrap_or_default();
    ExplainedWords {
        sequence: at.sequence,
        start,
        end,
        words: text.to_owned(),
    }
}

/// What a move does, for people.
fn does(act: &Move) -> &'static str {
    match act {
        Move::Ask { repair: true, .. } => "asks for a payment in the place of an earlier one",
        Move::Ask { .. } => "asks for a payment",
        Move::AskIt => "asks for what was asked before",
        Move::Fragment(fragment) if fragment.repair => "corrects the request before",
        Move::Fragment(_) => "completes the request before, or asks with few words",
        Move::TakeBack { all: true, .. } => "takes everything back",
        Move::TakeBack { .. } => "takes the last request back",
        Move::Forbid { .. } => "says not to pay this",
        Move::Doubt {
            strength: Strength::Certain,
            ..
        } => "speaks against the request before",
        Move::Doubt { .. } => "may speak against the request before",
        Move::Oops => "begins a correction",
        Move::Tells(_) => "tells of somebody",
        Move::Reopen { .. } => "says that a value before was a slip",
        Move::Condition => "makes the request before depend on something",
        Move::Amend { .. } => "corrects the request before, if there is one",
        Move::Recurrency(_) => "changes the currency of the request before",
        Move::Swap => "exchanges the amounts of the two requests before",
        Move::Compute => "wants an amount that must be worked out",
        Move::Act(_) | Move::CardAgain(_) => "asks for another act",
        Move::FillCard(_) => "says which card",
        Move::ForbidAct(_) => "says not to do another act",
        Move::Refuse(reason) => reason_sentence(*reason),
        Move::Nothing => "has nothing to do with a request",
    }
}

fn reason_sentence(reason: Reason) -> &'static str {
    match reason {
        Reason::Negated => "says not to",
        Reason::TakenBack => "was taken back or replaced",
        Reason::Question => "asks a question",
        Reason::Conditional => "depends on a condition",
        Reason::Report => "tells what was or will be",
        Reason::Reminder => "is a reminder",
        Reason::Reverse => "is about money the other way round",
        Reason::Quoted => "is somebody else's text",
        Reason::Pasted => "was pasted",
        Reason::AmbiguousPayee => "may mean several payees",
        Reason::UnknownPayee => "names nobody who is saved",
        Reason::LookAlike => "looks like a saved name and is another",
        Reason::AmbiguousAmount => "has an amount with two readings",
        Reason::Computed => "has an amount that must be worked out",
        Reason::UnreadableAmount => "has a number that cannot be read",
        Reason::NoAmount => "names no amount",
        Reason::NoPayee => "names no payee",
        Reason::HiddenCharacter => "holds an invisible character",
        Reason::BadIban => "holds an account number with a wrong checksum",
        Reason::Consumed => "was confirmed or cancelled before",
        Reason::Stale => "is too long ago",
        Reason::UnknownLanguage => "is in a language that is not read",
        Reason::NoRequest => "is not recognised as a request",
    }
}

/// A reason as a stable word.
fn reason_word(reason: Reason) -> &'static str {
    match reason {
        Reason::Negated => "negated",
        Reason::TakenBack => "taken_back",
        Reason::Question => "question",
        Reason::Conditional => "conditional",
        Reason::Report => "report",
        Reason::Reminder => "reminder",
        Reason::Reverse => "reverse",
        Reason::Quoted => "quoted",
        Reason::Pasted => "pasted",
        Reason::AmbiguousPayee => "ambiguous_payee",
        Reason::UnknownPayee => "unknown_payee",
        Reason::LookAlike => "look_alike",
        Reason::AmbiguousAmount => "ambiguous_amount",
        Reason::Computed => "computed",
        Reason::UnreadableAmount => "unreadable_amount",
        Reason::NoAmount => "no_amount",
        Reason::NoPayee => "no_payee",
        Reason::HiddenCharacter => "hidden_character",
        Reason::BadIban => "bad_iban",
        Reason::Consumed => "consumed",
        Reason::Stale => "stale",
        Reason::UnknownLanguage => "unknown_language",
        Reason::NoRequest => "no_request",
    }
}

fn act_word(act: Act) -> &'static str {
    match act {
        Act::CardFreeze => "card_freeze",
        Act::CardUnfreeze => "card_unfreeze",
        Act::Dispute => "dispute",
        Act::Refund => "refund",
        Act::OrderChange => "order_change",
        Act::OrderCancel => "order_cancel",
        Act::PayeeAdd => "payee_add",
        Act::ProfileChange => "profile_change",
    }
}

/// An act as people call it.
fn act_name(act: Act) -> &'static str {
    match act {
        Act::CardFreeze => "Freeze a card",
        Act::CardUnfreeze => "Unfreeze a card",
        Act::Dispute => "Dispute a transaction",
        Act::Refund => "Send a payment back",
        Act::OrderChange => "Change a standing order",
        Act::OrderCancel => "End a standing order",
        Act::PayeeAdd => "Save a payee",
        Act::ProfileChange => "Change the profile",
    }
}

/// A reason as an operator would tell a customer.
fn why(reason: Reason) -> &'static str {
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
