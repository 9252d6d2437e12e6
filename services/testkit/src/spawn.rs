//! Child processes that hold nothing by accident: no environment, no descriptor, no user but what is given.
//!
//! Linux ties the parent-death signal to the *thread* that forked. So every child is forked by one thread
//! that lives as long as this process, and a child dies with the process, not with the test that began it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::cage::{self, Cage};
use crate::sockets::SocketFilter;

/// As whom a child runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunAs {
    /// The user of this process.
    Same,
    /// Another user, given by root: user id, group id, and at most one further group.
    User {
        /// The user id.
        uid: u32,
        /// The group id.
        gid: u32,
        /// A further group.
        shared_gid: Option<u32>,
    },
    /// Root, but seen as `nobody` from the inside, without a capability outside of its own namespace.
    Namespace,
}

/// A child to be started.
#[derive(Debug)]
pub struct Spawn {
    command: Command,
    run_as: RunAs,
    inherited: Vec<RawFd>,
    cage: Option<RawFd>,
    sockets: Option<SocketFilter>,
    death_signal: libc::c_int,
    input: Option<Vec<u8>>,
}

impl Spawn {
    /// A child of `program`, with an empty environment, nothing on its standard input and both outputs as
    /// this process has them. It gets SIGTERM when this process dies.
    #[must_use]
    pub fn new(program: &Path) -> Self {
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::null());
        Self {
            command,
            run_as: RunAs::Same,
            inherited: Vec::new(),
            cage: None,
            sockets: None,
            death_signal: libc::SIGTERM,
            input: None,
        }
    }

    /// Arguments, environment, outputs and working folder are set on the command itself.
    pub fn command(&mut self) -> &mut Command {
        &mut self.command
    }

    /// Runs the child as another user.
    #[must_use]
    pub fn run_as(mut self, run_as: RunAs) -> Self {
        self.run_as = run_as;
        self
    }

    /// The signal for the child when this process dies.
    #[must_use]
    pub fn death_signal(mut self, signal: libc::c_int) -> Self {
        self.death_signal = signal;
        self
    }

    /// Leaves `descriptor` open in the child, under the same number. The caller keeps it open until the
    /// child has started.
    #[must_use]
    pub fn inherit(mut self, descriptor: &impl AsRawFd) -> Self {
        self.inherited.push(descriptor.as_raw_fd());
        self
    }

    /// Shuts the child in. The caller keeps the cage until the child has started.
    #[must_use]
    pub fn cage(mut self, cage: Option<&Cage>) -> Self {
        self.cage = cage.map(Cage::descriptor);
        self
    }

    /// Leaves the child only the sockets it has business with.
    #[must_use]
    pub fn sockets(mut self, filter: Option<SocketFilter>) -> Self {
        self.sockets = filter;
        self
    }

    /// Writes `input` to the child's standard input and closes it.
    #[must_use]
    pub fn input(mut self, input: Vec<u8>) -> Self {
        self.input = Some(input);
        self.command.stdin(Stdio::piped());
        self
    }

    /// Starts the child.
    ///
    /// # Errors
    /// When the program cannot be started, the user cannot be taken on, or the input cannot be written.
    pub fn start(mut self) -> io::Result<Child> {
        prepare(
            &mut self.command,
            self.run_as,
            self.inherited,
            self.cage,
            self.sockets,
            self.death_signal,
        );
        let mut child = fork_from_lasting_thread(self.command)?;
        if let (Some(input), Some(mut pipe)) = (self.input, child.stdin.take())
            && let Err(error) = pipe.write_all(&input)
        {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        Ok(child)
    }
}

type Job = (Command, mpsc::Sender<io::Result<Child>>);

fn fork_from_lasting_thread(command: Command) -> io::Result<Child> {
    static FORKER: LazyLock<Mutex<mpsc::Sender<Job>>> = LazyLock::new(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        std::thread::spawn(move || {
            for (mut command, answer) in jobs {
                // The asker may have gone; then the child is dropped and dies with this process.
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(sender)
    });
    let (answer, child) = mpsc::channel();
    FORKER
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .send((command, answer))
        .map_err(|_| io::Error::other("the forking thread is gone"))?;
    child
        .recv()
        .map_err(|_| io::Error::other("the forking thread is gone"))?
}

#[expect(
    unsafe_code,
    reason = "between fork and exec only system calls may be made, by hand"
)]
fn prepare(
    command: &mut Command,
    run_as: RunAs,
    inherited: Vec<RawFd>,
    cage: Option<RawFd>,
    sockets: Option<SocketFilter>,
    death_signal: libc::c_int,
) {
    // One process group each: Ctrl-C in the terminal reaches the supervisor alone, which stops its
    // children in order.
    command.process_group(0);
    // SAFETY: the closure allocates nothing and calls only async-signal-safe functions; the descriptors
    // are open in the parent until `start` returns.
    unsafe {
        command.pre_exec(move || {
            match run_as {
                RunAs::Same => {}
                RunAs::User {
                    uid,
                    gid,
                    shared_gid,
                } => {
                    let groups = [shared_gid.unwrap_or(gid)];
                    check(libc::setgroups(1, groups.as_ptr()))?;
                    check(libc::setresgid(gid, gid, gid))?;
                    check(libc::setresuid(uid, uid, uid))?;
                }
                RunAs::Namespace => enter_namespace()?,
            }
            // No program that this child starts may gain rights by its set-user-id bit.
            #[cfg(target_os = "linux")]
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            // After the user changed, since that change clears it.
            #[cfg(target_os = "linux")]
            check(libc::prctl(libc::PR_SET_PDEATHSIG, death_signal, 0, 0, 0))?;
            close_the_rest_at_exec();
            for descriptor in &inherited {
                check(libc::fcntl(*descriptor, libc::F_SETFD, 0))?;
            }
            if let Some(cage) = cage {
                cage::enter(cage)?;
            }
            if let Some(filter) = &sockets {
                filter.enter()?;
            }
            Ok(())
        });
    }
}

