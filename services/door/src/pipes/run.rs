//! A client on the door's own pipes and a server that the door starts: three threads that block on
//! what they read.

use std::os::fd::AsFd as _;
use std::process::{ChildStdout, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::attend::{LOOK_TIME, TICK, end_signals, local_caller, read_client};
use super::child::{Program, Running, StandardInput, read_server};
use super::drain::Drain;
use super::front::StandardOutput;
use crate::approval;
use crate::door::Door;
use crate::reload::Watch;
use crate::session::{LAST_ANSWERS_TIME, Session};

/// How long the first restart waits; each further one twice as long.
pub const BACKOFF: Duration = Duration::from_millis(100);
/// How long a restart waits at most.
pub const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// A server that ran this long had started well.
pub const GOOD_RUN: Duration = Duration::from_secs(60);
/// How long the last lines of a server that has ended may take.
const LAST_LINES_TIME: Duration = Duration::from_secs(1);
/// A server that runs and was not spoken to yet.
pub struct Started {
    program: Program,
    drain: Drain,
    running: Running,
    input: std::process::ChildStdin,
    output: ChildStdout,
}

impl Started {
    /// Starts the server: it comes up while the door reads its record.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn new(program: Program) -> anyhow::Result<Self> {
        let drain = Drain::start().context("start a thread")?;
        let (running, input, output) = program
            .start(&drain)
            .with_context(|| format!("start the server {}", program.name))?;
        Ok(Self {
            program,
            drain,
            running,
            input,
            output,
        })
    }
}

/// Everything that the threads share.
struct Run {
    door: Arc<Door>,
    session: Arc<Session>,
    front: Arc<StandardOutput>,
    back: Arc<StandardInput>,
    program: Program,
    drain: Drain,
    running: Mutex<Option<Running>>,
    is_stopping: AtomicBool,
    last_line: SyncSender<()>,
    approvals: Option<approval::Open>,
}

/// Passes messages on until the client is gone or the door is told to end.
///
/// # Errors
/// When a thread or a stream cannot be had; later failures end the door by themselves.
pub fn run(
    door: Arc<Door>,
    started: Started,
    watch: Watch,
    approvals: Option<approval::Open>,
) -> anyhow::Result<ExitCode> {
    let front = Arc::new(StandardOutput::new().context("open standard output")?);
    let back = Arc::new(StandardInput::default());
    let session = Session::new(
        Arc::clone(&door),
        local_caller()?,
        0,
        Arc::clone(&front) as _,
        Arc::clone(&back) as _,
    );
    back.open(started.input);
    let (last_line, last_lines) = sync_channel(1);
    let run = Arc::new(Run {
        door,
        session,
        front,
        back,
        program: started.program,
        drain: started.drain,
        running: Mutex::new(Some(started.running)),
        is_stopping: AtomicBool::new(false),
        last_line,
        approvals,
    });
    let last_lines = Arc::new(Mutex::new(Some(last_lines)));
    let spawn = |name: &str, act: Box<dyn FnOnce() + Send>| {
        let builder = std::thread::Builder::new().name(name.into());
        builder.spawn(act).context("start a thread")
    };
    let (client, lines) = (Arc::clone(&run), Arc::clone(&last_lines));
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    spawn(
        "client",
        Box::new(move || {
            read_client(&*client.session, &client.front, input.into());
            client.stop(&lines, true);
        }),
    )?;
    let ticking = Arc::clone(&run);
    spawn("ticks", Box::new(move || ticking.tick(watch)))?;
    let mut signals = end_signals()?;
    let signalled = Arc::clone(&run);
    spawn(
        "signals",
        Box::new(move || {
            if signals.forever().next().is_some() {
                signalled.stop(&last_lines, false);
            }
        }),
    )?;
    run.serve(started.output);
    Ok(ExitCode::SUCCESS)
}

impl Run {
    /// Reads the server, and the next one in its place, until the door stops.
    fn serve(self: &Arc<Self>, mut output: ChildStdout) {
        let mut backoff = BACKOFF;
        loop {
            let since = Instant::now();
            read_server(&self.session, &self.program.name, output);
            if self.is_stopping() {
                break;
            }
            self.back.close();
            self.session.server_is_down();
            if let Some(running) = self.take_running() {
                running.kill();
            }
            let server = &self.program.name;
            tracing::error!(%server, "The server {server} ended; calls it had were answered with an error");
            if since.elapsed() > GOOD_RUN {
                backoff = BACKOFF;
            }
            let Some(next) = self.start_again(&mut backoff) else {
                break;
            };
            output = next;
            self.session.server_is_up();
        }
        let _ = self.last_line.try_send(());
        // The thread that stops the door ends the process.
        loop {
            std::thread::park();
        }
    }

    /// Starts the server again and again, until it starts or the door stops.
    fn start_again(&self, backoff: &mut Duration) -> Option<ChildStdout> {
        loop {
            std::thread::sleep(*backoff);
            *backoff = (*backoff * 2).min(BACKOFF_MAX);
            if self.is_stopping() {
                return None;
            }
            let server = &self.program.name;
            let stops = || self.is_stopping();
            match self.program.start_in(&self.running, &self.drain, stops) {
                Ok(Some((input, output))) => {
                    self.back.open(input);
                    tracing::info!(%server, "The server {server} was started again");
                    return Some(output);
                }
                Ok(None) => return None,
                Err(error) => {
                    tracing::error!(%server, %error, "Could not start the server {server} again");
                }
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    fn take_running(&self) -> Option<Running> {
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn tick(&self, mut watch: Watch) {
        loop {
            std::thread::sleep(TICK);
            if let Err(error) = self.door.log.sign_head() {
                tracing::error!(%error, "Could not sign the head of the record");
            }
            self.session.tick();
            watch.look(&self.door);
        }
    }

    /// Ends the server and the process. Whoever comes second waits for the end.
    fn stop(&self, last_lines: &Mutex<Option<Receiver<()>>>, in_peace: bool) {
        let last_lines = last_lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(last_lines) = last_lines else {
            return;
        };
        self.session.client_is_gone();
        if let Some(approvals) = &self.approvals {
            approvals.close();
        }
        if in_peace && !self.front.is_gone() {
            let since = Instant::now();
            while !self.session.is_quiet() && since.elapsed() < LAST_ANSWERS_TIME {
                std::thread::sleep(LOOK_TIME);
            }
        }
        self.is_stopping.store(true, Ordering::SeqCst);
        self.back.close();
        if let Some(running) = self.take_running() {
            running.end();
            let _ = last_lines.recv_timeout(LAST_LINES_TIME);
        }
        self.session.flush();
        let code = match self.door.close() {
            Ok(()) => 0,
            Err(error) => {
                tracing::error!(%error, "Could not close the record");
                1
            }
        };
        std::process::exit(code);
    }
}
