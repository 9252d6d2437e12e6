//! A door started by a supervisor: its whole configuration arrives as one JSON object.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use countersign_journal::Options;
use countersign_keys::Signer;
use countersign_policy::Policy;
use countersign_receipts::LogSigner;
use countersign_serve::guard::Allowed;
use countersign_serve::{Workers, eager};

use crate::approval;
use crate::config::Config;
use crate::door::{Door, Record, Rules};
use crate::http::gate::Gate;
use crate::http::router::{direct, router};
use crate::http::tokens::{Identity, Sessions};
use crate::http::upstream::Upstream;

/// How often the head of the record is signed when there is something new.
const HEAD_INTERVAL: Duration = Duration::from_millis(500);

/// Whether the process was started this way: `--config-stdin` or `--config FILE`.
pub fn is_asked_for() -> bool {
    let first = std::env::args_os().nth(1);
    first.is_some_and(|first| first == "--config-stdin" || first == "--config")
}

/// Serves until it is told to end.
#[tokio::main]
pub async fn run() -> anyhow::Result<ExitCode> {
    countersign_serve::init_logging("door");
    let config: Config = countersign_serve::read_config()?;
    let allowed = Allowed {
        hosts: config.hosts.clone(),
        origins: config.origins.clone(),
    };
    let listeners = countersign_serve::open(&config.listen).await?;
    let approvals = config.approvals.clone();
    let log_directory = config.log_directory.clone();
    let telemetry = config.telemetry.clone();
    eager::set_look_microseconds(config.look_microseconds);
    let mut numbers = Vec::new();
    if let Some(listen) = &config.metrics_listen {
        for listener in countersign_serve::open(listen).await? {
            numbers.push(listener.into_plain()?);
        }
    }
    let gate = open(config).context("open the door")?;
    let door = Arc::clone(&gate.door);
    crate::telemetry::open_at(&door, &telemetry, numbers)?;
    if let Some(arguments) = approvals
        && let Some(desk) = approval::open(&door, &arguments, &log_directory)?
    {
        tokio::spawn(desk.close_when_stopping());
    }
    let heads = tokio::spawn(sign_heads(Arc::clone(&door)));
    let gate = Arc::new(gate);
    let direct = direct(Arc::clone(&gate), allowed.clone());
    let router = router(gate, allowed);
    let workers = Workers::start().context("start a thread")?;
    countersign_serve::run_directly("door", listeners, router, direct, workers).await?;
    heads.abort();
    door.close().context("close the record")?;
    Ok(ExitCode::SUCCESS)
}

fn open(config: Config) -> anyhow::Result<Gate> {
    let policy = Policy::load(&config.policy_yaml).context("read the policy")?;
    let upstream = Upstream::new(&config.upstream)?;
    serves_all(&policy, upstream.name())?;
    let identity = Identity::Sessions(Sessions::new(
        config.session_keys,
        crate::clock::unix_seconds(),
    )?);
    let request_key = Signer::open(&config.request_key, crate::clock::unix_seconds())?;
    let signer = LogSigner::new(&config.log_origin, &config.receipt_key)?;
    let door = Door::open(
        Rules::new(policy)?,
        &[upstream.name()],
        Record {
            directory: config.log_directory,
            signer,
            options: Options {
                mode: config.record,
                ..Options::default()
            },
        },
    )?;
    Ok(Gate {
        door: Arc::new(door),
        identity,
        upstream,
        request_key: Some(request_key),
        sessions: crate::http::sessions::Sessions::default(),
        reading: tokio::sync::Mutex::default(),
    })
}

/// A policy that names more servers than are served would promise what nobody keeps.
fn serves_all(policy: &Policy, served: &str) -> anyhow::Result<()> {
    let others = policy.servers().map(|(name, _)| name);
    let mut others: Vec<_> = others.filter(|name| *name != served).collect();
    others.sort_unstable();
    anyhow::ensure!(
        others.is_empty(),
        "the policy names {} beside {served}, and a door for session tokens stands before one server: give the \
         others a policy and a door of their own (`countersign-door serve` puts several under one address)",
        others.join(", ")
    );
    Ok(())
}

/// Signs the head of the record again and again. A failure shuts the door until one succeeds.
async fn sign_heads(door: Arc<Door>) {
    let mut ticks = tokio::time::interval(HEAD_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let log = Arc::clone(&door.log);
        // The disk may take its time; calls go on meanwhile.
        match tokio::task::spawn_blocking(move || log.sign_head()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "Could not sign the head of the record"),
            Err(error) => tracing::error!(%error, "The signing of heads ended"),
        }
    }
}
