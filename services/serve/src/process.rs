//! What a service asks of the kernel about itself, once, before it reads a secret.

use std::net::TcpListener;
use std::os::fd::{FromRawFd, RawFd};

/// Shuts this process to its neighbours: no core dump, no ptrace, no `/proc/<pid>/mem` or `environ` for
/// another process of the same user; and lifts the soft limit on open files to the hard one.
#[expect(
    unsafe_code,
    reason = "prctl and setrlimit take plain integers and a struct of our own"
)]
pub(crate) fn shut_to_neighbours() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let mut files = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: every pointer is to a live local of the right type; failure leaves the default in place.
    unsafe {
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut files) == 0 {
            files.rlim_cur = files.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const files);
        }
    }
}

/// Asks for SIGTERM when the parent dies, so that a killed supervisor leaves no service behind.
#[expect(unsafe_code, reason = "prctl takes plain integers")]
pub(crate) fn die_with_parent() {
    // SAFETY: no pointer is passed.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM, 0, 0, 0);
    }
}

/// Takes over a listening TCP socket that the parent left open at `fd`.
///
/// # Errors
/// When `fd` is not open, is no listening socket, or is one of the three standard streams.
#[expect(
    unsafe_code,
    reason = "a file descriptor number becomes an owned socket here and only here"
)]
pub(crate) fn inherited_listener(fd: RawFd) -> std::io::Result<TcpListener> {
    let mut listening: libc::c_int = 0;
    let mut length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or(4);
    if fd <= 2 {
        return Err(std::io::Error::from(std::io::ErrorKind::InvalidInput));
    }
    // SAFETY: the pointers are to live locals, and `length` is the size of `listening`. Ownership: the
    // parent hands each number to this process once, and `open` refuses the same number twice.
    unsafe {
        if libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_ACCEPTCONN,
            (&raw mut listening).cast(),
            &raw mut length,
        ) != 0
        {
            return Err(std::io::Error::last_os_error());
        }
        if listening == 0 {
            return Err(std::io::Error::from(std::io::ErrorKind::InvalidInput));
        }
        if libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(TcpListener::from_raw_fd(fd))
    }
}
