//! What the grounding says.

use countersign_domain::{
    AccountId, CardId, Currency, DisputeReason, Frequency, MinorUnits, OrderId, PayeeId,
    ProfileField, TransferId,
};

use crate::Span;

/// A place in the customer's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageSpan {
    /// The message.
    pub sequence: i64,
    /// The bytes in it.
    pub span: Span,
}

/// A value together with the words that ground it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grounded<T> {
    /// The value.
    pub value: T,
    /// Where the customer typed it.
    pub at: MessageSpan,
}

/// Whom money goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A saved payee.
    Payee(PayeeId),
    /// An account of the customer's own.
    Own(AccountId),
}

impl Target {
    /// The id in text, as it stands in records.
    pub fn id_text(self) -> String {
        match self {
            Self::Payee(id) => id.to_string(),
            Self::Own(id) => id.to_string(),
        }
    }
}

/// A payment the customer asked for and has neither taken back, confirmed nor let go stale.
///
/// With both payee and amount it is a live pair. A missing part is an open slot: the customer fills it on the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentAsk {
    /// Whom to pay; `None` is an open slot.
    pub payee: Option<Grounded<Target>>,
    /// The IBAN the customer typed for somebody who is no saved payee, without spaces; or a sort code and
    /// account number as `123456/12345678`.
    pub typed_iban: Option<Grounded<String>>,
    /// How much; `None` is an open slot.
    pub amount: Option<Grounded<MinorUnits>>,
    /// The currency of the amount: the account's, or the one the customer named.
    pub currency: Currency,
    /// From which account, where the customer named one.
    pub from: Option<Grounded<AccountId>>,
    /// Whether the words ask for a repeated payment, also where its rhythm is open ("set up a standing order").
    pub recurring: bool,
    /// How often, where the customer asked for a standing order ("every month").
    pub frequency: Option<Grounded<Frequency>>,
    /// The first day, where the customer named one, as year, month, day.
    pub start: Option<Grounded<(i32, u8, u8)>>,
    /// Why a slot is open, for the model's next question and the card.
    pub open_because: Option<Reason>,
    /// The clause that asks, for the card's "You wrote".
    pub clause: MessageSpan,
}

/// An act other than paying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Block a card.
    CardFreeze,
    /// Unblock a card.
    CardUnfreeze,
    /// Dispute a transaction.
    Dispute,
    /// Send an incoming payment back.
    Refund,
    /// Change a standing order.
    OrderChange,
    /// End a standing order.
    OrderCancel,
    /// Save a payee.
    PayeeAdd,
    /// Change the profile.
    ProfileChange,
}

/// Another act the customer asked for. A missing target is an open slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActAsk {
    /// What is asked.
    pub act: Act,
    /// Which card (freeze, unfreeze).
    pub card: Option<Grounded<CardId>>,
    /// Which order (change, cancel).
    pub order: Option<Grounded<OrderId>>,
    /// Which transaction (dispute, refund).
    pub transaction: Option<Grounded<TransferId>>,
    /// The new amount (order change).
    pub amount: Option<Grounded<MinorUnits>>,
    /// The new rhythm (order change).
    pub frequency: Option<Grounded<Frequency>>,
    /// The first day (order change).
    pub start: Option<Grounded<(i32, u8, u8)>>,
    /// Why the dispute, where the words say it.
    pub dispute_reason: Option<Grounded<DisputeReason>>,
    /// Which line of the profile.
    pub profile_field: Option<Grounded<ProfileField>>,
    /// The clause that asks.
    pub clause: MessageSpan,
}

/// Why something grounds nothing, or why a slot is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The clause says not to.
    Negated,
    /// A later message took it back or replaced it.
    TakenBack,
    /// A question, not a request.
    Question,
    /// Depends on a condition.
    Conditional,
    /// Tells what was or will be, asks for nothing.
    Report,
    /// A reminder, not a request to pay now.
    Reminder,
    /// Money the other way round.
    Reverse,
    /// Quoted, forwarded, translated or in a code block.
    Quoted,
    /// Pasted or dropped into the message.
    Pasted,
    /// More than one payee bears the name, or a pronoun may mean several.
    AmbiguousPayee,
    /// No saved payee bears the name.
    UnknownPayee,
    /// Looks like a saved payee's name but is another string.
    LookAlike,
    /// The number has two readings.
    AmbiguousAmount,
    /// An amount that would have to be worked out or looked up.
    Computed,
    /// Not a number the grammar reads.
    UnreadableAmount,
    /// No amount was named.
    NoAmount,
    /// No payee was named.
    NoPayee,
    /// An invisible or direction-turning character stands in the clause.
    HiddenCharacter,
    /// The account number's checksum is wrong.
    BadIban,
    /// Confirmed or cancelled before.
    Consumed,
    /// Too long ago.
    Stale,
    /// A language the grammar does not read.
    UnknownLanguage,
    /// No request was recognised in the clause.
    NoRequest,
}

/// A clause that grounds nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The clause.
    pub at: MessageSpan,
    /// Why.
    pub reason: Reason,
}

/// What the customer's words ground at this moment.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Grounding {
    /// Live payments, complete or with open slots, in the order they were asked.
    pub payments: Vec<PaymentAsk>,
    /// Other live acts.
    pub acts: Vec<ActAsk>,
    /// What grounds nothing, and why.
    pub refusals: Vec<Refusal>,
    /// The message in which the customer took the newest request back ("no, stop"), if the last word was that.
    /// An open card made before it asks again.
    pub taken_back_at: Option<MessageSpan>,
}
