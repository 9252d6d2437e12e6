//! A way out that nobody waits at: what does not go now goes when whoever reads it has room.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendFlags, send};

use super::bell::Bell;
use super::lines::push_line;
use crate::session::{Back, Front, To};

/// What is kept of the buffer between two writes, in bytes.
const KEPT_BYTES_MAX: usize = 256 << 10;
/// From so many bytes that wait on, nothing more is taken in that could add to them.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// What a pipe that has room takes without making anybody wait (`PIPE_BUF`).
const PIPE_BYTES: usize = 4096;
/// How long the last words wait at a time.
const LOOK_TIME: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// Messages on their way to one who reads, one a line. It outlives whoever reads: another may take over.
pub struct Outlet {
    state: Mutex<State>,
    /// Whoever waits for pipes is to wait for this one, too.
    bell: Arc<Bell>,
    is_waiting: AtomicBool,
    is_gone: AtomicBool,
}

#[derive(Default)]
struct State {
    way: Option<Way>,
    buffer: Vec<u8>,
    /// How much of it was written.
    written: usize,
}

/// How to write without waiting.
enum Way {
    /// It was told never to wait.
    Never(File),
    /// A pipe that others may hold as well, whose manners are not changed.
    Pipe(File),
    /// A socket that others may hold as well.
    Socket(File),
    /// A file or a terminal, which takes everything.
    Other(File),
}

impl Way {
    fn write(&self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Never(file) | Self::Other(file) => (&*file).write(bytes),
            Self::Socket(file) => {
                let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                Ok(send(file, bytes, flags)?)
            }
            Self::Pipe(file) => {
                let mut looked = [PollFd::new(file, PollFlags::OUT)];
                match poll(&mut looked, Some(&Timespec::default()))? {
                    0 => Err(ErrorKind::WouldBlock.into()),
                    _ => (&*file).write(&bytes[..bytes.len().min(PIPE_BYTES)]),
                }
            }
        }
    }

    const fn file(&self) -> &File {
        match self {
            Self::Never(file) | Self::Pipe(file) | Self::Socket(file) | Self::Other(file) => file,
        }
    }
}

impl Outlet {
    /// A way to nobody yet.
    pub fn new(bell: Arc<Bell>) -> Self {
        Self {
            state: Mutex::default(),
            bell,
            is_waiting: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Messages go into this pipe from now on, which nobody else writes into.
    ///
    /// # Errors
    /// When it cannot be told never to wait.
    pub fn open_own(&self, pipe: OwnedFd) -> std::io::Result<()> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        self.open(Way::Never(pipe.into()));
        Ok(())
    }

    /// Messages go here from now on, where others may write as well.
    ///
    /// # Errors
    /// When it is nothing that can be written to.
    pub fn open_shared(&self, stream: OwnedFd) -> std::io::Result<()> {
        let file = File::from(stream);
        let kind = file.metadata()?.file_type();
        self.open(match (kind.is_fifo(), kind.is_socket()) {
            (true, _) => Way::Pipe(file),
            (_, true) => Way::Socket(file),
            _ => Way::Other(file),
        });
        Ok(())
    }

    fn open(&self, way: Way) {
        let mut state = self.state();
        *state = State {
            way: Some(way),
            ..State::default()
        };
        self.is_waiting.store(false, Ordering::SeqCst);
    }

    /// Messages go nowhere any more, and whoever reads sees the end.
    pub fn close(&self) {
        let mut state = self.state();
        *state = State::default();
        self.is_waiting.store(false, Ordering::SeqCst);
    }

    /// Whether the other side reads no more.
    pub fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    /// Whether something waits for the other side to read.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::SeqCst)
    }

    /// Whether so much waits that nothing should be added.
    pub fn is_full(&self) -> bool {
        self.is_waiting() && {
            let state = self.state();
            state.buffer.len() - state.written > WAITING_BYTES_MAX
        }
    }

    /// What is written into, to wait for its room; nothing where nothing waits. The number is only good as
    /// long as nobody opens or closes.
    pub fn waits_for(&self) -> Option<OwnedFd> {
        if !self.is_waiting() {
            return None;
        }
        let state = self.state();
        let way = state.way.as_ref()?;
        way.file().as_fd().try_clone_to_owned().ok()
    }

    /// Waits until everything is written, nobody reads any more, or the time is over.
    pub fn finish(&self, time: Duration) {
        let since = Instant::now();
        self.write();
        while let Some(way) = self.waits_for() {
            if since.elapsed() > time {
                return;
            }
            let _ = poll(&mut [PollFd::new(&way, PollFlags::OUT)], Some(&LOOK_TIME));
            self.write();
        }
    }

