//! A bank, an agent in the test's hands, and one customer with a conversation.

use std::sync::{Mutex, PoisonError};

use anyhow::{Context, ensure};
use countersign_testkit::{
    Bank,
    people::{CaptiveAgent, Customer, DoorClient, ToolAnswer, Turn},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub struct Scene {
    pub bank: Bank,
    pub agent: CaptiveAgent,
    pub door: DoorClient,
    pub ada: Customer,
    /// The answer to Ada's last message. The next one is sent after it: a conversation has one turn at a time.
    reply: Mutex<Option<JoinHandle<anyhow::Result<String>>>>,
}

impl Scene {
    pub async fn begin() -> anyhow::Result<Self> {
        let agent = CaptiveAgent::listen().await?;
        let bank = Bank::start_with_agent(&agent).await?;
        Self::in_bank(bank, agent).await
    }

    /// For stories of many rounds.
    pub async fn begin_with_far_caps() -> anyhow::Result<Self> {
        let agent = CaptiveAgent::listen().await?;
        let bank = Bank::start_with_far_caps(&agent).await?;
        Self::in_bank(bank, agent).await
    }

    async fn in_bank(bank: Bank, agent: CaptiveAgent) -> anyhow::Result<Self> {
        let door = bank.door()?;
        let ada = bank.sign_in("Ada").await?;
        Ok(Self {
            bank,
            agent,
            door,
            ada,
            reply: Mutex::default(),
        })
    }

    /// Ada writes; the turn waits for the test's agent.
    pub async fn ada_says(&self, text: &str) -> anyhow::Result<Turn> {
        let before = self
            .reply
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(before) = before {
            before.await??;
        }
        let reply = self.ada.sends(text);
        let turn = self.agent.turn(text).await?;
        *self.reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
        Ok(turn)
    }

    /// Ada writes and the agent makes one request for her, then ends its turn.
    pub async fn ada_gets(
        &self,
        text: &str,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<ToolAnswer> {
        let turn = self.ada_says(text).await?;
        let answer = turn.calls(&self.door, tool, arguments).await?;
        turn.ends();
        Ok(answer)
    }

    /// Ada's payee of that name, by the id the bank hands out.
    pub async fn payee(&self, turn: &Turn, name: &str) -> anyhow::Result<String> {
        self.find(turn, "list_payees", "payee", name).await
    }

    /// Ada's account, card, order or payee whose row mentions `text`, by its id: `noun` is the row's key.
    pub async fn find(
        &self,
        turn: &Turn,
        tool: &str,
        noun: &str,
        text: &str,
    ) -> anyhow::Result<String> {
        let answer = turn.calls(&self.door, tool, json!({})).await?;
        ensure!(answer.succeeded(), "{tool} answered {}", answer.body);
        let list = answer
            .content()
            .as_object()
            .and_then(|lists| lists.values().find(|list| list.is_array()));
        let rows = list
            .and_then(Value::as_array)
            .with_context(|| format!("a list in {}", answer.body))?;
        rows.iter()
            .find(|row| row.to_string().contains(text))
            .and_then(|row| row[noun].as_str())
            .map(ToOwned::to_owned)
            .with_context(|| format!("no {text} among {rows:?}"))
    }

    /// One transfer to a payee, as a model asks for it.
    pub async fn transfer(
        &self,
        turn: &Turn,
        payee: &str,
        amount: &str,
    ) -> anyhow::Result<ToolAnswer> {
        let payee = self.payee(turn, payee).await?;
        turn.calls(
            &self.door,
            "request_transfer",
            json!({"payments": [{"payee": payee, "amount": amount}]}),
        )
        .await
    }
}
