//! What the bank's own rows say at one moment. Verdicts come from here, from receipts and from what browsers
//! received; never from what a model says about itself.

use std::collections::BTreeSet;

use countersign_domain::CustomerId;
use countersign_testkit::database::Watch;
use serde::Deserialize;
use uuid::Uuid;

use crate::sql::uuid_literal;

/// The query; its comment says what it answers.
const QUERY: &str = include_str!("evidence.sql");

/// Everything at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Snapshot {
    /// Requests.
    pub actions: Vec<Action>,
    /// Movements of money since the case began.
    pub moves: Vec<Move>,
    /// Balances.
    pub balances: Vec<Balance>,
    /// Cards.
    pub cards: Vec<CardRow>,
    /// Standing orders.
    pub orders: Vec<OrderRow>,
    /// Saved payees.
    pub payees: Vec<PayeeRow>,
    /// Disputes.
    pub disputes: Vec<DisputeRow>,
    /// Profiles.
    pub profiles: Vec<ProfileRow>,
    /// The bank's log.
    pub events: Vec<EventRow>,
    /// What the chat origin noticed in replies: lines of the operator's page.
    pub alarms: Vec<AlarmRow>,
    /// What customers typed.
    pub utterances: Vec<UtteranceRow>,
}

/// A request with its current values.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Action {
    /// Whose.
    pub customer: Uuid,
    /// Its id.
    pub action: Uuid,
    /// The conversation it came from.
    pub conversation: Uuid,
    /// What it would do.
    pub kind: String,
    /// Where it stands.
    pub state: String,
    /// The code of why it ended.
    pub reason: Option<String>,
    /// The version of its values.
    pub version: i32,
    /// The amounts' currency.
    pub currency: Option<String>,
    /// Last digits of the card it is about.
    pub card: Option<String>,
    /// The standing order it is about.
    pub order: Option<String>,
    /// The transaction it is about, by its counterparty.
    pub transaction: Option<String>,
    /// Rhythm.
    pub frequency: Option<String>,
    /// First day.
    pub start_date: Option<String>,
    /// What was typed on the panel, as JSON.
    pub typed: String,
    /// The account the money leaves.
    pub from_account: Option<String>,
    /// The payments.
    pub lines: Vec<Line>,
    /// The note that was confirmed with it.
    pub note: Option<String>,
    /// H of what was confirmed.
    pub confirm_hash: Option<String>,
    /// Whether a passkey agreed to it.
    pub step_up: bool,
}

impl Action {
    /// Whether it still waits for the customer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state == "pending"
    }

    /// Whether the customer's Confirm made it run.
    #[must_use]
    pub fn is_executed(&self) -> bool {
        self.confirm_hash.is_some()
    }
}

/// One payment of a request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Line {
    /// To whom; nobody yet where the slot is open.
    pub payee: Option<String>,
    /// Whether that is an account of the customer's own.
    pub own_account: bool,
    /// How much, in minor units; nothing yet where the slot is open.
    pub amount: Option<i64>,
}

/// One side of a movement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Move {
    /// Whose account.
    pub customer: Uuid,
    /// Its id.
    pub transfer: Uuid,
    /// What it is.
    pub kind: String,
    /// Where it stands.
    pub state: String,
    /// How much, in minor units.
    pub amount: i64,
    /// Of what.
    pub currency: String,
    /// With whom.
    pub counterparty: String,
    /// With whose account.
    pub iban: Option<String>,
    /// The confirmed request behind it.
    pub action: Option<Uuid>,
    /// Which of the customer's accounts, by its kind.
    pub account: Option<String>,
    /// What the payee reads.
    pub reference: String,
    /// What it did to the account, in minor units.
    pub on_account: i64,
}

/// A balance.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Balance {
    /// Whose.
    pub customer: Uuid,
    /// The account's kind.
    pub account: String,
    /// Its currency.
    pub currency: String,
    /// Minor units.
    pub amount: i64,
}

/// A card.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CardRow {
    /// Whose.
    pub customer: Uuid,
    /// Last four digits.
    pub card: String,
    /// `active` or `frozen`.
    pub state: String,
}

/// A standing order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OrderRow {
    /// Whose.
    pub customer: Uuid,
    /// Its name.
    pub name: Option<String>,
    /// Minor units each time.
    pub amount: i64,
    /// Of what.
    pub currency: String,
    /// To whom.
    pub payee: String,
    /// `active` or `ended`.
    pub state: String,
}

/// A saved payee.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PayeeRow {
    /// Whose.
    pub customer: Uuid,
    /// Its id.
    pub payee: Uuid,
    /// The name.
    pub name: String,
    /// The account.
    pub iban: String,
}

/// A dispute.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DisputeRow {
    /// Whose.
    pub customer: Uuid,
    /// Why, a code.
    pub reason: String,
    /// The customer's words.
    pub details: String,
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ProfileRow {
    /// Whose.
    pub customer: Uuid,
    /// Postal address.
    pub address: String,
    /// Telephone.
    pub phone: String,
    /// E-mail.
    pub email: String,
}

/// An event of the bank's log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EventRow {
    /// Whose chain.
    pub customer: Uuid,
    /// Place in it.
    pub sequence: i64,
    /// What happened.
    pub kind: String,
    /// About which request.
    pub action: Option<Uuid>,
}

/// Something that the chat origin noticed in a reply.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AlarmRow {
    /// In whose conversation.
    pub customer: Uuid,
    /// What it is, a code.
    pub kind: String,
    /// The rule that held, a code.
    pub rule: String,
    /// How often.
    pub number: i32,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct UtteranceRow {
    /// Whose.
    pub customer: Uuid,
    /// Its place among all.
    pub sequence: i64,
    /// The words.
    pub body: String,
}

impl Snapshot {
    /// Reads everything that these customers have.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn take(
        watch: &mut Watch,
        customers: impl Iterator<Item = CustomerId>,
    ) -> anyhow::Result<Self> {
        let customers: Vec<String> = customers.map(|id| uuid_literal(id.uuid())).collect();
        let query = QUERY.replace("{customers}", &customers.join(", "));
        Ok(serde_json::from_value(watch.json(query).await?)?)
    }

    /// The part of it that is one customer's.
    #[must_use]
    pub fn of(&self, customer: CustomerId) -> Self {
        let id = customer.uuid();
        let mut own = self.clone();
        own.actions.retain(|row| row.customer == id);
        own.moves.retain(|row| row.customer == id);
        own.balances.retain(|row| row.customer == id);
        own.cards.retain(|row| row.customer == id);
        own.orders.retain(|row| row.customer == id);
        own.payees.retain(|row| row.customer == id);
        own.disputes.retain(|row| row.customer == id);
        own.profiles.retain(|row| row.customer == id);
        own.events.retain(|row| row.customer == id);
        own.alarms.retain(|row| row.customer == id);
        own.utterances.retain(|row| row.customer == id);
        own
    }

    /// Requests that were both cancelled and confirmed in the log: never true.
    #[must_use]
    pub fn contradictions(&self) -> BTreeSet<Uuid> {
        let of = |kind: &str| -> BTreeSet<Uuid> {
            let events = self.events.iter().filter(|event| event.kind == kind);
            events.filter_map(|event| event.action).collect()
        };
        let confirmed = of("confirmed");
        of("cancelled").intersection(&confirmed).copied().collect()
    }
}
