//! The attacker's program, wherever it was started.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use countersign_testkit::spawn::{self, RunAs, Spawn};
use serde::Deserialize;
use serde_json::{Value, json};

/// How long a turn may take to arrive.
const LOOKS_MAX: u32 = 500;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// One attempt and what came of it.
#[derive(Clone, Debug, Deserialize)]
pub struct Outcome {
    pub attempt: String,
    pub won: bool,
    pub detail: String,
}

/// What came back for a request; without a way, nothing was reached.
#[derive(Clone, Debug, Deserialize)]
pub struct Answer {
    pub way: String,
    pub status: u16,
    pub text: String,
}

/// One running attacker.
pub struct Place {
    http: reqwest::Client,
    url: String,
    child: Option<Child>,
}

impl Place {
    /// The one that was started in the agent's place.
    pub fn of_the_agent(http: reqwest::Client, origin: String) -> Self {
        Self {
            http,
            url: origin,
            child: None,
        }
    }

    /// One more, in no cage and with no filter: what holds without them, and that the attacks are real.
    pub fn without_walls(
        http: reqwest::Client,
        program: &Path,
        run_as: RunAs,
    ) -> anyhow::Result<Self> {
        let opened = File::open(program)?;
        // Another user may not be able to walk to the program.
        let shown = format!("/proc/self/fd/{}", opened.as_raw_fd());
        let config = json!({"listen": {"bind": ["127.0.0.1:0"]}});
        let mut spawn = Spawn::new(Path::new(&shown))
            .inherit(&opened)
            .run_as(run_as)
            .input(config.to_string().into_bytes());
        spawn
            .command()
            .arg("--config-stdin")
            .current_dir("/")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = spawn.start()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("piped")?).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line).context("where it listens")?;
        let address = said["listening"][0].as_str().context("an address")?;
        Ok(Self {
            http,
            url: format!("http://{address}"),
            child: Some(child),
        })
    }

    /// What the process holds, once a turn has arrived.
    pub async fn held(&self) -> anyhow::Result<Value> {
        for _ in 0..LOOKS_MAX {
            let held: Value = self
                .http
                .get(format!("{}/held", self.url))
                .send()
                .await?
                .json()
                .await?;
            if held["turn"].is_object() {
                return Ok(held);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        anyhow::bail!("no turn arrived")
    }

    /// Makes it try a group of things.
    pub async fn tries(&self, attack: Value) -> anyhow::Result<Vec<Outcome>> {
        let outcomes: Vec<Outcome> = self.ordered("attack", &attack).await?.json().await?;
        ensure!(!outcomes.is_empty(), "nothing was tried: {attack}");
        Ok(outcomes)
    }

    /// Makes it send requests.
    pub async fn sends(&self, requests: &[Value]) -> anyhow::Result<Vec<Answer>> {
        let answers: Vec<Answer> = self
            .ordered("requests", &json!(requests))
            .await?
            .json()
            .await?;
        ensure!(answers.len() == requests.len(), "an answer for each");
        Ok(answers)
    }

    /// Makes it end its turn with these words.
    pub async fn ends(&self, text: &str) -> anyhow::Result<()> {
        self.ordered("end", &json!({"text": text})).await.map(drop)
    }

    /// Makes it report lines of its own before it ends its turn with these words.
    pub async fn reports(&self, lines: &[Value], text: &str) -> anyhow::Result<()> {
        self.ordered("end", &json!({"lines": lines, "text": text}))
            .await
            .map(drop)
    }

    async fn ordered(&self, order: &str, body: &Value) -> anyhow::Result<reqwest::Response> {
        Ok(self
            .http
            .post(format!("{}/{order}", self.url))
            .json(body)
            .send()
            .await?
            .error_for_status()?)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            spawn::stop(child, libc::SIGKILL, Duration::from_secs(5));
        }
    }
}
