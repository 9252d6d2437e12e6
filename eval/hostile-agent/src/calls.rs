//! Connecting to others.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use crate::outcome::Outcome;
use crate::raw;

/// Tries every way to every address.
pub fn run(addresses: &[SocketAddr]) -> Vec<Outcome> {
    addresses
        .iter()
        .flat_map(|address| {
            [
                ("tcp", by(address, libc::IPPROTO_TCP)),
                ("multipath tcp", by(address, libc::IPPROTO_MPTCP)),
                ("fast open", by_fast_open(address)),
                ("fast open in a message", by_fast_open_message(address)),
                ("udp", by_datagram(address)),
            ]
            .map(|(way, result)| {
                Outcome::of(
                    format!("connect to {address} by {way}"),
                    result.map(|_| "connected"),
                )
            })
        })
        .collect()
}

/// A connected socket to an address in whichever way works first.
pub fn any_way(address: &SocketAddr) -> io::Result<(&'static str, OwnedFd)> {
    by(address, libc::IPPROTO_TCP)
        .map(|socket| ("tcp", socket))
        .or_else(|_| by(address, libc::IPPROTO_MPTCP).map(|socket| ("multipath tcp", socket)))
}

fn by(address: &SocketAddr, protocol: libc::c_int) -> io::Result<OwnedFd> {
    let socket = raw::socket(raw::family(address), libc::SOCK_STREAM, protocol)?;
    raw::connect(&socket, address)?;
    Ok(socket)
}

fn by_fast_open(address: &SocketAddr) -> io::Result<OwnedFd> {
    let socket = raw::socket(raw::family(address), libc::SOCK_STREAM, libc::IPPROTO_TCP)?;
    raw::send_to(&socket, address, b"GET / HTTP/1.1\r\n", true)?;
    Ok(socket)
}

fn by_fast_open_message(address: &SocketAddr) -> io::Result<OwnedFd> {
    let socket = raw::socket(raw::family(address), libc::SOCK_STREAM, libc::IPPROTO_TCP)?;
    raw::send_message(&socket, address, b"GET / HTTP/1.1\r\n")?;
    Ok(socket)
}

fn by_datagram(address: &SocketAddr) -> io::Result<OwnedFd> {
    let socket = raw::socket(raw::family(address), libc::SOCK_DGRAM, libc::IPPROTO_UDP)?;
    raw::send_to(&socket, address, b"hello", false)?;
    Ok(socket)
}
