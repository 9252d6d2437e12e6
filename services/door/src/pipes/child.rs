//! A server that the door starts: its process, its pipes, its end.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_policy::{Connection, Server};

use super::drain::Drain;
use super::keeper::Keeper;
use super::lines::{Line, Lines};
use crate::judge::reply::REPLY_BYTES_MAX;
use crate::session::{Answered, Session};

/// How long a server may go on after its input has ended.
const END_TIME: Duration = Duration::from_secs(3);
/// How long it may go on after it was asked to end.
const ASKED_TIME: Duration = Duration::from_secs(2);
/// How often it is looked at meanwhile.
const LOOK_TIME: Duration = Duration::from_millis(10);
/// The variables of the door's own environment that every server gets.
const PLAIN_VARIABLES: [&str; 10] = [
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "SHELL", "TERM", "TMPDIR", "USER",
];

/// How to start a server.
#[derive(Clone)]
pub struct Program {
    /// The name the policy knows it under.
    pub name: Box<str>,
    /// The program and its arguments; never empty.
    pub command: Vec<OsString>,
    /// The variables the policy names. The values may be secrets.
    pub env: Vec<(Box<str>, String)>,
}

/// A server's process and everything that ends with it.
pub struct Running {
    process: Child,
    keeper: Keeper,
}

impl Program {
    /// The program of a server of the policy, or another command in its place.
    ///
    /// # Errors
    /// When there is neither.
    pub fn of(name: &str, server: &Server, command: Vec<OsString>) -> anyhow::Result<Self> {
        let command = match (command.is_empty(), server.connection()) {
            (false, _) => command,
            (true, Some(Connection::Command { command })) => {
                command.iter().map(|word| word.expose().into()).collect()
            }
            (true, _) => anyhow::bail!("the policy has no command for {name}: give one after `--`"),
        };
        let env = server.env().iter();
        Ok(Self {
            name: name.into(),
            command,
            env: env
                .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                .collect(),
        })
    }

    /// Starts the program, as [`Program::start`] does, and keeps the process in `slot`. Nothing where the door stops by
    /// then: the process is ended at once.
    ///
    /// # Errors
    /// When it, or the keeper of its group, cannot be started.
    pub fn start_in(
        &self,
        slot: &Mutex<Option<Running>>,
        drain: &Drain,
        is_stopping: impl Fn() -> bool,
    ) -> std::io::Result<Option<(ChildStdin, ChildStdout)>> {
        let (running, input, output) = self.start(drain)?;
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if is_stopping() {
            drop(slot);
            running.kill();
            return Ok(None);
        }
        *slot = Some(running);
        Ok(Some((input, output)))
    }

    /// Starts the server in a process group of its own. Nothing of the door's environment reaches
    /// it besides a few plain variables and what the policy names.
    ///
    /// # Errors
    /// When it, or the keeper of its group, cannot be started.
    pub fn start(&self, drain: &Drain) -> std::io::Result<(Running, ChildStdin, ChildStdout)> {
        let (program, arguments) = self
            .command
            .split_first()
            .ok_or(std::io::ErrorKind::InvalidInput)?;
        let plain = PLAIN_VARIABLES
            .into_iter()
            .filter_map(|name| std::env::var_os(name).map(|value| (name, value)));
        let named = self.env.iter().map(|(name, value)| (&**name, value));
        let mut process = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(plain)
            .envs(named)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pipes = (
            process.stdin.take(),
            process.stdout.take(),
            process.stderr.take(),
        );
        let keeper = Keeper::start(&process).inspect_err(|_| {
            let _ = process.kill();
            let _ = process.wait();
        })?;
        let running = Running { process, keeper };
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        drain.read(&self.name, errors)?;
        Ok((running, input, output))
    }
}

impl Running {
    /// Ends the server, whose input is closed by now: in peace if it can, else without.
    pub fn end(mut self) {
        if !self.is_gone_within(END_TIME) {
            self.keeper.ask();
            self.is_gone_within(ASKED_TIME);
        }
        // What is left of its group ends with the keeper.
        drop(self.keeper);
        let _ = self.process.wait();
    }

    /// Ends the server and its group at once.
    pub fn kill(mut self) {
        drop(self.keeper);
        let _ = self.process.wait();
    }

    fn is_gone_within(&mut self, time: Duration) -> bool {
        let since = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(None) if since.elapsed() < time => std::thread::sleep(LOOK_TIME),
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

/// Reads a server to its end. Whoever writes lines that do not end is not read any further.
pub fn read_server(session: &Session, server: &str, output: ChildStdout) {
    let mut lines = Lines::new(output, REPLY_BYTES_MAX);
    while read_some(session, server, &mut lines) {}
}

/// Takes what a server said at once; false at its end, and after a line that does not end.
pub fn read_some(session: &Session, server: &str, lines: &mut Lines<ChildStdout>) -> bool {
    if !lines.fill().unwrap_or(false) {
        return false;
    }
    let mut answered = Answered::default();
    while let Some(line) = lines.next() {
        match line {
            Line::Whole(line) if line.trim_ascii().is_empty() => {}
            Line::Whole(line) => session.take_from_server(line, &mut answered),
            Line::TooLong => {
                tracing::error!(%server, "{server} wrote a line longer than {REPLY_BYTES_MAX} bytes and is ended");
                session.flush();
                return false;
            }
        }
    }
    session.flush_answers(&answered);
    // How the calls ended is noted now: nobody waits for that.
    drop(answered);
    true
}
