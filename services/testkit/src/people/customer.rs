//! A customer at the page: what a browser sends for them, and what they see.

use anyhow::{Context, ensure};
use countersign_soft_passkey::{self as soft_passkey, SoftPasskey};
use serde_json::{Value, json};

/// What the panel answered.
#[derive(Clone, Debug)]
pub struct PanelAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body; null where it is none.
    pub body: Value,
}

/// One signed-in customer, with a panel session and the chat that hangs on it.
#[derive(Clone, Debug)]
pub struct Customer {
    http: reqwest::Client,
    panel: String,
    chat: String,
    cookie: String,
    bearer: String,
    conversation: String,
}

impl Customer {
    /// Signs in with a one-use login token, and opens the chat as the page's frame does.
    ///
    /// # Errors
    /// When a step is refused.
    pub async fn sign_in(
        http: reqwest::Client,
        panel: &str,
        chat: &str,
        login_token: &str,
    ) -> anyhow::Result<Self> {
        let response = http
            .post(format!("{panel}/login"))
            .header("origin", panel)
            .json(&json!({"token": login_token}))
            .send()
            .await?;
        ensure!(
            response.status().is_success(),
            "login answered {}",
            response.status()
        );
        let cookie = response
            .headers()
            .get("set-cookie")
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split(';').next())
            .context("login sets a cookie")?
            .to_owned();
        let mut customer = Self {
            http,
            panel: panel.to_owned(),
            chat: chat.to_owned(),
            cookie,
            bearer: String::new(),
            conversation: String::new(),
        };
        let code = customer.post("/chat-code", json!({})).await?;
        let code = code.body["code"].as_str().context("a chat code")?;
        let opened: Value = customer
            .http
            .post(format!("{chat}/redeem"))
            .header("origin", chat)
            .json(&json!({"code": code}))
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?;
        customer.bearer = opened["bearer"].as_str().context("a bearer")?.to_owned();
        customer.conversation = opened["conversation"]
            .as_str()
            .context("a conversation")?
            .to_owned();
        Ok(customer)
    }

    /// The cookie that is the panel session, as a request header.
    #[must_use]
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// The chat's bearer.
    #[must_use]
    pub fn bearer(&self) -> &str {
        &self.bearer
    }

    /// The conversation the chat is in.
    #[must_use]
    pub fn conversation(&self) -> &str {
        &self.conversation
    }

    /// The same customer in a conversation begun now, as in a second tab.
    ///
    /// # Errors
    /// When the chat refuses.
    pub async fn in_a_new_conversation(&self) -> anyhow::Result<Self> {
        let begun: Value = self
            .http
            .post(format!("{}/conversations", self.chat))
            .header("origin", &self.chat)
            .bearer_auth(&self.bearer)
            .json(&json!({}))
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?;
        let conversation = begun["conversation"].as_str().context("a conversation")?;
        Ok(Self {
            conversation: conversation.to_owned(),
            ..self.clone()
        })
    }

    /// Sends a message and leaves the reply to arrive; the answer's task ends with the turn.
    #[must_use]
    pub fn sends(&self, text: &str) -> tokio::task::JoinHandle<anyhow::Result<String>> {
        self.sends_with_spans(text, json!([]))
    }

    /// Sends a message of which the page recorded pasted or dropped spans.
    #[must_use]
    pub fn sends_with_spans(
        &self,
        text: &str,
        spans: Value,
    ) -> tokio::task::JoinHandle<anyhow::Result<String>> {
        let request = self
            .http
            .post(format!("{}/messages", self.chat))
            .header("origin", &self.chat)
            .bearer_auth(&self.bearer)
            .json(&json!({
                "client_message_id": uuid::Uuid::now_v7(),
                "conversation": self.conversation,
                "text": text,
                "spans": spans,
            }));
        tokio::spawn(async move {
            let response = request.send().await?;
            ensure!(
                response.status().is_success(),
                "the message was answered {}",
                response.status()
            );
            Ok(response.text().await?)
        })
    }

    /// Sends a message and waits for the whole reply, as ndjson lines.
    ///
    /// # Errors
    /// When the message is refused.
    pub async fn asks(&self, text: &str) -> anyhow::Result<Vec<Value>> {
        let lines = self.sends(text).await??;
        lines
            .lines()
            .map(|line| serde_json::from_str(line).context("a line of the reply"))
            .collect()
    }

    /// The cards as the page receives them, newest first.
    ///
    /// # Errors
    /// When the panel refuses.
    pub async fn cards(&self) -> anyhow::Result<Vec<Value>> {
        let answer = self.get("/api/cards").await?;
        ensure!(answer.status == 200, "cards answered {}", answer.status);
        Ok(answer.body["cards"].as_array().cloned().unwrap_or_default())
    }

    /// The newest card that can still be confirmed or filled.
    ///
    /// # Errors
    /// When there is none.
    pub async fn open_card(&self) -> anyhow::Result<Value> {
        self.cards()
            .await?
            .into_iter()
            .find(|card| card["state"] == "pending")
            .context("an open card")
    }

    /// Presses the button of a card as it was shown, with a note, and agrees with a passkey where the card wants one.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn confirms_with_note(
        &self,
        card: &Value,
        note: &str,
    ) -> anyhow::Result<PanelAnswer> {
        let mut body = json!({
            "version": card["version"],
            "confirm_hash": card["confirm_hash"],
            "nonce": card["nonce"],
            "note": note,
        });
        if !card["step_up"].is_null() {
            let passkey = SoftPasskey::new(1);
            if card["step_up"] == "not_enrolled" {
                self.enrols(&passkey).await?;
            }
            let prepared = self.act(card, "prepare", body.clone()).await?;
            if prepared.status != 200 {
                return Ok(prepared);
            }
            let asked = soft_passkey::challenge(&prepared.body["step_up"]["options"]);
            body["assertion"] = passkey.get(&self.panel, &asked);
        }
        self.act(card, "confirm", body).await
    }

    /// Sets up a first passkey, as the page's own script does.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn enrols(&self, passkey: &SoftPasskey) -> anyhow::Result<PanelAnswer> {
        let begun = self.post("/api/passkeys/enrol", json!({})).await?;
        let creation = &begun.body["creation"];
        let made = passkey.create(&self.panel, &soft_passkey::challenge(creation));
        let body = json!({
            "name": "Phone", "leave": null, "passkey": soft_passkey::answered(creation, &made),
        });
        self.post("/api/passkeys", body).await
    }

    /// Presses the button of a card as it was shown.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn confirms(&self, card: &Value) -> anyhow::Result<PanelAnswer> {
        self.confirms_with_note(card, "").await
    }

    /// Cancels a card.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn cancels(&self, card: &Value) -> anyhow::Result<PanelAnswer> {
        self.act(card, "cancel", json!({"version": card["version"]}))
            .await
    }

    /// Keeps a card that asks again.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn keeps(&self, card: &Value) -> anyhow::Result<PanelAnswer> {
        self.act(card, "keep", json!({"version": card["version"]}))
            .await
    }

    /// Fills a slot of a card.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn fills(
        &self,
        card: &Value,
        slot: &str,
        line: i16,
        value: &str,
    ) -> anyhow::Result<PanelAnswer> {
        let body = json!({"version": card["version"], "slot": slot, "line": line, "value": value});
        self.act(card, "fill", body).await
    }

    /// Drops a payment of a card that has several.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn drops(&self, card: &Value, line: i16) -> anyhow::Result<PanelAnswer> {
        self.act(
            card,
            "drop",
            json!({"version": card["version"], "line": line}),
        )
        .await
    }

    /// Posts an act on a card's action.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn act(&self, card: &Value, act: &str, body: Value) -> anyhow::Result<PanelAnswer> {
        let action = card["action"].as_str().context("a card names its action")?;
        self.post(&format!("/api/actions/{action}/{act}"), body)
            .await
    }

    /// Reads a page or resource of the panel.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn get(&self, path: &str) -> anyhow::Result<PanelAnswer> {
        let response = self
            .http
            .get(format!("{}{path}", self.panel))
            .header("cookie", &self.cookie)
            .header("sec-fetch-site", "same-origin")
            .send()
            .await?;
        answer(response).await
    }

    /// Posts JSON to the panel as its own page does.
    ///
    /// # Errors
    /// When the panel does not answer.
    pub async fn post(&self, path: &str, body: Value) -> anyhow::Result<PanelAnswer> {
        let response = self
            .http
            .post(format!("{}{path}", self.panel))
            .header("origin", &self.panel)
            .header("cookie", &self.cookie)
            .json(&body)
            .send()
            .await?;
        answer(response).await
    }
}

async fn answer(response: reqwest::Response) -> anyhow::Result<PanelAnswer> {
    let status = response.status().as_u16();
    let text = response.text().await?;
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Ok(PanelAnswer { status, body })
}
