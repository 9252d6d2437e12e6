//! What one clause does to the conversation.

use countersign_domain::{Currency, MinorUnits};

use crate::{Act, Grounded, MessageSpan, Reason, Target};

/// Whom a clause names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Target(Target),
    /// An account number of somebody who is no saved payee.
    Account(String),
    Open(Reason),
}

/// How much a clause names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HowMuch {
    Sum(MinorUnits, Currency),
    /// The amount of the request before ("same amount").
    Same,
    Open(Reason),
}

/// A payee as it stands in a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PayeeMention {
    pub who: Who,
    pub at: MessageSpan,
    /// A preposition of the goal stands before it.
    pub marked: bool,
}

/// An amount as it stands in a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AmountMention {
    pub much: HowMuch,
    pub at: MessageSpan,
}

/// One payment a clause asks for; a missing part is open.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Pair {
    pub payee: Option<PayeeMention>,
    pub amount: Option<AmountMention>,
}

/// What a payment or order carries beside its pair.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Terms {
    pub from: Option<Grounded<countersign_domain::AccountId>>,
    pub frequency: Option<Grounded<countersign_domain::Frequency>>,
    /// A repeated payment, with or without a rhythm that can be read.
    pub recurring: bool,
    pub start: Option<Grounded<(i32, u8, u8)>>,
}

/// How surely words speak against a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// They can be about it, or about the answer to a question just asked.
    Faint,
    /// They may; then they end what earlier messages asked for when their own message says nothing else.
    Likely,
    /// They do.
    Certain,
}

/// A clause's effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// Asks for payments.
    Ask {
        pairs: Vec<Pair>,
        terms: Terms,
        repair: bool,
        also: bool,
    },
    /// Asks for "it": for what was asked before, where something was.
    AskIt,
    /// Values without a verb: fills or corrects the request before.
    Fragment(Fragment),
    /// "no", "stop": takes back everything, or the last request.
    TakeBack {
        all: bool,
        /// A verb said so: values behind it are what is taken back, not a correction.
        of_what: bool,
        /// Nothing but a "no".
        bare_no: bool,
    },
    /// Says not to pay something.
    Forbid {
        payees: Vec<Target>,
        amounts: Vec<MinorUnits>,
        reason: Reason,
    },
    /// Speaks against what was asked before: against the payments to these payees, or all where it names nobody
    /// who is to be paid.
    Doubt {
        payees: Vec<Target>,
        strength: Strength,
    },
    /// Tells of somebody named ("Bob is my plumber"): about the request where it is to somebody else.
    Tells(Vec<Target>),
    /// "Oops", "sorry": what follows corrects; where nothing does, it may be a doubt.
    Oops,
    /// The payee or the amount of the request before was a slip: that slot is open again.
    Reopen { payee: bool, amount: bool },
    /// "but only if …" behind a request.
    Condition,
    /// A correction where something is live that it can be about; otherwise what its words say alone.
    Amend {
        amends: Box<Move>,
        otherwise: Vec<Said>,
    },
    /// The currency of the request before is another.
    Recurrency(Currency),
    /// The sums of the two requests before change places.
    Swap,
    /// The amount of the request before would have to be worked out ("round it up").
    Compute,
    /// Another act.
    Act(Box<crate::ActAsk>),
    /// "Unfreeze it": the same card as the act before, whichever that was.
    CardAgain(Box<crate::ActAsk>),
    /// Names the card of the act before.
    FillCard(Box<crate::ActAsk>),
    /// Says not to do another act.
    ForbidAct(Act),
    /// Grounds nothing.
    Refuse(Reason),
    /// Nothing to do with a request.
    Nothing,
}

impl Move {
    /// Asks for one pair.
    pub(crate) fn ask(pair: Pair) -> Self {
        Self::Ask {
            pairs: vec![pair],
            terms: Terms::default(),
            repair: false,
            also: false,
        }
    }
}

/// Values without a verb.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Fragment {
    pub pairs: Vec<Pair>,
    pub not_payees: Vec<Target>,
    pub not_amounts: Vec<MinorUnits>,
    pub terms: Terms,
    /// A word of correction stands with them.
    pub repair: bool,
    /// They can be a request of their own ("20 to Bob, please").
    pub can_ask: bool,
    /// "Send it to": a word of correction that can also ask.
    pub sends: bool,
    /// They only fill a slot that is open: their sentence tells more than them.
    pub only_fills: bool,
    /// Only who is named here is to be paid.
    pub restrict: bool,
    pub also: bool,
}

/// A move with the clause it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub act: Move,
    pub at: MessageSpan,
}
