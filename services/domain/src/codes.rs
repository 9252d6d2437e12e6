//! The fixed list of codes a tool answers with. A model can act on each; none carries customer data.

use std::fmt;

use serde::Serialize;

/// Why a tool did not do what it was asked, in one word a model can act on.
///
/// One code covers "not yours" and "not there", so that an id of another customer tells nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCode {
    /// An argument is missing, undeclared or not of its declared form.
    InvalidArgument,
    /// No such thing among this customer's things.
    NotFound,
    /// The customer did not ask for this act in this conversation.
    ActNotRequested,
    /// A value is not what the customer typed, or not in this pairing.
    NotGrounded,
    /// The same request is already waiting on the panel.
    AlreadyWaiting,
    /// Another request waits, and the customer has said nothing new since.
    NoNewerMessage,
    /// Above the limit for one transfer.
    LimitPerTransfer,
    /// Above what is left for today.
    LimitPerDay,
    /// Above what may wait at one time.
    LimitPendingTotal,
    /// Above the limit for a first payment to a new payee.
    LimitFirstPayment,
    /// The account does not hold enough.
    InsufficientFunds,
    /// The values do not share one currency, or not the account's.
    CurrencyMismatch,
    /// The thing is not in a state in which this can be asked (a frozen card frozen again).
    NotPossibleNow,
    /// The turn is over; nothing can be asked for until the customer writes again.
    TurnEnded,
    /// Somebody else is changing this customer's requests right now; reading again is safe.
    Busy,
    /// The bank cannot answer now.
    Unavailable,
}

impl ToolCode {
    /// Every code, for the reference page and the tests.
    pub const ALL: [Self; 16] = [
        Self::InvalidArgument,
        Self::NotFound,
        Self::ActNotRequested,
        Self::NotGrounded,
        Self::AlreadyWaiting,
        Self::NoNewerMessage,
        Self::LimitPerTransfer,
        Self::LimitPerDay,
        Self::LimitPendingTotal,
        Self::LimitFirstPayment,
        Self::InsufficientFunds,
        Self::CurrencyMismatch,
        Self::NotPossibleNow,
        Self::TurnEnded,
        Self::Busy,
        Self::Unavailable,
    ];

    /// The code as it stands on the wire.
    pub const fn text(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::NotFound => "not_found",
            Self::ActNotRequested => "act_not_requested",
            Self::NotGrounded => "not_grounded",
            Self::AlreadyWaiting => "already_waiting",
            Self::NoNewerMessage => "no_newer_message",
            Self::LimitPerTransfer => "limit_per_transfer",
            Self::LimitPerDay => "limit_per_day",
            Self::LimitPendingTotal => "limit_pending_total",
            Self::LimitFirstPayment => "limit_first_payment",
            Self::InsufficientFunds => "insufficient_funds",
            Self::CurrencyMismatch => "currency_mismatch",
            Self::NotPossibleNow => "not_possible_now",
            Self::TurnEnded => "turn_ended",
            Self::Busy => "busy",
            Self::Unavailable => "unavailable",
        }
    }

    /// What the model should do next, in one sentence without customer data.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::InvalidArgument => "Send only the declared arguments in their declared form.",
            Self::NotFound => {
                "Read the list again and use an id from it, or ask the customer which one they mean."
            }
            Self::ActNotRequested => {
                "Do not ask for this. Wait until the customer asks for it in their own words."
            }
            Self::NotGrounded => {
                "Use exactly what the customer typed, or leave the value out so that the customer fills it in on the panel."
            }
            Self::AlreadyWaiting => {
                "Tell the customer that this request already waits on the panel."
            }
            Self::NoNewerMessage => {
                "The customer has written nothing new since the last request. Wait for their next message."
            }
            Self::LimitPerTransfer => {
                "Tell the customer that the amount is above the limit for one transfer."
            }
            Self::LimitPerDay => {
                "Tell the customer that the amount is above what is left for today."
            }
            Self::LimitPendingTotal => {
                "Tell the customer to confirm or cancel what waits on the panel first."
            }
            Self::LimitFirstPayment => {
                "Tell the customer that a first payment to a new payee has a lower limit."
            }
            Self::InsufficientFunds => "Tell the customer that the account does not hold enough.",
            Self::CurrencyMismatch => "Use one currency, the account's own.",
            Self::NotPossibleNow => "Read the current state and tell the customer.",
            Self::TurnEnded => "Stop. The customer's turn is over.",
            Self::Busy => "Do not send the request again. Tell the customer to look at the panel.",
            Self::Unavailable => "Tell the customer that the bank cannot answer now.",
        }
    }
}

impl fmt::Display for ToolCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