/// Marks everything but the standard streams to be closed at exec: this process may itself have been
/// started with descriptors that its parent forgot.
#[expect(unsafe_code, reason = "system calls with plain integers")]
fn close_the_rest_at_exec() {
    // SAFETY: no pointer is passed; a number that is not open is refused and that is fine.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        ) == 0
        {
            return;
        }
        for descriptor in 3..4096 {
            libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// `nobody`, as whom root is seen inside the namespace. It has a name everywhere, which initdb asks for.
#[cfg(target_os = "linux")]
const INNER_UID_MAP: &[u8] = b"65534 0 1";

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "a system call with plain integers, and files written without allocation"
)]
fn enter_namespace() -> io::Result<()> {
    // SAFETY: no pointer but to string literals.
    unsafe { check(libc::unshare(libc::CLONE_NEWUSER))? };
    write_file(c"/proc/self/setgroups", b"deny")?;
    write_file(c"/proc/self/uid_map", INNER_UID_MAP)?;
    write_file(c"/proc/self/gid_map", INNER_UID_MAP)
}

#[cfg(not(target_os = "linux"))]
fn enter_namespace() -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "between fork and exec a path may not be allocated"
)]
fn write_file(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: `path` is a literal with its NUL, `text` is read for its own length.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(file)?;
        let written = libc::write(file, text.as_ptr().cast(), text.len());
        let failure = io::Error::last_os_error();
        libc::close(file);
        if usize::try_from(written) == Ok(text.len()) {
            Ok(())
        } else {
            Err(failure)
        }
    }
}

/// Whether a child can be run in a user namespace here: root, and the system allows it.
#[must_use]
pub fn namespaces_work() -> bool {
    let mut probe = Spawn::new(Path::new("/bin/true")).run_as(RunAs::Namespace);
    probe.command().stdout(Stdio::null()).stderr(Stdio::null());
    probe
        .start()
        .and_then(|mut child| child.wait())
        .is_ok_and(|status| status.success())
}

/// The effective user id of this process.
#[must_use]
#[expect(unsafe_code, reason = "geteuid has no argument and cannot fail")]
pub fn effective_uid() -> u32 {
    // SAFETY: see above.
    unsafe { libc::geteuid() }
}

/// Whether a process with this id runs, whoever it belongs to.
#[must_use]
#[expect(unsafe_code, reason = "kill takes plain integers")]
pub fn is_alive(pid: libc::pid_t) -> bool {
    // SAFETY: no pointer is passed; signal 0 only asks.
    let answer = unsafe { libc::kill(pid, 0) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

/// Sends `signal` to a child that has not been waited for.
#[expect(unsafe_code, reason = "kill takes plain integers")]
pub fn send_signal(child: &Child, signal: libc::c_int) {
    if let Ok(pid) = libc::pid_t::try_from(child.id()) {
        // SAFETY: no pointer is passed; the child is not reaped yet, so the number is still its own.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Sends `signal`, waits up to `patience`, then kills.
pub fn stop(child: &mut Child, signal: libc::c_int, patience: Duration) {
    if matches!(child.try_wait(), Ok(Some(_))) {
        return;
    }
    send_signal(child, signal);
    let deadline = Instant::now() + patience;
    while Instant::now() < deadline {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Opens a program so that a child can start it by descriptor: under another user, the path to it may
/// lead through folders that this user cannot enter.
///
/// # Errors
/// When the file cannot be opened.
pub fn open_program(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn shell(script: &str) -> Spawn {
        let mut spawn = Spawn::new(Path::new("/bin/sh"));
        spawn
            .command()
            .arg("-c")
            .arg(script)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        spawn
    }

    fn output(spawn: Spawn) -> String {
        let mut child = spawn.start().expect("starts");
        let mut text = String::new();
        child
            .stdout
            .take()
            .expect("piped")
            .read_to_string(&mut text)
            .expect("read");
        child.wait().expect("ends");
        text
    }

    #[test]
    fn a_child_has_no_environment_and_only_the_descriptors_it_was_given() {
        let kept = File::open("/dev/null").expect("open");
        let other = File::open("/dev/null").expect("open");
        let script = "echo \"${HOME:-none} ${PATH_FROM_TEST:-none}\"; ls -l /proc/self/fd | grep -c /dev/null";
        let text = output(shell(script).inherit(&kept));
        // Standard input, standard error and the one that was given.
        assert_eq!(text, "none none\n3\n");
        drop(other);
    }

    #[test]
    fn input_arrives_and_ends() {
        assert_eq!(output(shell("cat").input(b"secret".to_vec())), "secret");
    }

    #[test]
    fn another_user_is_another_user() {
        if effective_uid() != 0 {
            return;
        }
        let run_as = RunAs::User {
            uid: 60_790,
            gid: 60_790,
            shared_gid: Some(60_791),
        };
        assert_eq!(
            output(shell("id -u; id -g; id -G").run_as(run_as)),
            "60790\n60790\n60790 60791\n"
        );
    }

    #[test]
    fn a_child_does_not_outlive_the_thread_that_asked_only_the_process() {
        let mut child = std::thread::spawn(|| shell("sleep 30").start().expect("starts"))
            .join()
            .expect("thread ends");
        std::thread::sleep(Duration::from_millis(100));
        assert!(matches!(child.try_wait(), Ok(None)), "still running");
        stop(&mut child, libc::SIGTERM, Duration::from_secs(5));
        assert!(!matches!(child.try_wait(), Ok(None)));
    }
}
