//! What a customer can want from the assistant, as the offline model understands it.

/// One wish. A message may hold several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Pay somebody, or move money between own accounts.
    Pay(Pay),
    /// Send an incoming payment back.
    Refund(Movement),
    /// Set up, change or end a standing order.
    Order(Order),
    /// Freeze or unfreeze a card.
    Card(Card),
    /// Dispute a transaction.
    Dispute(Dispute),
    /// Save a new payee.
    NewPayee,
    /// Change the address, the phone number or the e-mail address.
    Profile(&'static str),
    /// See balances: of the named account, of a currency, or of all.
    Balance(Named),
    /// See transactions, so many pages back, perhaps only those of somebody.
    Activity(Activity),
    /// See spending of a month, perhaps of one category.
    Spending(Spending),
    /// See payees.
    Payees,
    /// See cards.
    Cards,
    /// See standing orders.
    Orders,
    /// See limits.
    Limits,
    /// See what waits on the panel.
    Waiting,
    /// See the inbox.
    Documents,
    /// Read one document of the inbox.
    Read(String),
    /// Know whether something went through.
    Outcome,
    /// Have the assistant confirm, which it cannot.
    Confirm,
    /// Take the last request back.
    TakeBack,
    /// Say that something must not be done.
    Refrain,
    /// Something under a condition, for later, as a question or in somebody else's words: not to be done now.
    NotNow,
    /// A payment of which it is not clear who gets how much.
    Unclear,
    /// See somebody else's things.
    Others,
    /// A card that was lost or stolen, without saying what to do.
    Lost,
    /// Know what this is.
    AboutYou,
    /// See what it can do.
    Help,
    /// A greeting.
    Hello,
    /// Thanks or small talk.
    Thanks,
    /// Nothing it understands.
    Unknown,
}

impl Ask {
    /// Whether a later "no, make it 30" can be about it.
    pub(crate) fn is_act(&self) -> bool {
        matches!(
            self,
            Self::Pay(_) | Self::Refund(_) | Self::Order(_) | Self::Card(_) | Self::Dispute(_)
        )
    }

    /// Whether "more" or "and last month?" can be about it.
    pub(crate) fn is_question(&self) -> bool {
        matches!(
            self,
            Self::Balance(_) | Self::Activity(_) | Self::Spending(_)
        )
    }
}

/// An amount as typed. Without a value it could mean two amounts and is left to the customer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sum {
    pub(crate) value: Option<String>,
    pub(crate) currency: Option<&'static str>,
}

/// One payment: what was typed of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Line {
    pub(crate) payee: Option<String>,
    pub(crate) sum: Option<Sum>,
}

/// Pay somebody.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Pay {
    pub(crate) lines: Vec<Line>,
    pub(crate) from: Option<String>,
    /// An account number was typed where a payee's name belongs.
    pub(crate) account_number: bool,
}

impl Pay {
    /// The first payment, made if there is none.
    pub(crate) fn first(&mut self) -> &mut Line {
        if self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        &mut self.lines[0]
    }

    /// Whether every payment has a payee and an amount.
    fn is_complete(&self) -> bool {
        !self.lines.is_empty()
            && self.lines.iter().all(|line| {
                let value = line.sum.as_ref().and_then(|sum| sum.value.as_ref());
                line.payee.is_some() && value.is_some()
            })
    }

    /// This and the payments of the next sentence, as one wish. `None` where they are not complete or not from one account.
    pub(crate) fn and(&self, next: &Self) -> Option<Self> {
        (self.is_complete() && next.is_complete() && self.from == next.from).then(|| Self {
            lines: [&self.lines[..], &next.lines[..]].concat(),
            ..self.clone()
        })
    }
}

/// A movement on an account, by what the customer said of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Movement {
    pub(crate) sum: Option<Sum>,
    pub(crate) name: Option<String>,
}

/// Something by the name the customer gave it, and a currency, if they did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Named {
    pub(crate) name: Option<String>,
    pub(crate) currency: Option<&'static str>,
}

/// A standing order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    /// `create`, `change` or `cancel`.
    pub(crate) operation: &'static str,
    /// The payee of a new one; the name, payee or purpose of an existing one.
    pub(crate) name: Option<String>,
    pub(crate) sum: Option<Sum>,
    pub(crate) frequency: Option<&'static str>,
    /// The first day, as `YYYY-MM-DD`.
    pub(crate) start: Option<String>,
    pub(crate) from: Option<String>,
}

/// Freeze or unfreeze.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) freeze: bool,
    /// Four digits, `debit`, `credit`, or the card's label.
    pub(crate) which: Option<String>,
}

/// A dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dispute {
    pub(crate) movement: Movement,
    pub(crate) reason: Option<&'static str>,
}

/// A look at transactions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Activity {
    pub(crate) account: Option<String>,
    /// Only those with this merchant, payee or sender.
    pub(crate) with: Option<String>,
    /// How many pages back, newest first; 0 is the newest.
    pub(crate) page: usize,
}

/// A look at spending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Spending {
    /// `YYYY-MM`.
    pub(crate) month: Option<String>,
    pub(crate) category: Option<String>,
}
