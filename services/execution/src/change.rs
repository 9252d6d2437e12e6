//! A change the customer makes to an open card: begun under the lock, ended with the card as it then is.

use countersign_domain::{ActionId, ActionState, Secret};
use countersign_store::{
    action::{StoredAction, StoredVersion},
    session,
};
use sqlx::{PgPool, Postgres, Transaction};

use crate::{
    ActError, Card,
    cards::{NonceSource, load_one, show},
    event::{self, Detail},
    facts::Facts,
    next_version::{self, NewEntry},
    recheck::{self, Standing},
};

/// An open action in the hands of its customer, whose lock is held until the change ends.
pub(crate) struct Change<'a> {
    pub transaction: Transaction<'static, Postgres>,
    pub action: StoredAction,
    pub facts: Facts,
    nonce: NonceSource<'a>,
}

impl<'a> Change<'a> {
    /// Takes the lock, and then looks whether the action is open.
    ///
    /// # Errors
    /// [`ActError::NotOpen`] with the card when it is not, or no longer.
    pub async fn begin(
        pool: &PgPool,
        secret: &Secret,
        which: ActionId,
        nonce: NonceSource<'a>,
    ) -> Result<Self, ActError> {
        let mut transaction = session::begin(pool, secret).await?;
        session::lock_customer(&mut transaction).await?;
        let action = load_one(&mut transaction, which).await?;
        let facts = Facts::load(&mut transaction).await?;
        if action.state != ActionState::Pending || action.expires_at <= facts.now {
            let card = show(&mut transaction, &action, &facts, nonce).await?;
            return Err(ActError::NotOpen(Box::new(card)));
        }
        Ok(Self {
            transaction,
            action,
            facts,
            nonce,
        })
    }

    /// Reads the customer's words again and weighs the request by them. Answers besides with the newest message that was
    /// read: what is decided now stands against everything said up to it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn weigh(&mut self) -> Result<(Standing, i64), ActError> {
        let action = &self.action;
        let (standing, words) = recheck::weigh(&mut self.transaction, action, &self.facts).await?;
        let through = words
            .messages
            .last()
            .map_or(action.grounded_through, |message| message.sequence);
        Ok((standing, through))
    }

    /// Ends without a change: the customer is shown the card as it is, and the showing is kept.
    ///
    /// # Errors
    /// Always: [`ActError::StaleCard`] with that card, or what kept it from being shown.
    pub async fn stale(mut self) -> Result<Card, ActError> {
        let card = show(&mut self.transaction, &self.action, &self.facts, self.nonce).await?;
        self.transaction.commit().await?;
        Err(ActError::StaleCard(Box::new(card)))
    }

    /// Writes the next version with the entry that made it and the event that records it, and ends with its card.
    ///
    /// # Errors
    /// When the action is not what it was, or the database does not answer.
    pub async fn make(
        mut self,
        values: &StoredVersion,
        entry: NewEntry<'_>,
        kind: &'static str,
        detail: Detail<'_>,
    ) -> Result<Card, ActError> {
        let rules = &self.facts.rules_version;
        let version =
            next_version::write(&mut self.transaction, &self.action, values, entry, rules).await?;
        let now = session::bank_clock(&mut self.transaction).await?;
        let which = self.action.id;
        event::record(&mut self.transaction, kind, which, version, now, detail).await?;
        self.end().await
    }

    /// Ends with the card as it is after what was written.
    ///
    /// # Errors
    /// When the database does not answer; then nothing was changed.
    pub async fn end(mut self) -> Result<Card, ActError> {
        let action = load_one(&mut self.transaction, self.action.id).await?;
        let facts = Facts::load(&mut self.transaction).await?;
        let card = show(&mut self.transaction, &action, &facts, self.nonce).await?;
        self.transaction.commit().await?;
        Ok(card)
    }
}
