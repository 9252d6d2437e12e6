//! What a customer can be asked to confirm, and the states such a request passes through.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A text names no variant of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not one of the known {0}")]
pub struct UnknownVariant(pub &'static str);

macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident ($what:literal) { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// Every variant, in the order of the declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// The text in the database, on the wire and in receipts.
            pub const fn text(self) -> &'static str { match self { $(Self::$variant => $text,)* } }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.text()) }
        }

        impl FromStr for $name {
            type Err = UnknownVariant;
            fn from_str(text: &str) -> Result<Self, UnknownVariant> {
                Self::ALL.iter().copied().find(|v| v.text() == text).ok_or(UnknownVariant($what))
            }
        }
    };
}

text_enum! {
    /// What an action does when the customer confirms it.
    ActionKind ("kinds of action") {
        /// Pays one or more payees, or moves money between own accounts.
        Transfer = "transfer",
        /// Sends an incoming payment back to where it came from.
        Refund = "refund",
        /// Sets up a standing order.
        StandingOrderCreate = "standing_order_create",
        /// Changes a standing order's amount, rhythm or start.
        StandingOrderChange = "standing_order_change",
        /// Ends a standing order.
        StandingOrderCancel = "standing_order_cancel",
        /// Blocks a card.
        CardFreeze = "card_freeze",
        /// Makes a blocked card work again.
        CardUnfreeze = "card_unfreeze",
        /// Opens a dispute about a transaction.
        Dispute = "dispute",
        /// Saves a payee whose name and account the customer types on the panel.
        Payee = "payee",
        /// Changes a line of the customer's profile, typed on the panel.
        ProfileChange = "profile_change",
        /// Raises a limit of the customer, typed on the panel. No other side asks for one.
        LimitChange = "limit_change",
    }
}

text_enum! {
    /// Where an action stands. Only `pending` and `held` can still change.
    ActionState ("states of an action") {
        /// Waits for the customer. Nothing has happened.
        Pending = "pending",
        /// A newer request took its place.
        Superseded = "superseded",
        /// The customer said no on the panel.
        Cancelled = "cancelled",
        /// Nobody confirmed it in time.
        Expired = "expired",
        /// The bank said no when the customer confirmed (limit, funds, policy).
        Refused = "refused",
        /// The customer confirmed and the bank waits.
        Held = "held",
        /// The customer confirmed and the bank did it.
        Confirmed = "confirmed",
    }
}

text_enum! {
    /// What a request about a standing order asks for.
    OrderOperation ("standing-order operations") {
        /// Set up a new one.
        Create = "create",
        /// Change an existing one.
        Change = "change",
        /// End an existing one.
        Cancel = "cancel",
    }
}

text_enum! {
    /// How often a standing order pays.
    Frequency ("frequencies") {
        /// Every seven days.
        Weekly = "weekly",
        /// Once a month, on the day of the month it started.
        Monthly = "monthly",
        /// Every three months.
        Quarterly = "quarterly",
        /// Once a year.
        Yearly = "yearly",
    }
}

text_enum! {
    /// Why a customer disputes a transaction. The details are typed on the panel.
    DisputeReason ("dispute reasons") {
        /// The customer does not know the transaction.
        NotRecognised = "not_recognised",
        /// Charged twice for one thing.
        ChargedTwice = "charged_twice",
        /// The amount is not what was agreed.
        WrongAmount = "wrong_amount",
        /// Goods or a service never came.
        NotReceived = "not_received",
        /// A subscription that was cancelled before.
        CancelledSubscription = "cancelled_subscription",
    }
}

text_enum! {
    /// The line of a profile to change. The new value is typed on the panel.
    ProfileField ("profile fields") {
        /// The postal address.
        Address = "address",
        /// The telephone number.
        Phone = "phone",
        /// The e-mail address.
        Email = "email",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_every_kind_reads_back() {
        for kind in ActionKind::ALL {
            assert_eq!(kind.text().parse(), Ok(*kind));
        }
    }
}
