//! A whole bank for one test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use countersign_domain::Secret;
use tokio::sync::OnceCell;

use crate::Database;
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

impl Bank {
    /// Builds the services where needed and starts them on a fresh demo bank.
    ///
    /// # Errors
    /// When anything does not start; the end of the failed service's log is in the message.
    pub async fn start() -> anyhow::Result<Self> {
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