    fn put(&self, message: &[u8]) {
        push_line(&mut self.state().buffer, message);
    }

    /// Writes what goes now.
    pub fn write(&self) {
        // Under the lock: two writers must not mix their lines.
        let mut state = self.state();
        let State {
            way,
            buffer,
            written,
        } = &mut *state;
        let mut waits = false;
        while let Some(open) = &*way
            && *written < buffer.len()
        {
            match open.write(&buffer[*written..]) {
                Ok(bytes) if bytes > 0 => *written += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    waits = true;
                    break;
                }
                // Whoever reads no more has ended or soon has.
                Ok(_) | Err(_) => {
                    *way = None;
                    self.is_gone.store(true, Ordering::Relaxed);
                }
            }
        }
        if !waits {
            buffer.clear();
            *written = 0;
            buffer.shrink_to(KEPT_BYTES_MAX);
        } else if *written > buffer.len() / 2 {
            buffer.drain(..*written);
            *written = 0;
        }
        drop(state);
        if self.is_waiting.swap(waits, Ordering::SeqCst) != waits {
            self.bell.ring();
        }
    }
}

impl Back for Outlet {
    fn put(&self, message: &[u8]) {
        Self::put(self, message);
    }

    fn flush(&self) {
        self.write();
    }
}

impl Front for Outlet {
    fn put(&self, _: To<'_>, message: &[u8]) {
        Self::put(self, message);
    }

    fn flush(&self) {
        self.write();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::fd::AsRawFd as _;

    use super::*;

    const LINE: &[u8] = &[b'x'; 1000];

    fn filled(open: impl FnOnce(&Outlet, OwnedFd)) -> (Outlet, std::io::PipeReader) {
        let (reader, writer) = std::io::pipe().unwrap();
        let outlet = Outlet::new(Arc::new(Bell::new().unwrap()));
        open(&outlet, writer.into());
        // More than a pipe holds, and nobody reads: whoever writes goes on all the same.
        for _ in 0..2000 {
            outlet.put(LINE);
        }
        outlet.write();
        (outlet, reader)
    }

    fn everything_arrives(outlet: Outlet, mut reader: std::io::PipeReader) {
        assert!(outlet.is_waiting() && outlet.is_full() && !outlet.is_gone());
        let reading = std::thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            read
        });
        outlet.finish(Duration::from_secs(20));
        assert!(!outlet.is_waiting() && !outlet.is_full());
        drop(outlet);
        let read = reading.join().unwrap();
        assert_eq!(read.len(), 2000 * (LINE.len() + 1));
        let mut lines = read.split(|byte| *byte == b'\n');
        assert!(lines.by_ref().take(2000).all(|line| line == LINE));
        assert_eq!(lines.next(), Some(&b""[..]));
    }

    #[test]
    fn nobody_waits_for_a_server_that_does_not_read() {
        let (outlet, reader) = filled(|outlet, pipe| outlet.open_own(pipe).unwrap());
        everything_arrives(outlet, reader);
    }

    #[test]
    fn nobody_waits_for_a_client_that_does_not_read_and_its_pipe_keeps_its_manners() {
        let (outlet, reader) = filled(|outlet, pipe| outlet.open_shared(pipe).unwrap());
        // `O_NONBLOCK` would hold for everybody who has the pipe.
        let number = outlet.state().way.as_ref().unwrap().file().as_raw_fd();
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = u32::from_str_radix(flags.unwrap().trim(), 8).unwrap();
        assert_eq!(flags & 0o4000, 0, "{info}");
        everything_arrives(outlet, reader);
    }

    #[test]
    fn a_socket_is_written_to_without_waiting_too() {
        let (own, other) = std::os::unix::net::UnixStream::pair().unwrap();
        let outlet = Outlet::new(Arc::new(Bell::new().unwrap()));
        outlet.open_shared(own.into()).unwrap();
        for _ in 0..2000 {
            outlet.put(LINE);
        }
        outlet.write();
        assert!(outlet.is_waiting());
        drop(other);
        outlet.finish(Duration::from_secs(20));
        assert!(outlet.is_gone() && !outlet.is_waiting());
    }

    #[test]
    fn the_bell_rings_when_something_waits_and_when_nothing_does_any_more() {
        let (outlet, reader) = filled(|outlet, pipe| outlet.open_own(pipe).unwrap());
        let rang = || {
            let mut looked = [PollFd::new(&*outlet.bell, PollFlags::IN)];
            let rang = poll(&mut looked, Some(&Timespec::default())).unwrap() > 0;
            if rang {
                outlet.bell.hear();
            }
            rang
        };
        assert!(rang() && !rang());
        drop(reader);
        outlet.write();
        assert!(outlet.is_gone() && rang() && !rang());
    }
}
