//! A server that is started and asked on its pipes.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::answers::{Heard, Pages, hear, page, question};
use super::{PAGES_MAX, handshake};
use crate::pipes::child::{Program, Running};
use crate::pipes::drain::Drain;

/// How long a server may take to answer. The first start may download it.
const ANSWER_TIME: Duration = Duration::from_secs(120);
/// Longest line of a server, in bytes.
const LINE_BYTES_MAX: u64 = 8 << 20;
/// A server while it is asked.
struct Asked {
    running: Option<Running>,
    input: Option<ChildStdin>,
    lines: Receiver<std::io::Result<Vec<u8>>>,
}

/// Starts a server, asks it for its tools and ends it.
pub fn tools(command: &[OsString], env: &[(String, String)]) -> anyhow::Result<Vec<u8>> {
    let mut server = Asked::start(command, env)?;
    server.ask(1, "initialize", &handshake())?;
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
    let mut pages = Pages::default();
    let mut cursor = None;
    for number in 0..PAGES_MAX {
        let id = 2 + number as u32;
        let result = server.ask(id, "tools/list", &page(cursor.as_deref(), None))?;
        cursor = pages.take(&result)?;
        if cursor.is_none() {
            return Ok(pages.whole());
        }
    }
    bail!("the server's list of tools does not end");
}

impl Asked {
    fn start(command: &[OsString], env: &[(String, String)]) -> anyhow::Result<Self> {
        let shown: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        // Whoever runs this sees what is run.
        eprintln!("Starting: {}", shown.join(" "));
        let program = Program {
            name: "server".into(),
            command: command.to_vec(),
            env: env
                .iter()
                .map(|(name, value)| (name.as_str().into(), value.clone()))
                .collect(),
        };
        let first = command.first().context("a command is wanted")?;
        let drain = Drain::start().context("start a thread")?;
        let (running, input, output) = program
            .start(&drain)
            .with_context(|| format!("start {}", first.to_string_lossy()))?;
        let (sender, lines) = sync_channel(16);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = Vec::new();
                let read = (&mut output)
                    .take(LINE_BYTES_MAX)
                    .read_until(b'\n', &mut line);
                let ended = !matches!(read, Ok(length) if length > 0);
                let heard = read.map(|_| line);
                if ended && heard.is_ok() {
                    return;
                }
                if sender.send(heard).is_err() || ended {
                    return;
                }
            }
        });
        Ok(Self {
            running: Some(running),
            input: Some(input),
            lines,
        })
    }

    fn send(&mut self, message: &str) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the server's input")?;
        writeln!(input, "{message}")
            .and_then(|()| input.flush())
            .context("the server has ended")
    }

    /// Asks, and waits for the answer; what comes in between is passed over.
    fn ask(&mut self, id: u32, method: &str, params: &str) -> anyhow::Result<String> {
        // A server that has ended is found out when nothing more comes of it.
        let _ = self.send(&question(id, method, params));
        let since = Instant::now();
        loop {
            let left = ANSWER_TIME.saturating_sub(since.elapsed());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line.context("read the server's output")?,
                Err(RecvTimeoutError::Timeout) => {
                    bail!(
                        "the server did not answer {method} in {} seconds",
                        ANSWER_TIME.as_secs()
                    )
                }
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("the server ended before it answered {method}")
                }
            };
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            match hear(line, id).with_context(|| format!("what the server wrote after {method}"))? {
                Heard::Result(result) => return Ok(result),
                Heard::Refused(error) => bail!("the server refuses {method}: {error}"),
                Heard::Question(id) => self.send(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Nobody is here to answer"}}}}"#
                ))?,
                Heard::Other => {}
            }
        }
    }
}

impl Drop for Asked {
    /// Ends the server and whatever it started: in peace if it can, else without.
    fn drop(&mut self) {
        self.input = None;
        if let Some(running) = self.running.take() {
            running.end();
        }
    }
}
