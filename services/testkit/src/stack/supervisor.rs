//! One service kept running: started, watched, started again, stopped.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::listeners::Listeners;
use super::service::Service;
use crate::cage::Cage;
use crate::sockets::SocketFilter;
use crate::spawn::{self, RunAs, Spawn};

/// Pause before the first restart; doubled with each up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Longest pause between two starts.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// A service that ran this long is healthy again.
const HEALTHY_AFTER: Duration = Duration::from_secs(20);
/// How often a child is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Time for a graceful end: a little more than a service's own grace.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// How to start one service, again and again.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) service: Service,
    /// The program's file. Opened once: a restart runs what ran before, and needs no path to it.
    pub(super) program: fs::File,
    pub(super) program_path: PathBuf,
    pub(super) run_as: RunAs,
    pub(super) listeners: Listeners,
    /// Where it tells its numbers; the supervisor opens that too, since a cage lets nobody bind a port.
    pub(super) numbers: Option<Listeners>,
    /// A folder handed over open, since the service's user may not be able to walk to it.
    pub(super) folder: Option<fs::File>,
    /// What the process is shut in with, where the system can.
    pub(super) cage: Option<Cage>,
    /// The sockets it may make, where the system can tell them apart.
    pub(super) sockets: Option<SocketFilter>,
    /// The whole config, secrets included.
    pub(super) config: Vec<u8>,
    pub(super) log: PathBuf,
}

impl Plan {
    fn start(&self) -> anyhow::Result<Child> {
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&self.log)?;
        // Under another user, a program below a closed folder starts by its descriptor alone.
        let by_descriptor = self.run_as != RunAs::Same;
        let mut spawn = if by_descriptor {
            let path = format!(
                "/proc/self/fd/{}",
                std::os::fd::AsRawFd::as_raw_fd(&self.program)
            );
            Spawn::new(Path::new(&path)).inherit(&self.program)
        } else {
            Spawn::new(&self.program_path)
        };
        for listeners in [Some(&self.listeners), self.numbers.as_ref()] {
            for socket in listeners.into_iter().flat_map(Listeners::sockets) {
                spawn = spawn.inherit(socket);
            }
        }
        if let Some(folder) = &self.folder {
            spawn = spawn.inherit(folder);
        }
        spawn = spawn
            .run_as(self.run_as)
            .cage(self.cage.as_ref())
            .sockets(self.sockets.clone())
            .input(self.config.clone());
        spawn
            .command()
            .arg0(format!("countersign-{}", self.service.name()))
            .arg("--config-stdin")
            .current_dir("/")
            .stdout(log.try_clone()?)
            .stderr(log);
        spawn
            .start()
            .with_context(|| format!("start {}", self.service.name()))
    }
}

/// A supervised service. Dropping it stops it.
#[derive(Debug)]
pub(super) struct Supervised {
    running: Arc<Running>,
    watcher: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Running {
    plan: Plan,
    child: Mutex<Option<Child>>,
    stopping: AtomicBool,
    starts: AtomicU32,
}

impl Supervised {
    /// Starts the service and a thread that watches it.
    ///
    /// # Errors
    /// When the first start fails.
    pub(super) fn start(plan: Plan) -> anyhow::Result<Self> {
        let child = plan.start()?;
        let running = Arc::new(Running {
            plan,
            child: Mutex::new(Some(child)),
            stopping: AtomicBool::new(false),
            starts: AtomicU32::new(1),
        });
        let watched = Arc::clone(&running);
        let watcher = std::thread::spawn(move || watched.watch());
        Ok(Self {
            running,
            watcher: Some(watcher),
        })
    }

    pub(super) fn port(&self) -> u16 {
        self.running.plan.listeners.port()
    }

    pub(super) fn log(&self) -> &Path {
        &self.running.plan.log
    }

    /// How often it was started.
    pub(super) fn starts(&self) -> u32 {
        self.running.starts.load(Ordering::Acquire)
    }

