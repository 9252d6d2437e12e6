//! The banks that a run plays in: one whose agent is in the runner's hands, one with the agent and the built-in model.

use countersign_testkit::{
    Bank, Service,
    people::{CaptiveAgent, DoorClient},
};

/// A whole bank, and who plays the agent in it.
pub struct Stage {
    /// The real processes.
    pub bank: Bank,
    /// The agent in the runner's hands; none where the product's own agent runs.
    pub agent: Option<CaptiveAgent>,
    /// Its way to the tools.
    pub door: DoorClient,
    /// The panel's address.
    pub panel_origin: String,
}

impl Stage {
    /// Starts a bank whose agent does what cases say.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn with_captive_agent() -> anyhow::Result<Self> {
        let agent = CaptiveAgent::listen().await?;
        let bank = Bank::start_with_far_caps(&agent).await?;
        Self::of(bank, Some(agent))
    }

    /// Starts a bank with the product's agent and its built-in model.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn with_built_in_model() -> anyhow::Result<Self> {
        Self::of(Bank::start().await?, None)
    }

    fn of(bank: Bank, agent: Option<CaptiveAgent>) -> anyhow::Result<Self> {
        let door = bank.door()?;
        let panel_origin = bank.origin(Service::Panel);
        Ok(Self {
            bank,
            agent,
            door,
            panel_origin,
        })
    }
}
