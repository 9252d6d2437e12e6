//! Sockets that have a name and no port.

use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::time::Duration;

use crate::outcome::Outcome;

/// Time for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// What the database's protocol calls its version 3.0.
const PROTOCOL: i32 = 3 << 16;

/// Connects to each, and asks each to let `users` in to `database` without a password.
pub fn run(paths: &[String], database: &str, users: &[String]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for path in paths {
        outcomes.push(Outcome::of(
            format!("connect to {path}"),
            connect(path).map(|_| "connected"),
        ));
        outcomes.push(Outcome::of(
            format!("send a datagram to {path}"),
            UnixDatagram::unbound()
                .and_then(|socket| socket.send_to_addr(b"hello", &address(path)?)),
        ));
        for user in users {
            outcomes.push(Outcome::of(
                format!("log in as {user} at {path}"),
                log_in(path, database, user),
            ));
        }
    }
    outcomes
}

fn address(path: &str) -> io::Result<SocketAddr> {
    match path.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(path),
    }
}

fn connect(path: &str) -> io::Result<UnixStream> {
    UnixStream::connect_addr(&address(path)?)
}

/// Logs in without a password.
fn log_in(path: &str, database: &str, user: &str) -> io::Result<&'static str> {
    let mut stream = connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut message = PROTOCOL.to_be_bytes().to_vec();
    for text in ["user", user, "database", database, ""] {
        message.extend(text.as_bytes());
        message.push(0);
    }
    let length = i32::try_from(message.len() + 4).unwrap_or_default();
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(&message)?;
    // A letter, a length, and for `R` what the server wants first; zero is nothing.
    let mut answer = [0; 9];
    stream.read_exact(&mut answer)?;
    if answer[0] == b'R' && answer[5..] == [0; 4] {
        return Ok("let in");
    }
    Err(io::Error::other("it wants a password"))
}
