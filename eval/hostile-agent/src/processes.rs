//! Other processes.
#![expect(
    unsafe_code,
    reason = "system calls with plain integers and structs of our own"
)]

use std::io;

use libc::{c_long, pid_t};

use crate::outcome::Outcome;
use crate::raw::check;

/// Descriptors that are asked for; a service's listeners are among the first.
const DESCRIPTORS: std::ops::Range<i32> = 3..12;

/// Signals, traces and reads each.
pub fn run(pids: &[i32]) -> Vec<Outcome> {
    pids.iter()
        .flat_map(|pid| {
            [
                ("signal", signal(*pid, 0)),
                // One that nobody minds: the control run must not end what it proves.
                ("send a signal to", signal(*pid, libc::SIGWINCH)),
                ("trace", trace(*pid)),
                (
                    "read the memory of",
                    memory(libc::SYS_process_vm_readv, *pid),
                ),
                (
                    "write the memory of",
                    memory(libc::SYS_process_vm_writev, *pid),
                ),
                ("take a descriptor of", take_descriptor(*pid)),
            ]
            .map(|(what, result)| {
                Outcome::of(format!("{what} process {pid}"), result.map(|()| "done"))
            })
        })
        .collect()
}

fn signal(pid: pid_t, signal: i32) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// Attaches without stopping it. The end of the thread that did detaches.
fn trace(pid: pid_t) -> io::Result<()> {
    std::thread::spawn(move || {
        // SAFETY: with this request both pointers are plain numbers.
        check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0, 0) }).map(drop)
    })
    .join()
    .unwrap_or_else(|_| Err(io::Error::other("the thread failed")))
}

/// Reads or writes one byte at an address that is never there: whoever may not is refused before that.
fn memory(number: c_long, pid: pid_t) -> io::Result<()> {
    let mut byte = [0_u8];
    let here = libc::iovec {
        iov_base: byte.as_mut_ptr().cast(),
        iov_len: 1,
    };
    let there = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(8),
        iov_len: 1,
    };
    // SAFETY: the local vector points to a live byte; the remote one is read in the other process alone.
    let answer = unsafe {
        libc::syscall(
            number,
            pid,
            &raw const here,
            1_u64,
            &raw const there,
            1_u64,
            0_u64,
        )
    };
    match check(answer) {
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(()),
        other => other.map(drop),
    }
}

fn take_descriptor(pid: pid_t) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    let process = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    let mut last = Err(io::Error::other("none was tried"));
    for descriptor in DESCRIPTORS {
        // SAFETY: no pointer is passed.
        last = check(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process, descriptor, 0) })
            .map(drop);
        if last.is_ok() {
            break;
        }
    }
    last
}
