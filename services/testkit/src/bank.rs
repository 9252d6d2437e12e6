//! A whole bank for one test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use countersign_domain::{CustomerId, Secret};
use tokio::sync::OnceCell;

use crate::Database;
use crate::people::{CaptiveAgent, Customer, DoorClient, Operator};
use crate::stack::{
    self, DemoCustomer, Logins, Ports, Service, Stack, StackOptions, programs, tokens,
};

/// The real programs on ports of their own, with a demo database of their own. Dropping it ends them.
#[derive(Debug)]
pub struct Bank {
    // In the order in which they must end.
    stack: Stack,
    folder: PathBuf,
    database: Database,
    customers: Vec<DemoCustomer>,
}

/// What a test chose instead of the stack's own.
#[derive(Default)]
struct Chosen<'a> {
    agent_url: Option<&'a str>,
    agent_program: Option<&'a Path>,
    assistant: Option<&'a serde_json::Value>,
    provider: Option<&'a str>,
    caps_are_far: bool,
}

impl Bank {
    /// Builds the services where needed and starts them on a fresh demo bank.
    ///
    /// # Errors
    /// When anything does not start; the end of the failed service's log is in the message.
    pub async fn start() -> anyhow::Result<Self> {
        Self::start_with(Chosen::default()).await
    }

    /// The same, with an agent in the test's hands instead of the real one.
    ///
    /// # Errors
    /// As [`Bank::start`].
    pub async fn start_with_agent(agent: &CaptiveAgent) -> anyhow::Result<Self> {
        Self::start_with(Chosen {
            agent_url: Some(&agent.url()),
            ..Chosen::default()
        })
        .await
    }

    /// The same, for many messages and calls in a short time.
    ///
    /// # Errors
    /// As [`Bank::start`].
    pub async fn start_with_far_caps(agent: &CaptiveAgent) -> anyhow::Result<Self> {
        Self::start_with(Chosen {
            agent_url: Some(&agent.url()),
            caps_are_far: true,
            ..Chosen::default()
        })
        .await
    }

    /// The bank with its own agent, for many messages in a short time.
    ///
    /// # Errors
    /// As [`Bank::start`].
    pub async fn start_busy() -> anyhow::Result<Self> {
        Self::start_with(Chosen {
            caps_are_far: true,
            ..Chosen::default()
        })
        .await
    }

    /// The same, with another program in the real agent's place: started as that is, with its user, its cage,
    /// its descriptors and its config.
    ///
    /// # Errors
    /// As [`Bank::start`].
    pub async fn start_with_agent_program(program: &Path) -> anyhow::Result<Self> {
        Self::start_with(Chosen {
            agent_program: Some(program),
            caps_are_far: true,
            ..Chosen::default()
        })
        .await
    }

    /// The same, with a model and guardrails of the test's choosing, as members of the agent's configuration.
    ///
    /// # Errors
    /// As [`Bank::start`].
    pub async fn start_with_assistant(settings: &serde_json::Value) -> anyhow::Result<Self> {
        Self::start_with(Chosen {
            assistant: Some(settings),
            ..Chosen::default()
        })
        .await
    }

    /// The same, with sign-in at an identity provider instead of the demo's.
    ///
    /// # Errors
    /// As [`Bank::start`].
    pub async fn start_with_provider(issuer: &str) -> anyhow::Result<Self> {
        Self::start_with(Chosen {
            provider: Some(issuer),
            ..Chosen::default()
        })
        .await
    }

