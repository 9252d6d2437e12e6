//! Real handshakes: over a socket, with certificates made for the test.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::routing::get;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ClientConfig;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::*;
use crate::limits::Limits;
use crate::{Listen, open};

type Authority = CertifiedIssuer<'static, KeyPair>;

struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Place {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("countersign-tls-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        // As whoever renews certificates does it: another file in the same place.
        let beside = self.0.join(format!("{name}.new"));
        std::fs::write(&beside, text).unwrap();
        std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::rename(&beside, &path).unwrap();
        path
    }

    /// A certificate of this authority and its key, in files.
    fn certify(&self, authority: &Authority, name: &str) -> Tls {
        let (certificate, key) = leaf(authority, name);
        Tls {
            certificate: self.write("server.pem", &certificate),
            key: self.write("server.key", &key),
            client_authority: None,
            client_names: Vec::new(),
        }
    }
}

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn leaf(authority: &Authority, name: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    (certificate.pem(), key.serialize_pem())
}

/// Serves until the test ends.
async fn serve(tls: &Tls) -> SocketAddr {
    let listen = Listen {
        tls: Some(tls.clone()),
        ..Listen::on(vec!["127.0.0.1:0".parse().unwrap()])
    };
    let listeners = open(&listen).await.unwrap();
    assert!(listeners[0].has_tls());
    let address = listeners[0].local_addr().unwrap();
    let router = Router::new().route("/health", get(crate::health));
    let limits = Limits {
        head_read_time_out: Duration::from_millis(500),
        ..Limits::STANDARD
    };
    tokio::spawn(crate::server::serve_within(
        limits,
        listeners,
        router,
        None,
        std::future::pending(),
    ));
    address
}

/// What a client is told that trusts this authority and shows this certificate.
async fn ask(
    address: SocketAddr,
    authority: &Authority,
    shown: Option<(String, String)>,
) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match shown {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("bank.test").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await?;
    let head = "GET /health HTTP/1.1\r\nHost: bank.test\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn a_listener_with_a_certificate_speaks_tls_and_nothing_else() {
    let (place, authority) = (Place::new(), authority());
    let address = serve(&place.certify(&authority, "bank.test")).await;
    let answer = ask(address, &authority, None).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        ask(address, &self::authority(), None).await.is_err(),
        "of an authority nobody trusts"
    );
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain
        .write_all(b"GET /health HTTP/1.1\r\nHost: bank.test\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "plain HTTP is not answered");
}

#[tokio::test]
async fn whoever_does_not_shake_hands_in_time_is_gone_and_others_are_answered_meanwhile() {
    let (place, authority) = (Place::new(), authority());
    let address = serve(&place.certify(&authority, "bank.test")).await;
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let began = std::time::Instant::now();
    assert!(ask(address, &authority, None).await.is_ok());
    assert!(
        began.elapsed() < Duration::from_millis(450),
        "{:?}",
        began.elapsed()
    );
    for mut stream in silent {
        let mut rest = Vec::new();
        let ended =
            tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "the handshake has a deadline");
    }
}

#[tokio::test]
async fn a_new_certificate_is_shown_without_a_restart_and_a_broken_one_is_not() {
    let (place, first, second) = (Place::new(), authority(), authority());
    let address = serve(&place.certify(&first, "bank.test")).await;
    assert!(ask(address, &first, None).await.is_ok());
    place.certify(&second, "bank.test");
    let began = std::time::Instant::now();
    while ask(address, &second, None).await.is_err() {
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "the new one is not shown"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(ask(address, &first, None).await.is_err());
    place.write("server.pem", "nothing of the kind");
    tokio::time::sleep(LOOK_INTERVAL + Duration::from_millis(200)).await;
    assert!(
        ask(address, &second, None).await.is_ok(),
        "the old one stays"
    );
}

#[tokio::test]
async fn with_mutual_tls_only_named_clients_are_answered() {
    let (place, server, clients) = (Place::new(), authority(), authority());
    let tls = Tls {
        client_authority: Some(place.write("clients.pem", &clients.pem())),
        client_names: vec!["door.bank.test".to_owned()],
        ..place.certify(&server, "bank.test")
    };
    let address = serve(&tls).await;
    let is_answered = async |shown| {
        ask(address, &server, shown)
            .await
            .is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    };
    assert!(is_answered(Some(leaf(&clients, "door.bank.test"))).await);
    assert!(!is_answered(None).await, "without a certificate");
    assert!(
        !is_answered(Some(leaf(&clients, "agent.bank.test"))).await,
        "another service of the bank"
    );
    assert!(
        !is_answered(Some(leaf(&server, "door.bank.test"))).await,
        "another authority's"
    );
    assert!(
        !is_answered(Some(leaf(&authority(), "door.bank.test"))).await,
        "its own"
    );
}

#[tokio::test]
async fn files_that_cannot_be_used_stop_the_start_and_say_which() {
    let (place, one) = (Place::new(), authority());
    let good = place.certify(&one, "bank.test");
    let exposed = place.write("exposed.key", &leaf(&one, "bank.test").1);
    std::fs::set_permissions(&exposed, std::fs::Permissions::from_mode(0o644)).unwrap();
    let other_key = place.write("other.key", &leaf(&one, "bank.test").1);
    let empty = place.write("empty.pem", "");
    let with = |change: &dyn Fn(&mut Tls)| {
        let mut tls = good.clone();
        change(&mut tls);
        Certificates::open(tls).expect_err("refused").to_string()
    };
    for (said, words) in [
        (with(&|tls| tls.key = exposed.clone()), "everybody"),
        (
            with(&|tls| tls.key = other_key.clone()),
            "use the certificate",
        ),
        (with(&|tls| tls.key = empty.clone()), "no private key"),
        (
            with(&|tls| tls.certificate = empty.clone()),
            "no certificate",
        ),
        (with(&|tls| tls.certificate = "/nowhere".into()), "/nowhere"),
        (
            with(&|tls| tls.client_names = vec!["door".into()]),
            "client_authority",
        ),
        (
            with(&|tls| tls.client_authority = Some(good.certificate.clone())),
            "client_names",
        ),
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert!(Certificates::open(good.clone()).is_ok());
}
