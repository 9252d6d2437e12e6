//! A client on the door's own pipes and a server that the door starts: one thread for both sides, others for what is
//! seldom.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::process::{ChildStdout, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use countersign_journal::Mode;

use super::attend::{LOOK_TIME, TICK, end_signals, local_caller};
use super::bell::Bell;
use super::child::{Program, Running};
use super::drain::Drain;
use super::outlet::Outlet;
use super::settler::Settler;
use super::turns::{Ended, Turns};
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
    front: Arc<Outlet>,
    back: Arc<Outlet>,
    bell: Arc<Bell>,
    /// What a server that was started again says, until its reader has it.
    next: Mutex<Option<ChildStdout>>,
    /// How the server does, between two of its processes.
    restarts: Mutex<Restarts>,
    program: Program,
    drain: Drain,
    running: Mutex<Option<Running>>,
    is_stopping: AtomicBool,
    last_line: SyncSender<()>,
    approvals: Option<approval::Open>,
}

/// When the server was started last, and how long the next start waits.
struct Restarts {
    since: Instant,
    backoff: Duration,
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
    let bell = Arc::new(Bell::new().context("open a pipe")?);
    let front = Arc::new(Outlet::new(Arc::clone(&bell)));
    front
        .open_shared(std::io::stdout().as_fd().try_clone_to_owned()?)
        .context("open standard output")?;
    let back = Arc::new(Outlet::new(Arc::clone(&bell)));
    let session = Session::new(
        Arc::clone(&door),
        local_caller()?,
        0,
        Arc::clone(&front) as _,
        Arc::clone(&back) as _,
    );
    back.open_own(started.input.into())
        .context("open the server's input")?;
    let (last_line, last_lines) = sync_channel(1);
    let run = Arc::new(Run {
        door,
        session,
        front,
        back,
        bell,
        next: Mutex::default(),
        restarts: Mutex::new(Restarts {
            since: Instant::now(),
            backoff: BACKOFF,
        }),
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
    let ticking = Arc::clone(&run);
    spawn("ticks", Box::new(move || ticking.tick(watch)))?;
    let mut signals = end_signals()?;
    let (signalled, lines) = (Arc::clone(&run), Arc::clone(&last_lines));
    spawn(
        "signals",
        Box::new(move || {
            if signals.forever().next().is_some() {
                signalled.stop(&lines, false);
            }
        }),
    )?;
    let settler = match run.door.log.mode() {
        Mode::Durable => Some(Settler::start(&run.session).context("start a thread")?),
        Mode::Written | Mode::SignEach => None,
    };
    let input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let turns = Turns {
        session: &run.session,
        server: &run.program.name,
        front: &run.front,
        back: &run.back,
        bell: &run.bell,
        next: &run.next,
        settler: settler.as_ref(),
    };
    turns.take(input, started.output, |ended| {
        let (run, lines) = (Arc::clone(&run), Arc::clone(&last_lines));
        // Whoever ends something waits for it: the other side is listened to meanwhile.
        let ends = std::thread::Builder::new().name("ends".into());
        let started = match ended {
            Ended::Client => ends.spawn(move || run.stop(&lines, true)),
            Ended::Server => ends.spawn(move || run.server_ended()),
        };
        if let Err(error) = started {
            tracing::error!(%error, "Could not start a thread; the door ends");
            std::process::exit(1);
        }
    })
}

impl Run {
    /// Takes leave of the server, and starts the next one in its place, until one starts or the door stops.
    fn server_ended(&self) {
        if self.is_stopping() {
            let _ = self.last_line.try_send(());
            return;
        }
        self.back.close();
        self.session.server_is_down();
        if let Some(running) = self.take_running() {
            running.kill();
        }
        let server = &self.program.name;
        tracing::error!(%server, "The server {server} ended; calls it had were answered with an error");
        let mut restarts = self.restarts.lock().unwrap_or_else(PoisonError::into_inner);
        if restarts.since.elapsed() > GOOD_RUN {
            restarts.backoff = BACKOFF;
        }
        let Some(output) = self.start_again(&mut restarts.backoff) else {
            // The thread that stops the door ends the process.
            let _ = self.last_line.try_send(());
            return;
        };
        restarts.since = Instant::now();
        drop(restarts);
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
        self.bell.ring();
        self.session.server_is_up();
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
            let started = self.program.start_in(&self.running, &self.drain, stops);
            let opened = started.and_then(|started| {
                let Some((input, output)) = started else {
                    return Ok(None);
                };
                self.back.open_own(input.into())?;
                Ok(Some(output))
            });
            match opened {
                Ok(Some(output)) => {
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
            let is_open = || !self.session.is_quiet() || self.back.is_waiting();
            while is_open() && since.elapsed() < LAST_ANSWERS_TIME {
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
        self.front.finish(LAST_ANSWERS_TIME);
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
