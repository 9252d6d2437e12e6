//! What the customer does on the panel, through the panel's own login and the database's rules.

use countersign_domain::{ActionId, ActionState, Secret};
use countersign_store::{
    StoredAction,
    action::{self, Which},
    session,
};
use sha2::{Digest, Sha256};
use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use super::Customer;

impl Customer<'_> {
    /// A transaction of the customer's panel session.
    pub async fn panel(&self) -> Transaction<'static, Postgres> {
        session::begin(&self.bank.panel, &self.panel_secret)
            .await
            .expect("panel session")
    }

    /// The action as it is stored.
    pub async fn sees(&self, id: ActionId) -> StoredAction {
        let mut panel = self.panel().await;
        let mut found = action::load(&mut panel, Which::One(id))
            .await
            .expect("read");
        found.pop().expect("the action is there")
    }

    /// Where an action stands.
    pub async fn state(&self, id: ActionId) -> ActionState {
        self.sees(id).await.state
    }

    /// The open actions, newest first.
    pub async fn open(&self) -> Vec<ActionId> {
        let mut panel = self.panel().await;
        action::load(&mut panel, Which::Open)
            .await
            .expect("read")
            .into_iter()
            .map(|action| action.id)
            .collect()
    }

    /// Presses Cancel.
    pub async fn cancels(&self, id: ActionId) {
        let mut panel = self.panel().await;
        session::lock_customer(&mut panel).await.expect("lock");
        let updated = sqlx::query(
            "UPDATE bank.pending_action a SET state = 'cancelled', consumed_through =
               (SELECT max(u.sequence) FROM bank.utterance u WHERE u.customer_id = a.customer_id AND u.conversation_id = a.conversation_id)
              WHERE a.action_id = $1",
        )
        .bind(id.uuid())
        .execute(&mut *panel)
        .await
        .expect("cancel");
        assert_eq!(updated.rows_affected(), 1);
        panel.commit().await.expect("commit");
    }

    /// Fills the amount of the first line in, which makes a new version.
    pub async fn fills_amount(&self, id: ActionId, minor_units: i64) {
        let mut panel = self.panel().await;
        session::lock_customer(&mut panel).await.expect("lock");
        for statement in [
            "INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
             SELECT customer_id, action_id, 2, currency, from_account_id, rules_version, provenance_version
               FROM bank.pending_version WHERE action_id = $1 AND version = 1 AND $2::bigint > 0",
            "INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, own_account_id, amount_minor_units)
             SELECT customer_id, action_id, 2, line_number, payee_id, own_account_id, $2
               FROM bank.pending_line WHERE action_id = $1 AND version = 1",
            "INSERT INTO bank.panel_entry (customer_id, action_id, version, slot, line_number, value)
             SELECT customer_id, action_id, 2, 'amount', 1, $2::text FROM bank.pending_version WHERE action_id = $1 AND version = 1",
            "UPDATE bank.pending_action SET current_version = 2 WHERE action_id = $1 AND $2::bigint > 0",
        ] {
            let done = sqlx::query(statement)
                .bind(id.uuid())
                .bind(minor_units)
                .execute(&mut *panel)
                .await
                .expect("fill");
            assert_eq!(done.rows_affected(), 1);
        }
        panel.commit().await.expect("commit");
    }

    /// Takes a line out, which makes a new version.
    pub async fn drops(&self, id: ActionId, line: i16) {
        let mut panel = self.panel().await;
        session::lock_customer(&mut panel).await.expect("lock");
        for (statement, rows) in [
            ("INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
             SELECT v.customer_id, v.action_id, v.version + 1, v.currency, v.from_account_id, v.rules_version, v.provenance_version
               FROM bank.pending_version v JOIN bank.pending_action a USING (customer_id, action_id)
              WHERE v.action_id = $1 AND v.version = a.current_version AND $2::smallint > 0", Some(1)),
            ("INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, own_account_id, amount_minor_units)
             SELECT l.customer_id, l.action_id, l.version + 1, l.line_number, l.payee_id, l.own_account_id, l.amount_minor_units
               FROM bank.pending_line l JOIN bank.pending_action a USING (customer_id, action_id)
              WHERE l.action_id = $1 AND l.version = a.current_version AND l.line_number <> $2", None),
            ("INSERT INTO bank.panel_entry (customer_id, action_id, version, slot, line_number, value)
             SELECT a.customer_id, a.action_id, a.current_version + 1, 'drop', $2, (SELECT max(u.sequence)::text FROM bank.utterance u
                WHERE u.customer_id = a.customer_id AND u.conversation_id = a.conversation_id)
               FROM bank.pending_action a WHERE a.action_id = $1", Some(1)),
            ("UPDATE bank.pending_action SET current_version = current_version + 1 WHERE action_id = $1 AND $2::smallint > 0", Some(1)),
        ] {
            let done = sqlx::query(statement)
                .bind(id.uuid())
                .bind(line)
                .execute(&mut *panel)
                .await
                .expect("drop a line");
            assert!(rows.is_none_or(|rows| rows == done.rows_affected()));
        }
        panel.commit().await.expect("commit");
    }

    /// Looks at the card of an action as it stands, and agrees with a passkey, so that one is never what is missing.
    pub async fn looks_at(&self, id: ActionId) -> Card {
        let card = Card {
            action: id,
            version: self.sees(id).await.values.version,
            nonce: Uuid::new_v4().to_string(),
            record: "{}",
            hold: None,
        };
        let mut panel = self.panel().await;
        session::lock_customer(&mut panel).await.expect("lock");
        sqlx::query(
            "INSERT INTO bank.card_shown (customer_id, nonce_hash, action_id, version, panel_grant_id, confirm_hash)
             VALUES (bank.current_customer(), sha256(convert_to($1, 'UTF8')), $2, $3, bank.current_grant(), $4)",
        )
        .bind(&card.nonce)
        .bind(id.uuid())
        .bind(card.version)
        .bind(card.hash())
        .execute(&mut *panel)
        .await
        .expect("show the card");
        panel.commit().await.expect("commit");
        self.agrees_with_a_passkey(&card).await;
        card
    }

    /// Presses Confirm on a card, and says what the bank answered.
    pub async fn presses_confirm(&self, card: Card) -> String {
        self.tries_confirm(&card).await.expect("an answer")
    }

    /// Presses Confirm on a card: the bank's answer, or the code of the error that undid the transaction.
    pub async fn tries_confirm(&self, card: &Card) -> Result<String, String> {
        self.tries_confirm_in(&self.panel_secret, card).await
    }

    /// The same in another session of the customer.
    pub async fn tries_confirm_in(&self, session: &Secret, card: &Card) -> Result<String, String> {
        let mut panel = session::begin(&self.bank.panel, session)
            .await
            .expect("panel session");
        let answer: Result<String, sqlx::Error> = sqlx::query_scalar(
            "SELECT bank.confirm_action($1, $2, $3, $4, $4, '', $5, ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 10)), '{}', $6)",
        )
        .bind(card.action.uuid())
        .bind(card.version)
        .bind(&card.nonce)
        .bind(card.hash())
        .bind(card.record.as_bytes())
        .bind(card.hold)
        .fetch_one(&mut *panel)
        .await;
        match answer {
            Ok(answer) => {
                panel.commit().await.map_err(|error| code_of(&error))?;
                Ok(answer)
            }
            Err(error) => Err(code_of(&error)),
        }
    }

    /// Signs in once more.
    pub async fn signs_in_again(&self) -> Secret {
        let secret = super::bank::secret();
        sqlx::query(
            "INSERT INTO bank.session_grant (grant_id, customer_id, secret_hash, audience, expires_at)
             VALUES (gen_random_uuid(), $1, $2, 'panel', bank.bank_clock() + interval '30 days')",
        )
        .bind(self.id.uuid())
        .bind(secret.hash())
        .execute(&self.bank.admin)
        .await
        .expect("panel session");
        secret
    }

    /// Presses Undo: the bank's answer.
    pub async fn undoes(&self, id: ActionId) -> String {
        let mut panel = self.panel().await;
        let answer = sqlx::query_scalar("SELECT bank.undo_action($1)")
            .bind(id.uuid())
            .fetch_one(&mut *panel)
            .await
            .expect("undo");
        panel.commit().await.expect("commit");
        answer
    }

    /// What a verified answer of a passkey leaves behind. How it is verified is tried where it is: on the panel.
    async fn agrees_with_a_passkey(&self, card: &Card) {
        let mut admin = self.bank.database.admin().await.expect("admin");
        for statement in [
            "INSERT INTO bank.passkey (customer_id, passkey_id, credential_id, credential_hash, credential, name, synced, vouched)
             SELECT customer_id, customer_id, uuid_send(customer_id), sha256(uuid_send(customer_id)), '{}', 'Phone', true, true
               FROM bank.pending_action WHERE action_id = $1 AND $2 <> '' AND $3 <> '' ON CONFLICT DO NOTHING",
            "INSERT INTO bank.step_up (customer_id, challenge, purpose, action_id, panel_grant_id, passkey_id, client_data,
               authenticator_data, signature, answered_at)
             SELECT a.customer_id, bank.confirm_challenge($3, $2, ''), 'confirm', a.action_id, c.panel_grant_id, a.customer_id, 'c', 'a', 's',
                    bank.bank_clock()
               FROM bank.pending_action a JOIN bank.card_shown c USING (customer_id, action_id)
              WHERE a.action_id = $1 AND c.nonce_hash = sha256(convert_to($2, 'UTF8')) ON CONFLICT DO NOTHING",
        ] {
            sqlx::query(statement)
                .bind(card.action.uuid())
                .bind(&card.nonce)
                .bind(card.hash())
                .execute(&mut admin)
                .await
                .expect("agree with a passkey");
        }
    }

    /// Looks at the card of an action and confirms it.
    pub async fn confirms(&self, id: ActionId) -> String {
        let card = self.looks_at(id).await;
        self.presses_confirm(card).await
    }
}

/// One showing of a card, and everything that a press on it carries.
#[derive(Clone)]
pub struct Card {
    pub action: ActionId,
    pub version: i32,
    pub nonce: String,
    /// The record of these tests says nothing of its own.
    pub record: &'static str,
    /// Why the panel says that the bank waits.
    pub hold: Option<&'static str>,
}

impl Card {
    /// H: the hash that names the record.
    pub fn hash(&self) -> Vec<u8> {
        Sha256::digest(format!("countersign/confirm/v1{}", self.record)).to_vec()
    }
}

/// The SQLSTATE of an error.
pub fn code_of(error: &sqlx::Error) -> String {
    session::sqlstate(error).unwrap_or_else(|| error.to_string())
}