    async fn start_with(chosen: Chosen<'_>) -> anyhow::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        static PROGRAMS: OnceCell<PathBuf> = OnceCell::const_new();
        let programs = PROGRAMS
            .get_or_try_init(|| async { programs::build(false) })
            .await?;
        let database = Database::demo().await?;
        let customers = tokens::customers(&mut database.admin().await?).await?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("countersign-bank-{}-{count}", std::process::id()));
        let logins = Logins::of_test(&database);
        let stack = Stack::start(StackOptions {
            listeners: stack::open_listeners(Ports::Any)?,
            folder: &folder,
            logins: &logins,
            customers: &customers,
            programs,
            agent_url: chosen.agent_url,
            agent_program: chosen.agent_program,
            assistant: chosen.assistant,
            provider: chosen.provider,
            caps_are_far: chosen.caps_are_far,
        })
        .await?;
        Ok(Self {
            stack,
            folder,
            database,
            customers,
        })
    }

    /// The running processes.
    #[must_use]
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The bank's own folder: keys, logs, the door's record.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The bank's database.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The origin of a service, such as `http://localhost:41234`.
    #[must_use]
    pub fn origin(&self, service: Service) -> String {
        self.stack.origin(service)
    }

    /// The demo customer of that name, in any case.
    ///
    /// # Errors
    /// When there is none.
    pub fn customer(&self, name: &str) -> anyhow::Result<&DemoCustomer> {
        self.customers
            .iter()
            .find(|customer| customer.name.eq_ignore_ascii_case(name))
            .with_context(|| format!("no demo customer is called {name}"))
    }

    /// A one-use login token of a customer, as it stands in the fragment of the address that `up` prints.
    ///
    /// # Errors
    /// When there is no such customer or the database refuses.
    pub async fn login_token(&self, name: &str) -> anyhow::Result<Secret> {
        let customer = self.customer(name)?.id;
        tokens::login_token(&mut self.database.admin().await?, customer).await
    }

    /// A client without a memory of its own: it follows no redirect and keeps no cookie.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn http(&self) -> anyhow::Result<reqwest::Client> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()?)
    }

    /// Signs a demo customer in, with panel and chat.
    ///
    /// # Errors
    /// When a step is refused.
    pub async fn sign_in(&self, name: &str) -> anyhow::Result<Customer> {
        self.sign_in_customer(self.customer(name)?.id).await
    }

    /// Signs any customer of the database in, with panel and chat.
    ///
    /// # Errors
    /// When there is no such customer, or a step is refused.
    pub async fn sign_in_customer(&self, customer: CustomerId) -> anyhow::Result<Customer> {
        let token = tokens::login_token(&mut self.database.admin().await?, customer).await?;
        Customer::sign_in(
            self.http()?,
            &self.origin(Service::Panel),
            &self.origin(Service::Intake),
            token.expose(),
        )
        .await
    }

    /// An operator at the dashboard, not signed in.
    ///
    /// # Errors
    /// When its client cannot be made.
    pub fn operator(&self) -> anyhow::Result<Operator> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Operator::at(
            &self.origin(Service::Dashboard),
            self.stack.port(Service::Dashboard),
        )
    }

    /// A one-use token of the dashboard for an operator of this name.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn operator_token(&self, name: &str) -> anyhow::Result<Secret> {
        tokens::operator_token(&mut self.database.admin().await?, name).await
    }

    /// A client of the bank's door.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn door(&self) -> anyhow::Result<DoorClient> {
        Ok(DoorClient::new(self.http()?, &self.origin(Service::Door)))
    }

    /// The balance of a customer's account, in minor units, from the table itself.
    ///
    /// # Errors
    /// When there is no such account.
    pub async fn balance(&self, name: &str, label: &str) -> anyhow::Result<i64> {
        let customer = self.customer(name)?.id;
        let mut admin = self.database.admin().await?;
        Ok(sqlx::query_scalar(
            "SELECT b.balance_minor_units FROM bank.account_balance b JOIN bank.account a USING (customer_id, account_id) \
              WHERE a.customer_id = $1 AND a.label = $2",
        )
        .bind(customer.uuid())
        .bind(label)
        .fetch_one(&mut admin)
        .await?)
    }

    /// All money in customers' accounts and the count of entries: what an attack must leave alone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn money(&self) -> anyhow::Result<(i64, i64)> {
        let mut admin = self.database.admin().await?;
        Ok(sqlx::query_as(
            "SELECT (SELECT sum(balance_minor_units)::bigint FROM bank.account_balance), (SELECT count(*) FROM bank.entry)",
        )
        .fetch_one(&mut admin)
        .await?)
    }

    /// A session token for the door, as of one turn of a new conversation of a customer.
    ///
    /// # Errors
    /// When there is no such customer or the database refuses.
    pub async fn session_token(&self, name: &str) -> anyhow::Result<String> {
        let customer = self.customer(name)?.id;
        tokens::session_token(
            &mut self.database.admin().await?,
            self.stack.keys(),
            customer,
        )
        .await
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        self.stack.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
