//! Where a service listens: sockets its supervisor opened, or addresses it binds itself.

use std::net::SocketAddr;
use std::os::fd::RawFd;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use crate::process;

/// A service's listening sockets, as its config names them.
///
/// `{"inherited_fds":[3,4]}`: opened by the supervisor, which keeps them over a restart, so that no other
/// process can answer for this origin in between. `{"bind":["127.0.0.1:0"]}`: for tests and containers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Listen {
    /// File descriptors that stand open at start, each a listening socket.
    #[serde(rename = "inherited_fds")]
    InheritedFds(Vec<RawFd>),
    /// Addresses to bind; port 0 lets the system choose.
    #[serde(rename = "bind")]
    Bind(Vec<SocketAddr>),
}

/// Opens every listener of `listen`. To be called once per process for inherited descriptors.
///
/// # Errors
/// When the list is empty or names a descriptor twice, when a descriptor is no listening socket, or when
/// an address cannot be bound.
pub async fn open(listen: &Listen) -> anyhow::Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    match listen {
        Listen::InheritedFds(fds) => {
            // Before the first is taken: a descriptor must never have two owners.
            for (index, fd) in fds.iter().enumerate() {
                ensure!(
                    !fds[..index].contains(fd),
                    "descriptor {fd} is named twice in the config"
                );
            }
            for fd in fds {
                let listener = process::inherited_listener(*fd).with_context(|| {
                    format!("take over the listening socket at descriptor {fd}")
                })?;
                listener.set_nonblocking(true)?;
                listeners.push(TcpListener::from_std(listener)?);
            }
        }
        Listen::Bind(addresses) => {
            for address in addresses {
                listeners.push(
                    TcpListener::bind(address)
                        .await
                        .with_context(|| format!("listen on {address}"))?,
                );
            }
        }
    }
    ensure!(
        !listeners.is_empty(),
        "the config names no listening socket"
    );
    Ok(listeners)
}

#[cfg(test)]
mod tests {
    use std::os::fd::IntoRawFd;

    use super::*;

    #[tokio::test]
    async fn an_inherited_socket_is_taken_over() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = socket.local_addr().expect("address");
        let fd = socket.into_raw_fd();
        let listeners = open(&Listen::InheritedFds(vec![fd]))
            .await
            .expect("take over");
        assert_eq!(listeners[0].local_addr().expect("address"), address);
    }

    #[tokio::test]
    async fn what_is_no_listening_socket_is_refused() {
        let file = std::fs::File::open("/dev/null")
            .expect("open")
            .into_raw_fd();
        assert!(open(&Listen::InheritedFds(vec![file])).await.is_err());
        let datagram = std::net::UdpSocket::bind("127.0.0.1:0")
            .expect("bind")
            .into_raw_fd();
        assert!(open(&Listen::InheritedFds(vec![datagram])).await.is_err());
        let listening = std::net::TcpListener::bind("127.0.0.1:0")
            .expect("bind")
            .into_raw_fd();
        let twice = open(&Listen::InheritedFds(vec![listening, listening])).await;
        let error = twice.expect_err("two owners");
        assert!(error.to_string().contains("named twice"), "{error}");
        for fds in [vec![], vec![0], vec![-1], vec![999_999]] {
            assert!(
                open(&Listen::InheritedFds(fds.clone())).await.is_err(),
                "{fds:?}"
            );
        }
    }

    #[test]
    fn the_config_has_one_form_of_each() {
        let parsed: Listen = serde_json::from_str(r#"{"inherited_fds":[3,4]}"#).expect("parses");
        assert_eq!(parsed, Listen::InheritedFds(vec![3, 4]));
        assert!(serde_json::from_str::<Listen>(r#"{"inherited_fds":[3],"bind":[]}"#).is_err());
    }
}
