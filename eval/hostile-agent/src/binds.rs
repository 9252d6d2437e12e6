//! Answering in another's place: listening where others listen.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use libc::c_int;

use crate::outcome::Outcome;
use crate::raw;

/// A way to listen.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    kind: c_int,
    protocol: c_int,
    /// Asks to share the address with whoever has it.
    shared: bool,
}

const WAYS: [Way; 4] = [
    Way {
        name: "tcp",
        kind: libc::SOCK_STREAM,
        protocol: libc::IPPROTO_TCP,
        shared: false,
    },
    Way {
        name: "shared tcp",
        kind: libc::SOCK_STREAM,
        protocol: libc::IPPROTO_TCP,
        shared: true,
    },
    Way {
        name: "multipath tcp",
        kind: libc::SOCK_STREAM,
        protocol: libc::IPPROTO_MPTCP,
        shared: true,
    },
    Way {
        name: "udp",
        kind: libc::SOCK_DGRAM,
        protocol: libc::IPPROTO_UDP,
        shared: true,
    },
];

/// Tries every way on every address, round after round until `time` is over. One outcome for each: the first
/// that was let happen, or the last refusal; the detail ends with the count of rounds.
pub fn run(addresses: &[SocketAddr], time: Duration) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    let began = Instant::now();
    let mut rounds = 0_u64;
    loop {
        rounds += 1;
        let mut at = 0;
        for address in addresses {
            for way in WAYS {
                let outcome = Outcome::of(
                    format!("listen on {address} by {}", way.name),
                    try_one(address, way),
                );
                match outcomes.get_mut(at) {
                    None => outcomes.push(outcome),
                    Some(before) if !before.won => *before = outcome,
                    Some(_) => {}
                }
                at += 1;
            }
        }
        if began.elapsed() >= time {
            break;
        }
    }
    for outcome in &mut outcomes {
        outcome.detail = format!("{}; {rounds} rounds", outcome.detail);
    }
    outcomes
}

fn try_one(address: &SocketAddr, way: Way) -> io::Result<&'static str> {
    let socket = raw::socket(raw::family(address), way.kind, way.protocol)?;
    if way.shared {
        raw::set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
        raw::set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEPORT, 1)?;
    }
    raw::bind(&socket, address)?;
    if way.kind == libc::SOCK_STREAM {
        raw::listen(&socket)?;
    }
    Ok("listening")
}
