//! What a model may ask for: ids the bank handed out, words of fixed lists, amounts and days. No prose, no customer.

use countersign_domain::{
    AccountId, CardId, Currency, DisputeReason, Frequency, OrderId, OrderOperation, ProfileField,
    TransferId,
};
use countersign_provenance::Target;
use time::Date;

/// The most payments one transfer request may hold: one for each pair of the same message.
pub const PAYMENTS_MAX: usize = 10;

/// A request as it came out of a tool's arguments.
///
/// A value that is left out is an open slot, which the customer fills on the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Pay somebody, or move money between own accounts.
    Transfer(TransferAsked),
    /// Send an incoming payment back. The amount is the payment's.
    Refund {
        /// The incoming payment, where the customer named it; else they pick it on the panel.
        transaction: Option<TransferId>,
    },
    /// Set up, change or end a standing order.
    StandingOrder(OrderAsked),
    /// Block a card.
    CardFreeze {
        /// Which one.
        card: Option<CardId>,
    },
    /// Make a blocked card work again.
    CardUnfreeze {
        /// Which one.
        card: Option<CardId>,
    },
    /// Dispute a transaction. The details are typed on the panel.
    Dispute {
        /// Which one.
        transaction: Option<TransferId>,
        /// Why.
        reason: Option<DisputeReason>,
    },
    /// Save a payee. Name and account are typed on the panel.
    Payee,
    /// Change a line of the profile. The new value is typed on the panel.
    ProfileChange {
        /// Which line.
        field: ProfileField,
    },
}

/// A transfer: payments of one message, in one currency, from one account.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TransferAsked {
    /// The payments, one to [`PAYMENTS_MAX`].
    pub payments: Vec<PaymentAsked>,
    /// The currency of the amounts, where the model names one.
    pub currency: Option<Currency>,
    /// The account money leaves, where the customer named one.
    pub from_account: Option<AccountId>,
}

/// One payment of a transfer.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PaymentAsked {
    /// Whom to pay.
    pub payee: Option<Target>,
    /// How much, as a decimal string ([`countersign_domain::Money::parse_wire`]); what it is worth depends on the currency.
    pub amount: Option<String>,
}

/// What is asked about a standing order. Which values may stand depends on the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderAsked {
    /// Set up, change or end.
    pub operation: OrderOperation,
    /// The order (change, cancel).
    pub order: Option<OrderId>,
    /// Whom to pay (create).
    pub payee: Option<Target>,
    /// How much each time (create, change), as a decimal string.
    pub amount: Option<String>,
    /// The currency of the amount (create, change).
    pub currency: Option<Currency>,
    /// How often (create, change).
    pub frequency: Option<Frequency>,
    /// The first day (create, change).
    pub start_date: Option<Date>,
    /// The account money leaves (create).
    pub from_account: Option<AccountId>,
}

impl OrderAsked {
    /// An operation with every value left out.
    pub const fn new(operation: OrderOperation) -> Self {
        Self {
            operation,
            order: None,
            payee: None,
            amount: None,
            currency: None,
            frequency: None,
            start_date: None,
            from_account: None,
        }
    }
}
