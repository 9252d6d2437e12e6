//! Sockets by system call, for ways that the standard library has no name for.
#![expect(
    unsafe_code,
    reason = "system calls with plain integers and structs of our own"
)]

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, sockaddr, socklen_t};

/// Sends and connects in one step.
const MSG_FASTOPEN: c_int = 0x2000_0000;

/// A system call's answer as a result.
pub fn check<T: Into<i64> + Copy>(answer: T) -> io::Result<T> {
    if answer.into() == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(answer)
    }
}

/// Makes a socket.
pub fn socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: no pointer is passed.
    let descriptor = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    check(descriptor)?;
    // SAFETY: the kernel has just given us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The family that an address belongs to.
pub fn family(address: &SocketAddr) -> c_int {
    if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    }
}

/// Sets an option of a socket that is a number.
pub fn set_option(socket: &OwnedFd, level: c_int, option: c_int, value: c_int) -> io::Result<()> {
    // SAFETY: the pointer is to a live local of the size that is passed.
    let code = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            length_of(&value),
        )
    };
    check(code).map(drop)
}

/// Bounds the time of one read.
pub fn set_read_time_out(socket: &OwnedFd, seconds: i64) -> io::Result<()> {
    let time = libc::timeval {
        tv_sec: seconds,
        tv_usec: 0,
    };
    // SAFETY: the pointer is to a live local of the size that is passed.
    let code = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            (&raw const time).cast(),
            length_of(&time),
        )
    };
    check(code).map(drop)
}

/// Binds a socket.
pub fn bind(socket: &OwnedFd, address: &SocketAddr) -> io::Result<()> {
    with_address(address, |pointer, length| {
        // SAFETY: the pointer is to a struct of that length.
        check(unsafe { libc::bind(socket.as_raw_fd(), pointer, length) }).map(drop)
    })
}

/// Listens on a bound socket.
pub fn listen(socket: &OwnedFd) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    check(unsafe { libc::listen(socket.as_raw_fd(), 1) }).map(drop)
}

/// Connects a socket.
pub fn connect(socket: &OwnedFd, address: &SocketAddr) -> io::Result<()> {
    with_address(address, |pointer, length| {
        // SAFETY: the pointer is to a struct of that length.
        check(unsafe { libc::connect(socket.as_raw_fd(), pointer, length) }).map(drop)
    })
}

/// Sends first bytes to an address; with `fast_open` a TCP socket connects by that.
pub fn send_to(
    socket: &OwnedFd,
    address: &SocketAddr,
    bytes: &[u8],
    fast_open: bool,
) -> io::Result<()> {
    let flags = libc::MSG_NOSIGNAL | if fast_open { MSG_FASTOPEN } else { 0 };
    with_address(address, |pointer, length| {
        // SAFETY: both pointers are to live data of the lengths that are passed.
        let sent = unsafe {
            libc::sendto(
                socket.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                flags,
                pointer,
                length,
            )
        };
        check(i64::try_from(sent).unwrap_or(-1)).map(drop)
    })
}

/// The same as sending with `fast_open`, as a message with its address inside.
pub fn send_message(socket: &OwnedFd, address: &SocketAddr, bytes: &[u8]) -> io::Result<()> {
    with_address(address, |pointer, length| {
        let mut part = libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        // SAFETY: zero bytes are valid for this plain struct, and every pointer put in is to live data that
        // the kernel only reads.
        let sent = unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_name = pointer.cast_mut().cast();
            message.msg_namelen = length;
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            libc::sendmsg(
                socket.as_raw_fd(),
                &raw const message,
                libc::MSG_NOSIGNAL | MSG_FASTOPEN,
            )
        };
        check(i64::try_from(sent).unwrap_or(-1)).map(drop)
    })
}

fn with_address(
    address: &SocketAddr,
    act: impl FnOnce(*const sockaddr, socklen_t) -> io::Result<()>,
) -> io::Result<()> {
    match address {
        SocketAddr::V4(address) => {
            let raw = libc::sockaddr_in {
                sin_family: libc::sa_family_t::try_from(libc::AF_INET).unwrap_or_default(),
                sin_port: address.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: u32::from_ne_bytes(address.ip().octets()),
                },
                sin_zero: [0; 8],
            };
            act((&raw const raw).cast(), length_of(&raw))
        }
        SocketAddr::V6(address) => {
            let raw = libc::sockaddr_in6 {
                sin6_family: libc::sa_family_t::try_from(libc::AF_INET6).unwrap_or_default(),
                sin6_port: address.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr {
                    s6_addr: address.ip().octets(),
                },
                sin6_scope_id: 0,
            };
            act((&raw const raw).cast(), length_of(&raw))
        }
    }
}

fn length_of<T>(value: &T) -> socklen_t {
    socklen_t::try_from(size_of_val(value)).unwrap_or_default()
}