    /// The process id; none between an end and the next start.
    pub(super) fn process_id(&self) -> Option<u32> {
        self.running.lock().as_ref().map(Child::id)
    }

    /// Ends the process at once, as a crash would. It is started again.
    pub(super) fn kill(&self) {
        if let Some(child) = self.running.lock().as_mut() {
            let _ = child.kill();
        }
    }

    /// Asks the process to end, and does not start it again.
    pub(super) fn begin_stop(&self) {
        self.running.stopping.store(true, Ordering::Release);
        if let Some(child) = self.running.lock().as_ref() {
            spawn::send_signal(child, libc::SIGTERM);
        }
    }

    /// Waits for the end, and kills when it does not come.
    pub(super) fn finish_stop(&mut self) {
        self.begin_stop();
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
        if let Some(mut child) = self.running.lock().take() {
            spawn::stop(&mut child, libc::SIGTERM, STOP_PATIENCE);
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.finish_stop();
    }
}

impl Running {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self) {
        let mut pause = PAUSE_MIN;
        let mut started = Instant::now();
        while !self.stopping.load(Ordering::Acquire) {
            std::thread::sleep(LOOK_EVERY);
            if !self.has_ended() {
                continue;
            }
            if started.elapsed() > HEALTHY_AFTER {
                pause = PAUSE_MIN;
            }
            let restart_at = Instant::now() + pause;
            while Instant::now() < restart_at && !self.stopping.load(Ordering::Acquire) {
                std::thread::sleep(LOOK_EVERY);
            }
            pause = (pause * 2).min(PAUSE_MAX);
            started = Instant::now();
            self.start_again();
        }
    }

    /// Whether the child has ended; it is then forgotten.
    fn has_ended(&self) -> bool {
        let mut child = self.lock();
        let ended = child
            .as_mut()
            .is_none_or(|child| !matches!(child.try_wait(), Ok(None)));
        if ended {
            *child = None;
        }
        ended
    }

    fn start_again(&self) {
        let mut child = self.lock();
        // Under the lock, so that a stop either sees the new child or is seen here.
        if self.stopping.load(Ordering::Acquire) {
            return;
        }
        // What cannot be started now may be startable after the next pause.
        *child = self.plan.start().ok();
        self.starts.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;

    /// A program that reads its config and then runs until it is told to end.
    const PROGRAM: &str = "#!/bin/sh\ncat > /dev/null\nexec /bin/sleep 600\n";

    fn until(what: &str, mut condition: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !condition() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_killed_service_starts_again_and_its_port_stays_ours_throughout() {
        let folder =
            std::env::temp_dir().join(format!("countersign-supervisor-{}", std::process::id()));
        files::make_folder(&folder, 0o755).expect("folder");
        let program_path = folder.join("program");
        fs::write(&program_path, PROGRAM).expect("write");
        files::set_mode(&program_path, 0o755).expect("executable");
        let mut supervised = Supervised::start(Plan {
            service: Service::Panel,
            program: fs::File::open(&program_path).expect("open"),
            program_path,
            run_as: RunAs::Same,
            numbers: None,
            listeners: Listeners::open_any().expect("free"),
            folder: None,
            cage: None,
            sockets: None,
            config: b"{}".to_vec(),
            log: folder.join("log"),
        })
        .expect("starts");
        let first = supervised.process_id().expect("runs");
        supervised.kill();
        let taken = || {
            ["127.0.0.1", "::1"]
                .iter()
                .all(|address| std::net::TcpListener::bind((*address, supervised.port())).is_err())
        };
        until("a second start", || {
            assert!(taken(), "another process could answer");
            supervised.starts() == 2 && supervised.process_id().is_some_and(|id| id != first)
        });
        let began = Instant::now();
        supervised.finish_stop();
        assert!(began.elapsed() < STOP_PATIENCE, "it ends when asked");
        assert_eq!((supervised.process_id(), supervised.starts()), (None, 2));
        fs::remove_dir_all(folder).expect("clean up");
    }
}
