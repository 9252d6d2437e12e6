//! Ways out: sockets of every family, rights that were not given, programs that might be freer.
#![expect(
    unsafe_code,
    reason = "system calls with plain integers and structs of our own"
)]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};

use crate::outcome::Outcome;
use crate::raw::{self, check};

const NETLINK_SOCK_DIAG: libc::c_int = 4;
const AF_SMC: libc::c_int = 43;
const TCP_ULP: libc::c_int = 31;

/// Tries all of it. `secret` is a file that is not for the agent, `group` one that it is not in.
pub fn run(secret: &str, group: u32) -> Vec<Outcome> {
    let sockets = [
        (
            "a raw socket",
            libc::AF_INET,
            libc::SOCK_RAW,
            libc::IPPROTO_ICMP,
        ),
        (
            "a raw TCP socket",
            libc::AF_INET,
            libc::SOCK_RAW,
            libc::IPPROTO_TCP,
        ),
        (
            "a ping socket",
            libc::AF_INET,
            libc::SOCK_DGRAM,
            libc::IPPROTO_ICMP,
        ),
        ("a packet socket", libc::AF_PACKET, libc::SOCK_RAW, 0),
        (
            "a list of all sockets",
            libc::AF_NETLINK,
            libc::SOCK_RAW,
            NETLINK_SOCK_DIAG,
        ),
        (
            "a socket to the machine's host",
            libc::AF_VSOCK,
            libc::SOCK_STREAM,
            0,
        ),
        (
            "a multipath socket",
            libc::AF_INET,
            libc::SOCK_STREAM,
            libc::IPPROTO_MPTCP,
        ),
        (
            "a multipath socket of version 6",
            libc::AF_INET6,
            libc::SOCK_STREAM,
            libc::IPPROTO_MPTCP,
        ),
        ("a shared-memory socket", AF_SMC, libc::SOCK_STREAM, 0),
        ("a datagram socket", libc::AF_INET, libc::SOCK_DGRAM, 0),
        (
            "a datagram socket of version 6",
            libc::AF_INET6,
            libc::SOCK_DGRAM,
            0,
        ),
        (
            "a socket in the file system",
            libc::AF_UNIX,
            libc::SOCK_STREAM,
            0,
        ),
        (
            "a socket of the kernel's ciphers",
            libc::AF_ALG,
            libc::SOCK_SEQPACKET,
            0,
        ),
    ];
    let mut outcomes: Vec<Outcome> = sockets
        .into_iter()
        .map(|(name, family, kind, protocol)| {
            let made = raw::socket(family, kind, protocol).map(|_| "made");
            Outcome::of(format!("make {name}"), made)
        })
        .collect();
    outcomes.extend([
        Outcome::of("make a pair of datagram sockets", datagram_pair()),
        Outcome::of("put another protocol in a socket's place", other_protocol()),
        Outcome::of("make a queue of system calls", call_queue()),
        Outcome::of("become root", become_root()),
        Outcome::of("join the database's group", join(group)),
        Outcome::of("change the root folder", change_root()),
        Outcome::of("mount a file system", mount()),
        Outcome::of("start a shell", output("/bin/sh", &["-c", "echo here"])),
        Outcome::of(
            "read by a shell",
            output("/bin/sh", &["-c", "cat \"$0\"", secret]),
        ),
        Outcome::of(
            "read as root of a namespace",
            output("/usr/bin/unshare", &["-r", "cat", secret]),
        ),
        Outcome::of(
            "read from a program in memory",
            read_from_memory_program(secret),
        ),
    ]);
    outcomes
}

fn datagram_pair() -> io::Result<&'static str> {
    std::os::unix::net::UnixDatagram::pair().map(|_| "made")
}

fn other_protocol() -> io::Result<&'static str> {
    let socket = raw::socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
    raw::set_option(&socket, libc::IPPROTO_TCP, TCP_ULP, 0)?;
    Ok("done")
}

fn call_queue() -> io::Result<&'static str> {
    let mut parameters = [0_u8; 120];
    // SAFETY: the kernel reads and writes a struct of 120 bytes.
    let queue =
        check(unsafe { libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr()) })?;
    // SAFETY: the kernel has just given us this descriptor.
    drop(unsafe { OwnedFd::from_raw_fd(i32::try_from(queue).map_err(io::Error::other)?) });
    Ok("made")
}

/// By the bare system calls, which change this one thread.
fn become_root() -> io::Result<&'static str> {
    // SAFETY: no pointer is passed.
    check(unsafe { libc::syscall(libc::SYS_setresuid, 0, 0, 0) })?;
    Ok("root")
}

fn join(group: u32) -> io::Result<&'static str> {
    // SAFETY: no pointer is passed; the other call reads one integer of ours.
    unsafe {
        check(libc::syscall(libc::SYS_setgroups, 1, &raw const group))
            .or_else(|_| check(libc::syscall(libc::SYS_setresgid, group, group, group)))?;
    }
    Ok("joined")
}

fn change_root() -> io::Result<&'static str> {
    // SAFETY: the pointer is to a literal with its NUL.
    check(unsafe { libc::chroot(c"/".as_ptr()) })?;
    Ok("changed")
}

fn mount() -> io::Result<&'static str> {
    // SAFETY: every pointer is null or to a literal with its NUL. A mount onto a path that is not there
    // fails also where mounting is allowed, with another error.
    let code = unsafe {
        libc::mount(
            c"none".as_ptr(),
            c"/not there".as_ptr(),
            c"tmpfs".as_ptr(),
            0,
            std::ptr::null(),
        )
    };
    check(code)?;
    Ok("mounted")
}

/// What a program prints, when it prints anything and ends well.
fn output(program: &str, arguments: &[&str]) -> io::Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() || output.stdout.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(io::Error::other(said));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A copy of a program that no file system holds.
fn read_from_memory_program(secret: &str) -> io::Result<String> {
    let program = std::fs::read("/bin/cat")?;
    // SAFETY: the pointer is to a literal with its NUL. Not closed at exec, since its path leads through it.
    let descriptor = check(unsafe { libc::memfd_create(c"program".as_ptr(), 0) })?;
    // SAFETY: the kernel has just given us this descriptor.
    let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
    io::Write::write_all(&mut file, &program)?;
    output(&format!("/proc/self/fd/{descriptor}"), &[secret])
}
