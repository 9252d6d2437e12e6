//! Listening sockets that the supervisor opens and keeps, on both loopback addresses.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;

/// Tries to find a port that is free on both addresses.
const TRIES_MAX: usize = 50;

/// Why a port cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Somebody else listens there.
    #[error("port {0} is taken")]
    Taken(u16),
    /// The system refuses for another reason.
    #[error("cannot listen on port {0}")]
    System(u16, #[source] std::io::Error),
}

/// The two listening sockets of one service. Kept by the supervisor over every restart of the service: were
/// one of them closed for a moment, another process could answer for its origin.
#[derive(Debug)]
pub struct Listeners {
    port: u16,
    sockets: Vec<TcpListener>,
}

impl Listeners {
    /// Listens on `port` of 127.0.0.1 and of [::1].
    ///
    /// # Errors
    /// When either is taken or the system refuses. A system without IPv6 has the first alone: there nobody
    /// can have the second.
    pub fn open(port: u16) -> Result<Self, ListenError> {
        let first = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), port)?;
        let second = match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
            Ok(socket) => Some(socket),
            Err(error) if no_such_family(&error) => None,
            Err(error) => return Err(refused(port, error)),
        };
        Ok(Self {
            port,
            sockets: std::iter::once(first).chain(second).collect(),
        })
    }

    /// Listens on some port that is free on both.
    ///
    /// # Errors
    /// When none is found or the system refuses.
    pub fn open_any() -> Result<Self, ListenError> {
        let mut last = ListenError::Taken(0);
        for _ in 0..TRIES_MAX {
            let probe = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), 0)?;
            let port = probe
                .local_addr()
                .map_err(|error| ListenError::System(0, error))?
                .port();
            match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
                Ok(second) => {
                    return Ok(Self {
                        port,
                        sockets: vec![probe, second],
                    });
                }
                Err(error) if no_such_family(&error) => {
                    return Ok(Self {
                        port,
                        sockets: vec![probe],
                    });
                }
                Err(error) => last = refused(port, error),
            }
        }
        Err(last)
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn sockets(&self) -> &[TcpListener] {
        &self.sockets
    }

    pub(super) fn descriptors(&self) -> Vec<i32> {
        self.sockets.iter().map(AsRawFd::as_raw_fd).collect()
    }
}

fn bind(address: SocketAddr, port: u16) -> Result<TcpListener, ListenError> {
    TcpListener::bind(address).map_err(|error| refused(port, error))
}

fn refused(port: u16, error: std::io::Error) -> ListenError {
    if error.kind() == ErrorKind::AddrInUse {
        ListenError::Taken(port)
    } else {
        ListenError::System(port, error)
    }
}

fn no_such_family(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(libc::EAFNOSUPPORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_taken_on_either_address_is_refused() {
        for taken in [IP4, IP6] {
            let other = TcpListener::bind((taken, 0)).expect("bind");
            let port = other.local_addr().expect("address").port();
            let error = Listeners::open(port).expect_err("taken");
            assert_eq!(error.to_string(), format!("port {port} is taken"));
        }
    }

    #[test]
    fn nobody_else_gets_either_address() {
        let ours = Listeners::open_any().expect("free");
        for address in [IP4, IP6, "0.0.0.0", "::"] {
            assert!(
                TcpListener::bind((address, ours.port())).is_err(),
                "{address}"
            );
        }
    }

    const IP4: &str = "127.0.0.1";
    const IP6: &str = "::1";
}
