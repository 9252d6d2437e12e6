//! A client on a program's pipes that writes its own lines.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

/// How long any answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
/// How long it is waited for an answer that ought not to come.
const SILENCE_TIME: Duration = Duration::from_millis(300);

/// A running program and a client of it. Dropping it ends the program.
#[derive(Debug)]
pub struct Speaker {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Speaker {
    /// Starts a program.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("start {:?}", command.get_program()))?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let (say, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                if say.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
        })
    }

    /// Starts a program and greets it as a client of the older revision does.
    ///
    /// # Errors
    /// When it does not start or does not answer.
    pub fn greeting(command: &mut Command) -> anyhow::Result<Self> {
        let mut speaker = Self::start(command)?;
        speaker.write(
            br#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"xtask","version":"1"}}}"#,
        )?;
        speaker.answer()?;
        speaker.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        Ok(speaker)
    }

    /// Writes a line.
    ///
    /// # Errors
    /// When the program has gone.
    pub fn write(&mut self, line: &[u8]) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("its input is open")?;
        input.write_all(line)?;
        input.write_all(b"\n")?;
        Ok(input.flush()?)
    }

    /// Asks, and returns the answer's `result`.
    ///
    /// # Errors
    /// When there is none.
    pub fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let answer = self.answer_to(method, params)?;
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => bail!("{method} was answered with {answer}"),
        }
    }

    /// Asks, and returns the whole answer.
    ///
    /// # Errors
    /// When there is none in time.
    pub fn answer_to(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let asked =
            serde_json::json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.write(asked.to_string().as_bytes())?;
        self.answer()
    }

    /// The next message that is an answer.
    ///
    /// # Errors
    /// When none comes in time.
    pub fn answer(&mut self) -> anyhow::Result<Value> {
        let until = Instant::now() + ANSWER_TIME_MAX;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self
                .lines
                .recv_timeout(left)
                .context("wait for an answer")?;
            let message: Value = serde_json::from_str(&line).context("read an answer")?;
            if message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    /// What comes in a moment, if anything.
    #[must_use]
    pub fn silence(&self) -> Option<String> {
        self.lines.recv_timeout(SILENCE_TIME).ok()
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        self.input = None;
        let until = Instant::now() + ANSWER_TIME_MAX;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
