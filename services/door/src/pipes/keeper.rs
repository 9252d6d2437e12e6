//! A second process of the door that ends a server's whole process group when the door is gone.
//!
//! A door that is killed can end nobody. Its keeper holds the other end of a pipe, stands in the
//! server's process group, so that the group's number is not given to others, and ends the group
//! when the pipe closes, whatever the door died of.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, kill_process_group};

/// The word that makes a process of the door a keeper; for the door alone.
const WORD: &str = "keep-process-group";

/// Whether this process is a keeper.
pub fn is_asked_for() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == WORD)
}

/// Waits until the door is gone, then ends the group this process stands in.
pub fn run() -> anyhow::Result<ExitCode> {
    // What is sent to the group to let it end in peace is not meant for the keeper.
    for signal in [
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGHUP,
    ] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let mut nothing = [0; 64];
    loop {
        match std::io::stdin().read(&mut nothing) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(read) if read > 0 => {}
            Ok(_) | Err(_) => break,
        }
    }
    kill_process_group(rustix::process::getpgrp(), Signal::KILL)?;
    Ok(ExitCode::SUCCESS)
}

/// A keeper, as the door has it.
pub struct Keeper {
    process: Child,
    group: Pid,
}

impl Keeper {
    /// Starts a keeper for the process group of this server.
    ///
    /// # Errors
    /// When it cannot be started, or the server is gone already.
    pub fn start(server: &Child) -> std::io::Result<Self> {
        let group = i32::try_from(server.id())
            .ok()
            .and_then(Pid::from_raw)
            .ok_or(std::io::ErrorKind::InvalidInput)?;
        let process = Command::new(std::env::current_exe()?)
            .arg(WORD)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(group.as_raw_pid())
            .spawn()?;
        Ok(Self { process, group })
    }

    /// Asks the group to end in peace.
    pub fn ask(&self) {
        let _ = kill_process_group(self.group, Signal::TERM);
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
