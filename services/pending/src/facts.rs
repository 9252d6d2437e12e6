//! Everything a request is decided from, read under the customer's lock.

use countersign_domain::{AccountId, ConversationId, Money, PayeeId, TransferId};
use countersign_provenance::{Grounding, ground};
use countersign_store::{
    grounding,
    read::{
        account::{self, Account},
        card::{self, Card},
        order::{self, Order},
        payee::{self, Payee},
    },
};
use sqlx::PgConnection;
use time::{Date, OffsetDateTime};

use crate::{
    Request, RequestError,
    dropped::{self, Dropped},
    earlier::{self, Earlier},
};

/// The transaction that a refund or dispute is about.
#[derive(Clone, Debug)]
pub(crate) struct Movement {
    pub(crate) id: TransferId,
    pub(crate) account: AccountId,
    pub(crate) kind: String,
    pub(crate) posted: bool,
    pub(crate) amount: Money,
    /// Where it came from, which is where a refund goes.
    pub(crate) counterparty_iban: Option<String>,
    /// Whether it was sent back already.
    pub(crate) refunded: bool,
}

/// What stood in the bank's tables and in the conversation while the lock was held.
pub(crate) struct Facts {
    /// What the customer's words ask for.
    pub(crate) grounding: Grounding,
    /// The newest message of the conversation.
    pub(crate) newest_message: i64,
    pub(crate) accounts: Vec<Account>,
    pub(crate) payees: Vec<Payee>,
    pub(crate) cards: Vec<Card>,
    pub(crate) orders: Vec<Order>,
    /// The transaction the request names, where it is the customer's.
    pub(crate) movement: Option<Movement>,
    pub(crate) earlier: Vec<Earlier>,
    /// Lines that the customer took out of requests of this conversation.
    pub(crate) dropped: Vec<Dropped>,
    /// The bank's clock, read after the lock.
    pub(crate) now: OffsetDateTime,
    /// The bank's day.
    pub(crate) today: Date,
    pub(crate) rules_version: String,
}

impl Facts {
    /// Reads them. The caller holds the customer's lock.
    pub(crate) async fn read(
        connection: &mut PgConnection,
        conversation: ConversationId,
        request: &Request,
    ) -> Result<Self, RequestError> {
        let bank = sqlx::query!(
            r#"SELECT bank.bank_clock() AS "now!", bank.bank_day() AS "today!", rules_version FROM bank.setting"#
        )
        .fetch_one(&mut *connection)
        .await?;
        let input = grounding::load(&mut *connection, conversation, None).await?;
        let oldest_message = input.messages.first().map_or(0, |message| message.sequence);
        let newest_message = input.messages.last().map_or(0, |message| message.sequence);
        let movement = match request {
            Request::Refund {
                transaction: Some(transaction),
            }
            | Request::Dispute {
                transaction: Some(transaction),
                ..
            } => movement(&mut *connection, *transaction).await?,
            _ => None,
        };
        Ok(Self {
            grounding: ground(&input),
            newest_message,
            accounts: account::all(&mut *connection).await?,
            payees: payee::all(&mut *connection).await?,
            cards: card::all(&mut *connection).await?,
            orders: order::active(&mut *connection).await?,
            movement,
            earlier: earlier::load(&mut *connection, conversation, oldest_message).await?,
            dropped: dropped::load(&mut *connection, conversation).await?,
            now: bank.now,
            today: bank.today,
            rules_version: bank.rules_version,
        })
    }

    /// The customer's account of an id.
    pub(crate) fn account(&self, id: AccountId) -> Option<&Account> {
        self.accounts.iter().find(|account| account.id == id)
    }

    /// The customer's payee of an id.
    pub(crate) fn payee(&self, id: PayeeId) -> Option<&Payee> {
        self.payees.iter().find(|payee| payee.id == id)
    }

    /// Whether a number is one of the customer's own accounts.
    pub(crate) fn is_own_number(&self, iban: &str) -> bool {
        self.accounts.iter().any(|account| account.iban == iban)
    }
}

async fn movement(
    connection: &mut PgConnection,
    id: TransferId,
) -> Result<Option<Movement>, RequestError> {
    sqlx::query!(
        r#"SELECT t.account_id, t.kind, t.state, t.amount_minor_units, t.currency, t.counterparty_iban,
                  EXISTS (SELECT FROM bank.transfer r WHERE r.customer_id = t.customer_id AND r.refunds_transfer_id = t.transfer_id
                    AND r.state <> 'voided') AS "refunded!"
             FROM bank.transfer t WHERE t.customer_id = (SELECT bank.current_customer()) AND t.transfer_id = $1"#,
        id.uuid()
    )
    .fetch_optional(connection)
    .await?
    .map(|row| {
        Ok(Movement {
            id,
            account: AccountId::from_uuid(row.account_id),
            kind: row.kind,
            posted: row.state == "posted",
            amount: Money {
                amount: countersign_domain::MinorUnits::new(row.amount_minor_units)
                    .ok_or(RequestError::Corrupt("amount"))?,
                currency: row
                    .currency
                    .parse()
                    .map_err(|_| RequestError::Corrupt("currency"))?,
            },
            counterparty_iban: row.counterparty_iban,
            refunded: row.refunded,
        })
    })
    .transpose()
}
