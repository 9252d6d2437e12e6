//! What the things in a request are called, for the bank's own summary.

use std::collections::HashMap;

use countersign_domain::{
    AccountId, CardId, Currency, MinorUnits, Money, OrderId, PayeeId, TransferId, text::is_hidden,
};
use countersign_store::StoredVersion;
use sqlx::PgConnection;
use time::Date;

/// The longest name a summary shows, in characters; a longer one is cut and the cut marked.
const NAME_LENGTH_MAX: usize = 70;

/// Names by id. What is missing is not named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    payees: HashMap<PayeeId, String>,
    accounts: HashMap<AccountId, String>,
    cards: HashMap<CardId, String>,
    orders: HashMap<OrderId, PayeeId>,
    transactions: HashMap<TransferId, (Money, Date)>,
}

/// A row that the schema forbids, or a failing database.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NamesError {
    #[error("name a stored {0}")]
    Corrupt(&'static str),
    #[error("name what a request is about")]
    Database(#[from] sqlx::Error),
}

impl Names {
    /// Reads the names of everything in some versions, of the session's customer alone.
    pub(crate) async fn read(
        connection: &mut PgConnection,
        versions: &[&StoredVersion],
    ) -> Result<Self, NamesError> {
        let lines = || versions.iter().flat_map(|version| &version.lines);
        let orders: Vec<_> = versions
            .iter()
            .filter_map(|version| version.order.map(OrderId::uuid))
            .collect();
        let cards: Vec<_> = versions
            .iter()
            .filter_map(|version| version.card.map(CardId::uuid))
            .collect();
        let accounts: Vec<_> = lines()
            .filter_map(|line| line.own_account.map(AccountId::uuid))
            .collect();
        let transactions: Vec<_> = versions
            .iter()
            .filter_map(|version| version.transaction.map(TransferId::uuid))
            .collect();
        let mut payees: Vec<_> = lines()
            .filter_map(|line| line.payee.map(PayeeId::uuid))
            .collect();

        let mut names = Self::default();
        for row in sqlx::query!(
            "SELECT order_id, payee_id FROM bank.standing_order WHERE customer_id = (SELECT bank.current_customer()) AND order_id = ANY($1)",
            &orders
        )
        .fetch_all(&mut *connection)
        .await?
        {
            payees.push(row.payee_id);
            names.orders.insert(
                OrderId::from_uuid(row.order_id),
                PayeeId::from_uuid(row.payee_id),
            );
        }
        for row in sqlx::query!(
            "SELECT payee_id, name FROM bank.payee WHERE customer_id = (SELECT bank.current_customer()) AND payee_id = ANY($1)",
            &payees
        )
        .fetch_all(&mut *connection)
        .await?
        {
            names
                .payees
                .insert(PayeeId::from_uuid(row.payee_id), shown(&row.name));
        }
        for row in sqlx::query!(
            "SELECT account_id, label FROM bank.account WHERE customer_id = (SELECT bank.current_customer()) AND account_id = ANY($1)",
            &accounts
        )
        .fetch_all(&mut *connection)
        .await?
        {
            names
                .accounts
                .insert(AccountId::from_uuid(row.account_id), shown(&row.label));
        }
        for row in sqlx::query!(
            "SELECT card_id, label, last_four FROM bank.card WHERE customer_id = (SELECT bank.current_customer()) AND card_id = ANY($1)",
            &cards
        )
        .fetch_all(&mut *connection)
        .await?
        {
            names.cards.insert(
                CardId::from_uuid(row.card_id),
                format!("{} ending {}", shown(&row.label), row.last_four),
            );
        }
        for row in sqlx::query!(
            r#"SELECT transfer_id, amount_minor_units, currency,
                      (created_at AT TIME ZONE (SELECT time_zone FROM bank.setting))::date AS "day!"
                 FROM bank.transfer WHERE customer_id = (SELECT bank.current_customer()) AND transfer_id = ANY($1)"#,
            &transactions
        )
        .fetch_all(&mut *connection)
        .await?
        {
            let money = Money {
                amount: MinorUnits::new(row.amount_minor_units)
                    .ok_or(NamesError::Corrupt("amount"))?,
                currency: row
                    .currency
                    .parse::<Currency>()
                    .map_err(|_| NamesError::Corrupt("currency"))?,
            };
            names
                .transactions
                .insert(TransferId::from_uuid(row.transfer_id), (money, row.day));
        }
        Ok(names)
    }

    pub(crate) fn payee(&self, id: PayeeId) -> Option<&str> {
        self.payees.get(&id).map(String::as_str)
    }

    pub(crate) fn account(&self, id: AccountId) -> Option<&str> {
        self.accounts.get(&id).map(String::as_str)
    }

    pub(crate) fn card(&self, id: CardId) -> Option<&str> {
        self.cards.get(&id).map(String::as_str)
    }

    pub(crate) fn order_payee(&self, id: OrderId) -> Option<&str> {
        self.orders.get(&id).and_then(|payee| self.payee(*payee))
    }

    pub(crate) fn transaction(&self, id: TransferId) -> Option<(Money, Date)> {
        self.transactions.get(&id).copied()
    }

    #[cfg(test)]
    pub(crate) fn with_payee(mut self, id: PayeeId, name: &str) -> Self {
        self.payees.insert(id, shown(name));
        self
    }
}

/// A stored name as one visible run of characters. Who wrote it is not known, so nothing in it can hide.
fn shown(name: &str) -> String {
    let mut visible = name.chars().filter(|character| !is_hidden(*character));
    let mut cut: String = visible.by_ref().take(NAME_LENGTH_MAX).collect();
    if visible.next().is_some() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_name_shows_no_hidden_character_and_marks_its_cut() {
        assert_eq!(shown("Bob\u{202e}htimS\n"), "BobhtimS");
        assert_eq!(shown(&"é".repeat(70)), "é".repeat(70));
        assert_eq!(shown(&"é".repeat(71)), format!("{}…", "é".repeat(70)));
    }
}
