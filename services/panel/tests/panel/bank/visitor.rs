//! The people in front of a panel, and what the model side asks for after they wrote. What it would ask for is planted.

use countersign_domain::Secret;
use countersign_soft_passkey::{self as soft_passkey, SoftPasskey};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Bank;

/// A signed-in browser.
#[derive(Clone)]
pub struct Visitor<'a> {
    pub bank: &'a Bank,
    pub cookie: String,
    pub name: String,
}

impl Visitor<'_> {
    /// The secret in the browser's cookie.
    pub fn secret(&self) -> Secret {
        let (_, value) = self.cookie.split_once('=').expect("a pair");
        Secret::new(value.to_owned())
    }

    pub async fn get(&self, path: &str) -> Response {
        self.bank
            .get(path)
            .header("cookie", &self.cookie)
            .send()
            .await
            .expect("answer")
    }

    pub async fn post(&self, path: &str, body: &Value) -> Response {
        self.bank
            .post(path, body)
            .header("cookie", &self.cookie)
            .send()
            .await
            .expect("answer")
    }

    pub async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.text().await.expect("text")
    }

    /// Types a message into the chat: recorded as the chat origin would.
    pub async fn writes(&self, text: &str) {
        let mut admin = self.bank.admin().await;
        for statement in [
            "INSERT INTO bank.conversation (customer_id, conversation_id)
             SELECT customer_id, customer_id FROM bank.customer WHERE display_name = $1 AND $2 <> '' ON CONFLICT DO NOTHING",
            "INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body)
             SELECT customer_id, customer_id, gen_random_uuid(), gen_random_uuid(), $2 FROM bank.customer WHERE display_name = $1",
        ] {
            sqlx::query(statement)
                .bind(&self.name)
                .bind(text)
                .execute(&mut admin)
                .await
                .expect("message");
        }
    }

    /// What the model side asks for after it: a transfer in minor units of the default account, parts left open.
    pub async fn is_asked(&self, payee: Option<&str>, amount: Option<i64>) -> Asked {
        self.supersedes(None, payee, amount).await
    }

    /// The same, in place of an older request.
    pub async fn supersedes(
        &self,
        older: Option<&Asked>,
        payee: Option<&str>,
        amount: Option<i64>,
    ) -> Asked {
        let id = Uuid::now_v7();
        let mut admin = self.bank.admin().await;
        let mut transaction = sqlx::Connection::begin(&mut admin).await.expect("begin");
        if let Some(older) = older {
            sqlx::query("UPDATE bank.pending_action SET state = 'superseded', superseded_by = $2 WHERE action_id = $1")
                .bind(older.id)
                .bind(id)
                .execute(&mut *transaction)
                .await
                .expect("supersede");
        }
        for statement in [
            "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
             SELECT customer_id, $2, customer_id, 'transfer', 'transfer',
                    (SELECT max(sequence) FROM bank.utterance u WHERE u.customer_id = c.customer_id)
               FROM bank.customer c WHERE display_name = $1 AND ($3::text IS NULL OR true) AND ($4::bigint IS NULL OR true)",
            "INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
             SELECT a.customer_id, $2, 1, a.currency, a.account_id, 'rules/1', 'provenance/2'
               FROM bank.account a JOIN bank.customer c USING (customer_id)
              WHERE c.display_name = $1 AND a.is_default AND ($3::text IS NULL OR true) AND ($4::bigint IS NULL OR true)",
            "INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, amount_minor_units)
             SELECT customer_id, $2, 1, 1, (SELECT payee_id FROM bank.payee p WHERE p.customer_id = c.customer_id AND p.name = $3), $4
               FROM bank.customer c WHERE display_name = $1",
        ] {
            sqlx::query(statement)
                .bind(&self.name)
                .bind(id)
                .bind(payee)
                .bind(amount)
                .execute(&mut *transaction)
                .await
                .expect("request");
        }
        transaction.commit().await.expect("commit");
        Asked { id }
    }

    /// Asks for 20.00 to Bob and is shown the card of it, as most tests begin.
    pub async fn sees_twenty_to_bob(&self) -> (Asked, Value) {
        self.writes("Send 20 to Bob").await;
        let asked = self.is_asked(Some("Bob Smith"), Some(2_000)).await;
        let card = self.card(&asked).await;
        (asked, card)
    }

    /// The card of a request as the page receives it.
    pub async fn card(&self, asked: &Asked) -> Value {
        let answer = self.get("/api/cards").await;
        assert_eq!(answer.status(), StatusCode::OK);
        let cards: Value = answer.json().await.expect("json");
        let wanted = asked.text();
        cards["cards"]
            .as_array()
            .expect("cards")
            .iter()
            .find(|card| card["action"] == wanted.as_str())
            .unwrap_or_else(|| panic!("no card for {wanted} in {cards}"))
            .clone()
    }

    /// Presses the button of a card: both steps, as the page makes them.
    pub async fn presses(&self, card: &Value, note: &str) -> Response {
        let passkey = SoftPasskey::new(1);
        if card["step_up"] == "not_enrolled" {
            assert_eq!(self.enrols(&passkey).await.status(), 204);
        }
        let prepared = self.step("prepare", card, note).await;
        if prepared.status() != StatusCode::OK {
            return prepared;
        }
        let prepared: Value = prepared.json().await.expect("prepared");
        if prepared["step_up"].is_null() {
            return self.step("confirm", card, note).await;
        }
        let asked = soft_passkey::challenge(&prepared["step_up"]["options"]);
        let answer = passkey.get(&self.bank.origin, &asked);
        self.agrees(card, note, &answer).await
    }

    /// The second step of a press, with what a passkey answered.
    pub async fn agrees(&self, card: &Value, note: &str, assertion: &Value) -> Response {
        let action = card["action"].as_str().expect("action");
        let body = json!({
            "version": card["version"], "confirm_hash": card["confirm_hash"],
            "nonce": card["nonce"], "note": note, "assertion": assertion,
        });
        self.post(&format!("/api/actions/{action}/confirm"), &body)
            .await
    }

    /// Sets up a passkey, with the leave of an older one where there is one.
    pub async fn enrols_with(
        &self,
        passkey: &SoftPasskey,
        older: Option<&SoftPasskey>,
    ) -> Response {
        let begun = self.post("/api/passkeys/enrol", &json!({})).await;
        if begun.status() != StatusCode::OK {
            return begun;
        }
        let begun: Value = begun.json().await.expect("options");
        let made = passkey.create(
            &self.bank.origin,
            &soft_passkey::challenge(&begun["creation"]),
        );
        let leave = older.map(|older| {
            let answer = older.get(&self.bank.origin, &soft_passkey::challenge(&begun["leave"]));
            soft_passkey::answered(&begun["leave"], &answer)
        });
        let body = json!({
            "name": "Phone", "leave": leave,
            "passkey": soft_passkey::answered(&begun["creation"], &made),
        });
        self.post("/api/passkeys", &body).await
    }

    /// Sets up a first passkey.
    pub async fn enrols(&self, passkey: &SoftPasskey) -> Response {
        self.enrols_with(passkey, None).await
    }

    /// One step of a press.
    pub async fn step(&self, step: &str, card: &Value, note: &str) -> Response {
        let action = card["action"].as_str().expect("action");
        let body = json!({
            "version": card["version"], "confirm_hash": card["confirm_hash"],
            "nonce": card["nonce"], "note": note,
        });
        self.post(&format!("/api/actions/{action}/{step}"), &body)
            .await
    }

    /// What stands on the default account, in minor units.
    pub async fn balance(&self) -> i64 {
        sqlx::query_scalar(
            "SELECT balance_minor_units FROM bank.account_balance b JOIN bank.account a USING (customer_id, account_id)
               JOIN bank.customer c USING (customer_id) WHERE c.display_name = $1 AND a.is_default",
        )
        .bind(&self.name)
        .fetch_one(&mut self.bank.admin().await)
        .await
        .expect("balance")
    }
}

/// A planted request.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub id: Uuid,
}

impl Asked {
    pub fn text(&self) -> String {
        format!("act_{}", self.id.simple())
    }
}
