//! Programs that a test starts, and that end with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

/// How long a program may take until it listens.
const START_TIME_MAX: Duration = Duration::from_secs(20);

/// A running program that listens somewhere. Dropping it ends it.
#[derive(Debug)]
pub struct Listening {
    child: Child,
    address: String,
}

impl Listening {
    /// Starts a program, hands it its input, and waits for the line that says where it listens.
    ///
    /// # Errors
    /// When it ends or says nothing in time; its own words are in the message.
    pub fn start(command: &mut Command, input: Option<&str>) -> anyhow::Result<Self> {
        let shown = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {shown}"))?;
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
            pipe.write_all(input.as_bytes())?;
        }
        let output = child.stdout.take().context("its output is a pipe")?;
        let (say, said) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            let _ = output.read_line(&mut line);
            let _ = say.send(line);
            // What it prints later must not stop it when nobody reads.
            let _ = std::io::copy(&mut output, &mut std::io::sink());
        });
        let line = said.recv_timeout(START_TIME_MAX).unwrap_or_default();
        let listening: Option<Value> = serde_json::from_str(&line).ok();
        let address = listening.and_then(|line| Some(line["listening"][0].as_str()?.to_owned()));
        let mut errors = child.stderr.take().context("its errors are a pipe")?;
        let Some(address) = address else {
            let _ = child.kill();
            let mut said = String::new();
            let _ = errors.read_to_string(&mut said);
            bail!("{shown} does not listen: {line}{said}");
        };
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        Ok(Self { child, address })
    }

    /// Where it listens, such as `127.0.0.1:41234`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a program to its end with this input, and returns what it printed.
///
/// # Errors
/// When it fails; its own words are in the message.
pub fn fed(command: &mut Command, input: &[u8]) -> anyhow::Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("start {shown}"))?;
    let mut pipe = child.stdin.take().context("its input is a pipe")?;
    let input = input.to_owned();
    // It may print before it has read everything.
    let writer = std::thread::spawn(move || pipe.write_all(&input));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    if !output.status.success() {
        bail!(
            "{shown} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}
