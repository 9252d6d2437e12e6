//! Requests as no model could make them: what the execution must refuse by itself.

use countersign_domain::{AccountId, ActionId, PayeeId};
use uuid::Uuid;

use super::Customer;

/// A request with values as given.
pub struct Planted {
    kind: &'static str,
    currency: &'static str,
    from: Uuid,
    about: Option<Uuid>,
    card: Option<Uuid>,
    lines: Vec<(Option<Uuid>, Option<Uuid>, Option<i64>)>,
}

impl Planted {
    /// A transfer of EUR from an account, without a line yet.
    pub fn transfer(from: AccountId) -> Self {
        Self {
            kind: "transfer",
            currency: "EUR",
            from: from.uuid(),
            about: None,
            card: None,
            lines: Vec::new(),
        }
    }

    /// A refund of an amount.
    pub fn refund(from: AccountId, transaction: Uuid, minor_units: i64) -> Self {
        let mut refund = Self::transfer(from);
        refund.kind = "refund";
        refund.about = Some(transaction);
        refund.lines.push((None, None, Some(minor_units)));
        refund
    }

    /// Freezing a card.
    pub fn card_freeze(from: AccountId, card: Uuid) -> Self {
        let mut freeze = Self::transfer(from);
        freeze.kind = "card_freeze";
        freeze.card = Some(card);
        freeze
    }

    /// In another currency.
    pub fn in_currency(mut self, currency: &'static str) -> Self {
        self.currency = currency;
        self
    }

    /// A line to a payee; without an amount it is an open slot.
    pub fn to(mut self, payee: PayeeId, minor_units: impl Into<Option<i64>>) -> Self {
        self.lines
            .push((Some(payee.uuid()), None, minor_units.into()));
        self
    }

    /// A line to an own account.
    pub fn moving_to(mut self, account: AccountId, minor_units: i64) -> Self {
        self.lines
            .push((None, Some(account.uuid()), Some(minor_units)));
        self
    }
}

impl Customer<'_> {
    /// Plants a request, in a conversation of its own.
    pub async fn plants(&self, request: Planted) -> ActionId {
        let (id, place) = (Uuid::now_v7(), Uuid::new_v4());
        let mut all = self.bank.admin.begin().await.expect("begin");
        sqlx::query("INSERT INTO bank.conversation (customer_id, conversation_id) VALUES ($1, $2)")
            .bind(self.id.uuid())
            .bind(place)
            .execute(&mut *all)
            .await
            .expect("conversation");
        sqlx::query(
            "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
             VALUES ($1, $2, $3, $4, 'planted', 0)",
        )
        .bind(self.id.uuid())
        .bind(id)
        .bind(place)
        .bind(request.kind)
        .execute(&mut *all)
        .await
        .expect("action");
        sqlx::query(
            "INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, transaction_id, card_id,
               rules_version, provenance_version) VALUES ($1, $2, 1, $3, $4, $5, $6, 'rules/1', 'provenance/2')",
        )
        .bind(self.id.uuid())
        .bind(id)
        .bind(request.currency)
        .bind(request.from)
        .bind(request.about)
        .bind(request.card)
        .execute(&mut *all)
        .await
        .expect("version");
        for (number, (payee, own, amount)) in (1_i16..).zip(request.lines) {
            sqlx::query(
                "INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, own_account_id, amount_minor_units)
                 VALUES ($1, $2, 1, $3, $4, $5, $6)",
            )
            .bind(self.id.uuid())
            .bind(id)
            .bind(number)
            .bind(payee)
            .bind(own)
            .bind(amount)
            .execute(&mut *all)
            .await
            .expect("line");
        }
        all.commit().await.expect("commit");
        ActionId::from_uuid(id)
    }

    /// Plants a request and presses Confirm on its card.
    pub async fn plants_and_confirms(
        &self,
        request: Planted,
    ) -> (ActionId, Result<String, String>) {
        let action = self.plants(request).await;
        let card = self.looks_at(action).await;
        (action, self.tries_confirm(&card).await)
    }

    /// A saved payee of an account number, paid long ago.
    pub async fn knows(&self, name: &str, iban: &str) -> PayeeId {
        let payee = Uuid::new_v4();
        sqlx::query(
            "INSERT INTO bank.payee (customer_id, payee_id, name, iban) VALUES ($1, $2, $3, $4)",
        )
        .bind(self.id.uuid())
        .bind(payee)
        .bind(name)
        .bind(iban)
        .execute(&self.bank.admin)
        .await
        .expect("payee");
        self.bank
            .plant(
                "INSERT INTO bank.payee_paid (customer_id, payee_id, first_paid_at, payments_count)
                 VALUES ($1, $2, bank.bank_clock() - interval '30 days', 1)",
                &[self.id.uuid(), payee],
            )
            .await;
        PayeeId::from_uuid(payee)
    }

    /// Puts an own account where payments inside the bank find it; gives its number.
    pub async fn is_found_at(&self, label: &str) -> String {
        sqlx::query_scalar(
            "INSERT INTO bank.account_directory (iban, customer_id, account_id)
             SELECT iban, customer_id, account_id FROM bank.account WHERE account_id = $1 RETURNING iban",
        )
        .bind(self.account(label).uuid())
        .fetch_one(&self.bank.admin)
        .await
        .expect("a number")
    }

    /// What stands on an own account, in minor units.
    pub async fn balance(&self, label: &str) -> i64 {
        sqlx::query_scalar(
            "SELECT balance_minor_units FROM bank.account_balance WHERE account_id = $1",
        )
        .bind(self.account(label).uuid())
        .fetch_one(&self.bank.admin)
        .await
        .expect("balance")
    }

    /// The legs of the transfers of an action: book and amount, in order.
    pub async fn legs(&self, action: ActionId) -> Vec<(String, i64)> {
        sqlx::query_as(
            "SELECT e.book, e.amount_minor_units FROM bank.entry e JOIN bank.transfer t USING (customer_id, transfer_id)
              WHERE t.action_id = $1 ORDER BY t.line_number, e.leg",
        )
        .bind(action.uuid())
        .fetch_all(&self.bank.admin)
        .await
        .expect("legs")
    }
}
