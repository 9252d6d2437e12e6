//! A client that writes what an attack wants and keeps whatever comes back.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

/// How long an answer may take until the attack goes on without it.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// How long what comes after an answer may take.
const AFTER_TIME: Duration = Duration::from_millis(150);

/// What came back.
#[derive(Debug, Default)]
pub struct Heard {
    /// Every line, in order.
    pub lines: Vec<String>,
    /// Ids that were asked and not answered in time.
    pub silent: usize,
}

/// A client of one running program.
pub struct Speaker {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    heard: Heard,
    next_id: u64,
}

impl Speaker {
    /// Starts the program.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("start the attacked program")?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let (say, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n') {
                let Ok(line) = line else { return };
                if say
                    .send(String::from_utf8_lossy(&line).into_owned())
                    .is_err()
                {
                    return;
                }
            }
        });
        let mut speaker = Self {
            input: child.stdin.take(),
            child,
            lines,
            heard: Heard::default(),
            next_id: 1,
        };
        speaker.ask(
            "initialize",
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}"#,
        )?;
        speaker.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        speaker.heard = Heard::default();
        Ok(speaker)
    }

    /// Writes a line as it is.
    ///
    /// # Errors
    /// When the program has gone.
    pub fn write(&mut self, line: &str) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("its input is open")?;
        writeln!(input, "{line}").context("write to the attacked program")?;
        input.flush().context("write to the attacked program")
    }

    /// Asks and waits for the answer; what else comes is kept as well.
    ///
    /// # Errors
    /// When the program has gone.
    pub fn ask(&mut self, method: &str, params: &str) -> anyhow::Result<()> {
        let id = self.next_id;
        self.next_id += 1;
        self.write(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ))?;
        self.wait_for(id, ANSWER_TIME);
        Ok(())
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// When the program has gone.
    pub fn call(&mut self, tool: &str, arguments: &str) -> anyhow::Result<()> {
        self.ask(
            "tools/call",
            &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#),
        )
    }

    /// Looks at the tools so many times, and forgets what it saw.
    ///
    /// # Errors
    /// When the program has gone.
    pub fn look(&mut self, times: usize) -> anyhow::Result<()> {
        for _ in 0..times {
            self.ask("tools/list", "{}")?;
        }
        self.heard = Heard::default();
        Ok(())
    }

    /// Waits for the answer to a line that was written as it is, under this id.
    pub fn wait(&mut self, id: u64) {
        self.wait_for(id, ANSWER_TIME);
    }

    fn wait_for(&mut self, id: u64, time: Duration) {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let done = answers(&line, id);
                    self.heard.lines.push(line);
                    if done {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    self.heard.silent += 1;
                    return;
                }
            }
        }
    }

    /// What came back until now and in a moment more.
    pub fn heard(&mut self) -> Heard {
        while let Ok(line) = self.lines.recv_timeout(AFTER_TIME) {
            self.heard.lines.push(line);
        }
        std::mem::take(&mut self.heard)
    }

    /// Ends the program.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn end(mut self) -> anyhow::Result<()> {
        self.input = None;
        let until = Instant::now() + ANSWER_TIME;
        while self.child.try_wait().context("wait for its end")?.is_none() {
            if Instant::now() > until {
                self.child.kill().context("end it")?;
                self.child.wait().context("wait for its end")?;
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// Whether a line answers this id, alone or in a batch.
fn answers(line: &str, id: u64) -> bool {
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return false;
    };
    // What cannot be read is answered under no id.
    message["id"] == id || (message["id"].is_null() && message.get("error").is_some())
}
