//! One of several servers that the door starts: started again whenever it ends.

use std::process::ChildStdout;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::child::{Program, Running, read_server};
use super::drain::Drain;
use super::queued::QueuedInput;
use super::run::{BACKOFF, BACKOFF_MAX, GOOD_RUN};
use crate::session::Session;

/// How often a wait for the next start looks whether the door stops.
const LOOK_TIME: Duration = Duration::from_millis(20);

/// A server's processes, one after the other.
pub struct Kept {
    program: Program,
    drain: Drain,
    session: Arc<Session>,
    input: Arc<QueuedInput>,
    running: Mutex<Option<Running>>,
    is_stopping: AtomicBool,
}

impl Kept {
    /// Starts a server. One that does not start is down, and is started again.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn start(
        program: Program,
        drain: &Drain,
        session: Arc<Session>,
        input: Arc<QueuedInput>,
    ) -> std::io::Result<Arc<Self>> {
        let kept = Arc::new(Self {
            program,
            drain: drain.clone(),
            session,
            input,
            running: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        });
        let output = kept.start_process();
        if output.is_none() {
            kept.session.server_is_down();
        }
        let serving = Arc::clone(&kept);
        std::thread::Builder::new()
            .name(format!("server {}", kept.program.name))
            .spawn(move || serving.serve(output))?;
        Ok(kept)
    }

    fn serve(&self, mut output: Option<ChildStdout>) {
        let mut backoff = BACKOFF;
        loop {
            if let Some(output) = output.take() {
                let since = Instant::now();
                read_server(&self.session, &self.program.name, output);
                self.input.close();
                if let Some(running) = self.take_running() {
                    running.kill();
                }
                if self.is_stopping() {
                    return;
                }
                self.session.server_is_down();
                let server = &self.program.name;
                tracing::error!(%server, "The server {server} ended; calls it had were answered with an error");
                if since.elapsed() > GOOD_RUN {
                    backoff = BACKOFF;
                }
            }
            let since = Instant::now();
            while since.elapsed() < backoff {
                if self.is_stopping() {
                    return;
                }
                std::thread::sleep(LOOK_TIME.min(backoff));
            }
            backoff = (backoff * 2).min(BACKOFF_MAX);
            output = self.start_process();
            if output.is_some() {
                let server = &self.program.name;
                tracing::info!(%server, "The server {server} was started again");
                self.session.server_is_up();
            }
        }
    }

    fn start_process(&self) -> Option<ChildStdout> {
        let stops = || self.is_stopping();
        match self.program.start_in(&self.running, &self.drain, stops) {
            Ok(started) => {
                let (input, output) = started?;
                self.input.open(input);
                Some(output)
            }
            Err(error) => {
                let server = &self.program.name;
                tracing::error!(%server, %error, "Could not start the server {server}");
                None
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    fn take_running(&self) -> Option<Running> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.take()
    }

    /// Ends a process that reads nothing any more; another one takes its place.
    pub fn tick(&self) {
        if self.input.is_stuck()
            && let Some(running) = self.take_running()
        {
            let server = &self.program.name;
            tracing::error!(%server, "The server {server} does not read what it is sent and is ended");
            self.input.close();
            running.kill();
        }
    }

    /// Ends the server for good; it may take a while.
    pub fn end(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.input.end();
        if let Some(running) = self.take_running() {
            running.end();
        }
    }
}
