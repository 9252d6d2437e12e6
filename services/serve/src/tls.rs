//! TLS of a listener: certificate and key from files, read again when they change.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How often the files are looked at, at most.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Bits of a mode that let everybody at a private key. A group may read it: orchestrators mount secrets so.
const EVERYBODY: u32 = 0o007;

/// Why a listener has no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("read {0}")]
    File(PathBuf, #[source] std::io::Error),
    /// A file holds nothing of the wanted kind.
    #[error("{0}: no {1} in PEM")]
    Pem(PathBuf, &'static str),
    /// Everybody can read the private key.
    #[error(
        "{0}: everybody on this machine can read this private key; `chmod o= {0}`, and replace it if it was exposed"
    )]
    Exposed(PathBuf),
    /// Certificate and key do not fit, or a certificate cannot be used.
    #[error("use the certificate {0} and its key")]
    Unusable(PathBuf, #[source] rustls::Error),
    /// The certificates that vouch for clients cannot be used.
    #[error("use the certificates of {0} for judging clients")]
    ClientAuthority(PathBuf),
    /// A client's name is none.
    #[error("{0}: not a name that a certificate could carry")]
    ClientName(String),
    /// Clients are named, and nothing vouches for them.
    #[error("`client_names` without `client_authority`: nothing would vouch for the names")]
    NoAuthority,
    /// Anybody's certificate of that authority would do.
    #[error(
        "`client_authority` without `client_names`: name the services that may call, or any of them may"
    )]
    NoNames,
}

/// TLS of one service's listeners, as its configuration names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The chain of certificates in PEM, the service's own first.
    pub certificate: PathBuf,
    /// Its private key in PEM.
    pub key: PathBuf,
    /// For mutual TLS: the certificates in PEM that vouch for clients. A client without one is turned away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_authority: Option<PathBuf>,
    /// For mutual TLS: the names of which a client's certificate must carry one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_names: Vec<String>,
}

/// The files as they are now, and what was made of them.
#[derive(Debug)]
pub(crate) struct Certificates {
    tls: Tls,
    client_names: Vec<ServerName<'static>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    config: Arc<ServerConfig>,
    seen: Vec<Option<Stamp>>,
    looked_at: Instant,
}

/// What tells one state of a file from another; a file put in its place has another number.
type Stamp = (SystemTime, u64, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}

impl Tls {
    fn stamps(&self) -> Vec<Option<Stamp>> {
        let files = [
            Some(&self.certificate),
            Some(&self.key),
            self.client_authority.as_ref(),
        ];
        files
            .into_iter()
            .flatten()
            .map(|path| stamp(path))
            .collect()
    }

    fn read(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let chain = certificates(&self.certificate)?;
        let metadata = std::fs::metadata(&self.key);
        let metadata = metadata.map_err(|error| TlsError::File(self.key.clone(), error))?;
        if metadata.permissions().mode() & EVERYBODY != 0 {
            return Err(TlsError::Exposed(self.key.clone()));
        }
        let key =
            std::fs::read(&self.key).map_err(|error| TlsError::File(self.key.clone(), error))?;
        let key = PrivateKeyDer::from_pem_slice(&key)
            .map_err(|_| TlsError::Pem(self.key.clone(), "private key"))?;
        let unusable = |error| TlsError::Unusable(self.certificate.clone(), error);
        // Named and not the process's own: a service may have chosen another for what it calls.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?;
        let builder = match &self.client_authority {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots
                        .add(certificate)
                        .map_err(|_| TlsError::ClientAuthority(path.clone()))?;
                }
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                        .build()
                        .map_err(|_| TlsError::ClientAuthority(path.clone()))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = std::fs::read(path).map_err(|error| TlsError::File(path.to_owned(), error))?;
    let malformed = || TlsError::Pem(path.to_owned(), "certificate");
    let chain = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| malformed())?;
    if chain.is_empty() {
        return Err(malformed());
    }
    Ok(chain)
}

impl Certificates {
    /// Reads the files for the first time.
    pub(crate) fn open(tls: Tls) -> Result<Self, TlsError> {
        match (&tls.client_authority, tls.client_names.is_empty()) {
            (None, false) => return Err(TlsError::NoAuthority),
            (Some(_), true) => return Err(TlsError::NoNames),
            _ => {}
        }
        let names = tls.client_names.iter().map(|name| {
            ServerName::try_from(name.clone()).map_err(|_| TlsError::ClientName(name.clone()))
        });
        let client_names = names.collect::<Result<_, _>>()?;
        let seen = tls.stamps();
        let config = tls.read()?;
        Ok(Self {
            tls,
            client_names,
            state: Mutex::new(State {
                config,
                seen,
                looked_at: Instant::now(),
            }),
        })
    }

    /// What the files say now. Whatever is wrong with new ones, the old ones stay: a certificate ends by itself.
    fn current(&self) -> Arc<ServerConfig> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked_at.elapsed() < LOOK_INTERVAL {
            return Arc::clone(&state.config);
        }
        state.looked_at = Instant::now();
        let seen = self.tls.stamps();
        if seen != state.seen {
            match self.tls.read() {
                Ok(config) => {
                    state.config = config;
                    state.seen = seen;
                    tracing::info!("Another certificate is shown");
                }
                // Not remembered as seen: half-written files are looked at again.
                Err(error) => tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "The new certificate cannot be used; the old one stays"
                ),
            }
        }
        Arc::clone(&state.config)
    }

    /// Shakes hands. None where the client broke off, or is none that may call.
    pub(crate) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
    ) -> Option<TlsStream<S>> {
        let acceptor = TlsAcceptor::from(self.current());
        let stream = match acceptor.accept(stream).await {
            Ok(stream) => stream,
            Err(error) => {
                tracing::debug!(%error, "A client did not finish its handshake");
                return None;
            }
        };
        if !self.may_call(stream.get_ref().1.peer_certificates()) {
            tracing::warn!("Turned away a client whose certificate names none that may call");
            return None;
        }
        Some(stream)
    }

    fn may_call(&self, shown: Option<&[CertificateDer<'_>]>) -> bool {
        if self.client_names.is_empty() {
            return true;
        }
        let Some(first) = shown.and_then(<[_]>::first) else {
            return false;
        };
        let Ok(certificate) = ParsedCertificate::try_from(first) else {
            return false;
        };
        let names = |name| verify_server_name(&certificate, name).is_ok();
        self.client_names.iter().any(names)
    }
}

#[cfg(test)]
mod tests;
