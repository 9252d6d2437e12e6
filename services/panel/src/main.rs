//! The panel: where a customer sees what was asked for in their name, and confirms it or does not.
//!
//! The one origin whose press counts. It draws stored values that it recomputed, carries the hash of
//! what it showed to the one execution function, and frames the chat without listening to it. It reads no
//! model's text. Beside its pages it runs the bank's loops (poster, expiry sweeper, releaser,
//! outbox relay, notary), each under a
//! database role of its own.

mod app;
mod assets;
mod config;
mod cookie;
mod language;
mod loops;
mod name_check;
mod notices;
mod outward;
mod page;
mod refusal;
mod remembered;
mod router;
mod routes;
mod session;
mod show;
mod shown_card;
mod sign_in;
mod wake;

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use countersign_domain::Secret;
use countersign_execution::LogMemory;
use countersign_receipts::LogSigner;
use countersign_step_up::RelyingParty;
use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::{
    app::App, config::Config, name_check::Checker, notices::Relay, remembered::Remembered,
    wake::Wakes,
};

/// Connections of the pages' role. Streams hold none while they wait.
const PAGE_CONNECTIONS_MAX: u32 = 16;
/// Connections of one loop: it takes one turn at a time.
const LOOP_CONNECTIONS_MAX: u32 = 2;
/// How long a request waits for a connection before it is told that the bank is busy.
const ACQUIRE_TIME_OUT: Duration = Duration::from_secs(4);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    countersign_serve::init_logging("panel");
    let mut config: Config = countersign_serve::read_config()?;
    let channels = std::mem::take(&mut config.notices);
    let name_check = config.name_check.take();
    let pool = pool(&config.database_url, PAGE_CONNECTIONS_MAX)
        .context("the pages' database address is not understood")?;
    let wakes = Wakes::default();
    tokio::spawn(wakes.clone().listen(config.database_url.clone()));
    // One provider for all TLS that this process speaks: mail and webhook.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (remembered, log) = Remembered::open(&config.state_folder, &config.log_origin)?;
    let log = Arc::new(log);
    start_loops(&config, &pool, remembered, &log)?;
    let relay = Relay::new(channels, &config.panel_origin)?;
    let relay_pool = self::pool(&config.relay_database_url, LOOP_CONNECTIONS_MAX)
        .context("the relay's database address is not understood")?;
    tokio::spawn(loops::relay(relay_pool, relay));
    if let Some(name_check) = name_check {
        let checker_pool = self::pool(&config.checker_database_url, LOOP_CONNECTIONS_MAX)
            .context("the checker's database address is not understood")?;
        tokio::spawn(loops::check_names(checker_pool, Checker::new(name_check)?));
    }
    let app = App {
        pool,
        chat_origin: config.chat_origin.as_str().into(),
        demo: config.demo.clone().map(Arc::new),
        bank_phone: config.bank_phone.as_str().into(),
        passkey_page: Arc::new(RelyingParty::new(&config.panel_origin)?),
        log,
        wakes,
    };
    let login = sign_in::provider(&config)?;
    let router = router::router(app, &config.panel_origin, login);
    let listeners = countersign_serve::open(&config.listen).await?;
    countersign_serve::run("panel", listeners, router).await
}

/// Starts poster, sweeper, releaser and notary, each with its own login.
fn start_loops(
    config: &Config,
    pages: &PgPool,
    remembered: Remembered,
    log: &Arc<LogMemory>,
) -> anyhow::Result<()> {
    let signer = LogSigner::new(&config.log_origin, &config.notary_key)
        .context("the key or the name of the bank's log cannot be used")?;
    let pool_of = |url: &Secret, whose: &'static str| {
        pool(url, LOOP_CONNECTIONS_MAX)
            .with_context(|| format!("the {whose}'s database address is not understood"))
    };
    let (pages, log) = (|| pages.clone(), || Arc::clone(log));
    tokio::spawn(loops::post(
        pool_of(&config.poster_database_url, "poster")?,
        pages(),
        log(),
    ));
    tokio::spawn(loops::sweep(
        pool_of(&config.sweeper_database_url, "sweeper")?,
        pages(),
        log(),
    ));
    tokio::spawn(loops::release(
        pool_of(&config.releaser_database_url, "releaser")?,
        pages(),
        log(),
    ));
    tokio::spawn(loops::notarise(
        pool_of(&config.notary_database_url, "notary")?,
        signer,
        remembered,
        log(),
    ));
    Ok(())
}

/// A pool that connects when it is first used, so that the panel starts before its database does.
fn pool(url: &Secret, connections: u32) -> Result<PgPool, sqlx::Error> {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIME_OUT)
        .connect_lazy(url.expose())
}
