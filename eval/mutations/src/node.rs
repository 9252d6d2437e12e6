//! The reader of servers written in JavaScript: Node's own `JSON.parse`, asked line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context;
use countersign_mutations::differential;

/// Answers a line that holds a document as a string with what it was read as, or with an empty line.
const PROGRAM: &str = r#"
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  let answer = "";
  try { answer = JSON.stringify(JSON.parse(JSON.parse(line))); } catch { }
  process.stdout.write(answer + "\n");
});
"#;

/// A running Node.
#[derive(Debug)]
pub struct Node {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Node {
    /// Starts it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(program: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(program)
            .args(["-e", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        let asks = child.stdin.take().context("its input")?;
        let answers = BufReader::new(child.stdout.take().context("its output")?);
        Ok(Self {
            child,
            asks,
            answers,
        })
    }

    /// Whether the door passes these bytes on; if so, Node reads the same.
    ///
    /// # Panics
    /// When it reads something else, or ended.
    pub fn judged_is_what_is_read(&mut self, bytes: &[u8]) -> bool {
        let text = std::str::from_utf8(bytes).ok();
        let Some(text) = text.filter(|_| differential::judged_is_what_is_read(bytes)) else {
            return false;
        };
        let line = serde_json::to_string(text).expect("a string is JSON") + "\n";
        let mut answer = String::new();
        self.asks.write_all(line.as_bytes()).expect("Node reads");
        self.answers.read_line(&mut answer).expect("Node answers");
        let theirs = serde_json::from_str(&answer).expect("Node reads what the door read");
        differential::agrees(bytes, &theirs)
    }
}
