//! Where a service listens: sockets its supervisor opened, or addresses it binds itself.

use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use crate::process;
use crate::tls::{Certificates, Tls};

/// A service's listening sockets, as its config names them.
///
/// `{"inherited_fds":[3,4]}`: opened by the supervisor, which keeps them over a restart, so that no other
/// process can answer for this origin in between. `{"bind":["127.0.0.1:0"]}`: for tests and containers.
///
/// `"tls"` beside them names certificate and key; without it, addresses that others can reach are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// File descriptors that stand open at start, each a listening socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited_fds: Option<Vec<RawFd>>,
    /// Addresses to bind; port 0 lets the system choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<Vec<SocketAddr>>,
    /// Certificate and key. Without them HTTP is plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Takes plain HTTP beyond loopback all the same: where something else ends TLS, on a network that holds
    /// nobody but the two ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain_http_lets_anyone_on_the_network_read_and_change_everything: bool,
}

impl Listen {
    /// These addresses, in plain HTTP.
    #[must_use]
    pub fn on(addresses: Vec<SocketAddr>) -> Self {
        Self {
            bind: Some(addresses),
            ..Self::default()
        }
    }

    /// These open descriptors, in plain HTTP.
    #[must_use]
    pub fn inherited(fds: Vec<RawFd>) -> Self {
        Self {
            inherited_fds: Some(fds),
            ..Self::default()
        }
    }
}

/// One listening socket, and the TLS that is spoken on it.
#[derive(Debug)]
pub struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) certificates: Option<Arc<Certificates>>,
}

impl Listener {
    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The socket alone, for what is plain HTTP on loopback.
    ///
    /// # Errors
    /// When TLS was asked for on it, or it cannot leave the runtime.
    pub fn into_plain(self) -> anyhow::Result<std::net::TcpListener> {
        ensure!(
            !self.has_tls(),
            "this listener takes no TLS: give it an address of loopback alone"
        );
        Ok(self.socket.into_std()?)
    }

    /// Whether TLS is spoken on it.
    #[must_use]
    pub fn has_tls(&self) -> bool {
        self.certificates.is_some()
    }
}

impl From<TcpListener> for Listener {
    fn from(socket: TcpListener) -> Self {
        Self {
            socket,
            certificates: None,
        }
    }
}

/// Opens every listener of `listen`. To be called once per process for inherited descriptors.
///
/// # Errors
/// When the list is empty or names a descriptor twice, when a descriptor is no listening socket, when
/// an address cannot be bound, when certificate or key cannot be used, or when HTTP would be plain where
/// others can reach it.
pub async fn open(listen: &Listen) -> anyhow::Result<Vec<Listener>> {
    let certificates = match &listen.tls {
        Some(tls) => Some(Arc::new(
            Certificates::open(tls.clone()).context("open TLS")?,
        )),
        None => None,
    };
    let sockets = open_sockets(listen).await?;
    if certificates.is_none()
        && !listen.plain_http_lets_anyone_on_the_network_read_and_change_everything
    {
        for socket in &sockets {
            let address = socket.local_addr()?;
            ensure!(
                address.ip().to_canonical().is_loopback(),
                "{address} is beyond loopback and has no TLS: whoever is on the way could read and change what \
                 customers see and confirm. Give `listen.tls` a certificate and a key, or set \
                 `listen.plain_http_lets_anyone_on_the_network_read_and_change_everything` where another end of TLS \
                 stands before it"
            );
        }
    }
    let with_tls = |socket| Listener {
        socket,
        certificates: certificates.clone(),
    };
    Ok(sockets.into_iter().map(with_tls).collect())
}

async fn open_sockets(listen: &Listen) -> anyhow::Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    match (&listen.inherited_fds, &listen.bind) {
        (Some(fds), None) => {
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
        (None, Some(addresses)) => {
            for address in addresses {
                listeners.push(
                    TcpListener::bind(address)
                        .await
                        .with_context(|| format!("listen on {address}"))?,
                );
            }
        }
        _ => bail!("the config names either `inherited_fds` or `bind`"),
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
        let listeners = open(&Listen::inherited(vec![fd])).await.expect("take over");
        assert_eq!(listeners[0].local_addr().expect("address"), address);
    }

    #[tokio::test]
    async fn what_is_no_listening_socket_is_refused() {
        let file = std::fs::File::open("/dev/null")
            .expect("open")
            .into_raw_fd();
        assert!(open(&Listen::inherited(vec![file])).await.is_err());
        let datagram = std::net::UdpSocket::bind("127.0.0.1:0")
            .expect("bind")
            .into_raw_fd();
        assert!(open(&Listen::inherited(vec![datagram])).await.is_err());
        let listening = std::net::TcpListener::bind("127.0.0.1:0")
            .expect("bind")
            .into_raw_fd();
        let twice = open(&Listen::inherited(vec![listening, listening])).await;
        let error = twice.expect_err("two owners");
        assert!(error.to_string().contains("named twice"), "{error}");
        for fds in [vec![], vec![0], vec![-1], vec![999_999]] {
            assert!(
                open(&Listen::inherited(fds.clone())).await.is_err(),
                "{fds:?}"
            );
        }
    }

    #[test]
    fn the_config_has_one_form_of_each() {
        let parsed: Listen = serde_json::from_str(r#"{"inherited_fds":[3,4]}"#).expect("parses");
        assert_eq!(parsed, Listen::inherited(vec![3, 4]));
        assert!(serde_json::from_str::<Listen>(r#"{"inherited_fds":[3],"bnd":[]}"#).is_err());
    }

    #[tokio::test]
    async fn a_config_with_two_forms_or_none_is_refused() {
        for text in [r#"{"inherited_fds":[3],"bind":["127.0.0.1:0"]}"#, "{}"] {
            let listen: Listen = serde_json::from_str(text).expect("parses");
            assert!(open(&listen).await.is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn plain_http_is_for_loopback_unless_somebody_writes_down_what_it_means() {
        for reachable in ["0.0.0.0:0", "[::]:0"] {
            let Ok(address) = reachable.parse::<SocketAddr>() else {
                panic!("{reachable}")
            };
            if TcpListener::bind(address).await.is_err() {
                // A machine without that family.
                continue;
            }
            let mut listen = Listen::on(vec![address]);
            let refused = open(&listen).await.expect_err(reachable).to_string();
            assert!(
                refused.contains("beyond loopback") && refused.contains("listen.tls"),
                "{refused}"
            );
            // Also where a supervisor has opened it.
            let socket = std::net::TcpListener::bind(address).expect("bind");
            let inherited = Listen::inherited(vec![socket.into_raw_fd()]);
            assert!(open(&inherited).await.is_err(), "{reachable}");
            listen.plain_http_lets_anyone_on_the_network_read_and_change_everything = true;
            assert!(open(&listen).await.is_ok(), "{reachable}");
        }
        assert!(
            open(&Listen::on(vec![
                "127.0.0.1:0".parse().expect("an address")
            ]))
            .await
            .is_ok()
        );
    }
}
