//! What the grounding is decided from.

use countersign_domain::{AccountId, CardId, Currency, MinorUnits, OrderId, PayeeId, TransferId};

/// A range of bytes in a message's text, start inclusive, end exclusive, on character boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// One message the customer sent.
#[derive(Clone, Debug)]
pub struct Message {
    /// Grows with every message of the conversation.
    pub sequence: i64,
    /// The text exactly as the chat page recorded it.
    pub text: String,
    /// What was pasted or dropped into it. A paste only ever removes grounding.
    pub pasted: Vec<Span>,
    /// When the bank recorded it, in seconds since 1970.
    pub sent_at_unix_seconds: i64,
}

/// A payee the customer saved.
#[derive(Clone, Debug)]
pub struct Payee {
    /// The bank's id.
    pub id: PayeeId,
    /// The name as saved.
    pub name: String,
    /// Other names the customer gave it.
    pub aliases: Vec<String>,
    /// The account, without spaces.
    pub iban: String,
}

/// An account of the customer.
#[derive(Clone, Debug)]
pub struct OwnAccount {
    /// The bank's id.
    pub id: AccountId,
    /// What the customer may call it: its label and its kind ("Current", "checking", "savings").
    pub names: Vec<String>,
    /// The account number, without spaces.
    pub iban: String,
    /// Its currency.
    pub currency: Currency,
}

/// A card of the customer.
#[derive(Clone, Debug)]
pub struct Card {
    /// The bank's id.
    pub id: CardId,
    /// What the customer may call it ("debit", "Everyday card").
    pub names: Vec<String>,
    /// The last four digits of its number.
    pub last_four: String,
}

/// A standing order of the customer.
#[derive(Clone, Debug)]
pub struct StandingOrder {
    /// The bank's id.
    pub id: OrderId,
    /// Whom it pays.
    pub payee: PayeeId,
    /// What the customer may call it ("rent").
    pub names: Vec<String>,
    /// What it pays each time.
    pub amount: MinorUnits,
    /// In which currency.
    pub currency: Currency,
}

/// A recent transaction that a dispute or refund may be about.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// The bank's id.
    pub id: TransferId,
    /// The merchant's or sender's name. Outsiders write it: it helps to find a target, never grounds an act.
    pub counterparty: String,
    /// How much.
    pub amount: MinorUnits,
    /// In which currency.
    pub currency: Currency,
    /// The day, as year, month, day.
    pub date: (i32, u8, u8),
    /// Whether money came in (refunds) or went out (disputes).
    pub incoming: bool,
}

/// A pair that a Confirm or a Cancel has used up, up to and including a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumed {
    /// Whom it paid: a payee's or own account's id in text.
    pub payee: String,
    /// How much.
    pub amount: MinorUnits,
    /// In which currency.
    pub currency: Currency,
    /// Mentions in messages up to this sequence are used up.
    pub through_sequence: i64,
}

/// Another act that a Confirm or a Cancel has used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumedAct {
    /// What was done.
    pub act: crate::Act,
    /// To which card, order or transaction, its id in text; `None` for an act without a target.
    pub target: Option<String>,
    /// Requests in messages up to this sequence are used up.
    pub through_sequence: i64,
}

/// How the customer writes numbers, and in which language the grammar reads.
///
/// A BCP 47 tag such as `en`, `en-IN`, `de`, `fr`. An unknown language grounds open slots only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locale(pub String);

/// Everything the grounding of one conversation is decided from.
#[derive(Clone, Debug)]
pub struct Input {
    /// The customer's messages of this conversation, oldest first.
    pub messages: Vec<Message>,
    /// Saved payees.
    pub payees: Vec<Payee>,
    /// Own accounts.
    pub accounts: Vec<OwnAccount>,
    /// Cards.
    pub cards: Vec<Card>,
    /// Standing orders.
    pub orders: Vec<StandingOrder>,
    /// Recent transactions, newest first.
    pub transactions: Vec<Transaction>,
    /// Pairs that are used up.
    pub consumed: Vec<Consumed>,
    /// Other acts that are used up.
    pub consumed_acts: Vec<ConsumedAct>,
    /// The currency an amount without one is in: the customer's main account's.
    pub account_currency: Currency,
    /// The customer's language and region.
    pub locale: Locale,
    /// The bank's clock, in seconds since 1970.
    pub now_unix_seconds: i64,
    /// A request older than this grounds nothing any more.
    pub stale_after_seconds: i64,
    /// Nor does one that this many later messages of the customer lie behind.
    pub stale_after_messages: usize,
}
