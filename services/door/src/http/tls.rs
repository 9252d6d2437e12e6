//! Connections to servers: TCP, with TLS where the address says `https`.

use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::{ClientConfig, RootCertStore};

/// What opens connections.
pub type Connector = HttpsConnector<HttpConnector>;

/// Why no connection can be opened.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// There is nobody to trust, so nobody is.
    #[error(
        "read the certificates that this system trusts: none found; install them, or name a file \
         of them in SSL_CERT_FILE"
    )]
    NoRoots,
    /// The library cannot do it.
    #[error("prepare TLS")]
    Tls(#[from] rustls::Error),
}

/// What opens connections to an address. The system's certificates are read for `https` alone.
///
/// # Errors
/// [`TlsError`], for `https` alone.
pub fn connector(uri: &Uri, time_out: Duration) -> Result<Connector, TlsError> {
    let mut roots = RootCertStore::empty();
    if uri.scheme_str() == Some("https") {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            return Err(TlsError::NoRoots);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut tcp = HttpConnector::new();
    tcp.set_connect_timeout(Some(time_out));
    tcp.set_nodelay(true);
    // Whether an address may be plain was decided where it was read.
    tcp.enforce_http(false);
    Ok(HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp))
}

/// Whether an address is one of a server: plain or with TLS, with a host, without a query.
pub fn is_server(uri: &Uri) -> bool {
    matches!(uri.scheme_str(), Some("http" | "https"))
        && uri.query().is_none()
        && uri.host().is_some_and(|host| !host.is_empty())
}
