//! What every request of the chat origin shares.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use countersign_keys::Signer;
use tokio::sync::{OnceCell, Semaphore};

use crate::{
    agent::Agent,
    ambient,
    budget::ModelBudget,
    config::Config,
    metrics::Metrics,
    rate::Rates,
    relay::Screens,
    store::{Database, StoreError, canary::CanaryKey},
};

/// Most turns that run in this process at one time.
pub const TURNS_MAX: usize = 256;
/// Time for reaching the agent.
const AGENT_CONNECT_TIME_OUT: Duration = Duration::from_secs(2);

/// Shared by all requests, behind one counter.
#[derive(Clone)]
pub struct App(Arc<Inner>);

/// See [`App`].
pub struct Inner {
    /// The bank's database, as the role `intake`.
    pub database: Database,
    /// Where turns are sent.
    pub agent: Agent,
    /// Signs the tokens of turns.
    pub session_key: Signer,
    /// How many messages each customer sent lately.
    pub rates: Rates,
    /// Room for turns.
    pub turns: Arc<Semaphore>,
    /// What replies are looked through with.
    pub screens: Screens,
    /// How much of the model a turn may use.
    pub model_budget: ModelBudget,
    /// What this process counted.
    pub metrics: Arc<Metrics>,
    canary_key: OnceCell<CanaryKey>,
}

impl std::ops::Deref for App {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    /// Reads the key and prepares the connections. Nothing is opened yet.
    ///
    /// # Errors
    /// When the config's key, database address or agent address cannot be used.
    pub fn new(config: &Config) -> anyhow::Result<Self> {
        let session_key = Signer::open(&config.session_key, ambient::unix_seconds())
            .context("read the session key")?;
        let http = reqwest::Client::builder()
            .connect_timeout(AGENT_CONNECT_TIME_OUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .context("prepare the connection to the agent")?;
        let url = config
            .agent_url
            .parse()
            .context("read the agent's address")?;
        Ok(Self(Arc::new(Inner {
            database: Database::open(&config.database_url)?,
            agent: Agent { http, url },
            session_key,
            rates: Rates::new(config.messages_per_minute_max),
            turns: Arc::new(Semaphore::new(TURNS_MAX)),
            screens: Screens::new(&config.own_contacts).context("prepare the rules for replies")?,
            model_budget: config.model_budget,
            metrics: Arc::default(),
            canary_key: OnceCell::new(),
        })))
    }

    /// The key under which canaries are known. Read once.
    ///
    /// # Errors
    /// [`StoreError`] when the database gives none; asked again the next time.
    pub async fn canary_key(&self) -> Result<&CanaryKey, StoreError> {
        self.canary_key
            .get_or_try_init(|| CanaryKey::read(self.database.pool()))
            .await
    }
}
