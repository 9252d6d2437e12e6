//! What every handler of the panel shares.

use std::sync::Arc;

use countersign_execution::LogMemory;
use countersign_step_up::RelyingParty;
use sqlx::PgPool;

use crate::{config::Demo, wake::Wakes};

/// The panel's shared state. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App {
    /// The database as role `panel`.
    pub pool: PgPool,
    /// The origin of the framed chat.
    pub chat_origin: Arc<str>,
    /// The demo's customers; none outside the demo.
    pub demo: Option<Arc<Demo>>,
    /// The bank's number for emergencies.
    pub bank_phone: Arc<str>,
    /// The origin that passkeys are bound to.
    pub passkey_page: Arc<RelyingParty>,
    /// What is remembered of the bank's log outside the database.
    pub log: Arc<LogMemory>,
    /// Who waits for a wake-up.
    pub wakes: Wakes,
}

impl App {
    /// The bank's number as a program dials it.
    pub fn tel(&self) -> String {
        self.bank_phone
            .chars()
            .filter(|character| !character.is_whitespace())
            .collect()
    }
}
