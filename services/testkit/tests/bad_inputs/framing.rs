//! What is no HTTP that anybody should send: framed two ways, dripped, too long, too many at once. Every listener
//! of the bank answers it alike, and goes on answering others.

use std::time::{Duration, Instant};

use countersign_testkit::Service;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::{
    answer::{Answer, Code},
    raw::{self, Request},
    site::{Site, Way, call},
    table,
};

/// Every listener that somebody outside reaches, with an address that takes a body.
const LISTENERS: [(Service, &str); 4] = [
    (Service::Door, "/mcp"),
    (Service::BankMcp, "/mcp"),
    (
        Service::Panel,
        "/api/actions/act_00000000000000000000000000000001/confirm",
    ),
    (Service::Intake, "/messages"),
];

/// A request with everything that a good one has, and `{}` for a body.
fn good(site: &Site, service: Service, path: &str) -> anyhow::Result<Request> {
    let request = match service {
        Service::Door => site.post(Way::Door, call("list_accounts", "{}"))?,
        Service::BankMcp => site.post(Way::Direct, call("list_accounts", "{}"))?,
        _ => Request::new("POST", path, &site.host(service))
            .with("Origin", site.bank.origin(service))
            .with("Content-Type", "application/json")
            .with("Cookie", site.ada.cookie())
            .with("Authorization", format!("Bearer {}", site.ada.bearer()))
            .body("{}"),
    };
    Ok(request)
}

async fn health(site: &Site, service: Service) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let request = Request::new("GET", "/health", &site.host(service));
    let answer = request.send(site.port(service)).await?;
    anyhow::ensure!(answer.status == 200, "{}: {answer:?}", service.name());
    Ok(start.elapsed())
}

/// Refused by a problem, or by the HTTP library with a bare status before anything of ours runs.
fn refused_early(answer: &Answer, what: &str) {
    let typed = matches!(answer.code(), Some(Code::Problem(_)));
    let bare = answer.text.is_empty() && answer.head.contains("connection: close");
    assert!(
        (400..=431).contains(&answer.status) && (typed || bare),
        "{what}: {answer:?}"
    );
    answer.must_show_nothing_internal(what);
}

#[tokio::test]
async fn what_is_framed_two_ways_is_refused_and_smuggles_nothing() -> anyhow::Result<()> {
    let site = Site::begin().await?;
    let before = site.counts().await?;
    for (service, path) in LISTENERS {
        let request = || good(&site, service, path);
        let send = async |what: &str, bytes: Vec<u8>| -> anyhow::Result<()> {
            let answer = raw::exchange(site.port(service), &bytes).await?;
            let what = format!("{what} to {}", service.name());
            refused_early(&answer, &what);
            assert!(
                !answer.text.contains("HTTP/1.1"),
                "{what} is answered once: {answer:?}"
            );
            Ok(())
        };
        let inner = request()?.bytes();
        let chunked = [b"0\r\n\r\n".as_slice(), &inner].concat();
        let lengths = |first: &str, second: &str| -> anyhow::Result<Vec<u8>> {
            Ok(request()?
                .with("Content-Length", first)
                .with("Content-Length", second)
                .bytes())
        };
        // BI-021
        let both = request()?.with("Transfer-Encoding", "chunked");
        send(
            "a length and chunks",
            both.clone()
                .with("Content-Length", "5")
                .body(chunked.clone())
                .bytes(),
        )
        .await?;
        send(
            "chunks and a length",
            request()?
                .with("Content-Length", "5")
                .with("Transfer-Encoding", "chunked")
                .body(chunked.clone())
                .bytes(),
        )
        .await?;
        send("chunks alone", both.body(chunked.clone()).bytes()).await?;
        for coding in [
            "xchunked",
            "chunked, identity",
            "identity, chunked",
            "gzip",
            "Chunked",
            " chunked",
        ] {
            let odd = request()?
                .with("Transfer-Encoding", coding)
                .with("Content-Length", "5")
                .body(chunked.clone());
            send(&format!("coding {coding:?}"), odd.bytes()).await?;
        }
        send("two lengths", lengths("2", "60")?).await?;
        for length in [
            "+2",
            "-2",
            "0x2",
            "2, 60",
            "2 60",
            "",
            "99999999999999999999999",
        ] {
            send(
                &format!("length {length:?}"),
                request()?.with("Content-Length", length).bytes(),
            )
            .await?;
        }
        let spaced = request()?.bytes();
        let spaced = replaced(&spaced, b"Content-Length:", b"Content-Length :");
        send("a space before the colon", spaced).await?;
        // BI-016
        for (what, value) in [
            ("a bare return", b"a\rX-Customer: 2".as_slice()),
            ("NUL", b"a\0b"),
            ("a control", b"a\x01b"),
            ("delete", b"a\x7fb"),
        ] {
            send(what, request()?.with("Mcp-Param-Payee", value).bytes()).await?;
        }
        send(
            "a folded header",
            request()?
                .with("Mcp-Param-Payee", "a\r\n X-Customer: 2")
                .bytes(),
        )
        .await?;
        send("no name", request()?.with("", "x").bytes()).await?;
        send(
            "a name with a space",
            request()?.with("X Customer", "2").bytes(),
        )
        .await?;
        // OW-009
        send(
            "an older HTTP without a host",
            request()?
                .line(&format!("POST {path} HTTP/1.0"))
                .without("Host")
                .bytes(),
        )
        .await?;
        send(
            "HTTP of the future",
            request()?.line(&format!("POST {path} HTTP/3.0")).bytes(),
        )
        .await?;
        send(
            "no HTTP",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(),
        )
        .await?;
        send(
            "an absolute target elsewhere",
            request()?
                .line(&format!("POST http://evil.example{path} HTTP/1.1"))
                .bytes(),
        )
        .await?;
        send(
            "a target with a user",
            request()?
                .line(&format!(
                    "POST http://a@{}{path} HTTP/1.1",
                    site.host(service)
                ))
                .bytes(),
        )
        .await?;
        send(
            "a head of pages",
            request()?.with("X-Long", "x".repeat(100_000)).bytes(),
        )
        .await?;
        send(
            "a target of pages",
            request()?
                .line(&format!("POST {path}?{} HTTP/1.1", "x".repeat(100_000)))
                .bytes(),
        )
        .await?;
        let many = (0..200).try_fold(request()?, |request, number| {
            anyhow::Ok(request.with(&format!("X-{number}"), "x"))
        });
        send("two hundred headers", many?.bytes()).await?;
        // BI-019
        let long = request()?.body(vec![b' '; 3 << 20]);
        let answer = long.send(site.port(service)).await?;
        answer.must_refuse(413, Code::problem("too_large"), service.name());
        health(&site, service).await?;
    }
    assert_eq!(site.counts().await?, before);
    a_line_inside_a_header_is_a_header_of_the_clients(&site).await?;
    table::must_be_the_rows_of(
        "what_is_framed_two_ways_is_refused_and_smuggles_nothing",
        &["BI-016", "BI-019", "BI-021", "OW-009"],
    );
    Ok(())
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let place = bytes
        .windows(from.len())
        .position(|window| window == from)
        .unwrap_or_default();
    [&bytes[..place], to, &bytes[place + from.len()..]].concat()
}

/// BI-016: whole line ends make two headers for every reader, and neither names a customer to anybody.
async fn a_line_inside_a_header_is_a_header_of_the_clients(site: &Site) -> anyhow::Result<()> {
    let own = site.call(Way::Door, "list_accounts", "{}").await?.content();
    for value in [
        "a\r\nX-Customer: 2",
        "a\r\nCountersign-Request: forged",
        "a%0d%0aX-Customer: 2",
    ] {
        let request = site
            .post(Way::Door, call("list_accounts", "{}"))?
            .with("Mcp-Param-Payee", value);
        let answer = request.send(site.port(Service::Door)).await?;
        assert_eq!(answer.content(), own, "{value:?}: {answer:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drips_is_given_up_and_holds_nobody_up() -> anyhow::Result<()> {
    let site = Site::begin().await?;
    let before = site.counts().await?;
    let drips = LISTENERS.map(|(service, path)| a_dripped_body_is_given_up(&site, service, path));
    let meanwhile = async {
        for (service, _) in LISTENERS {
            health_is_quick(&site, service, "drips").await?;
        }
        anyhow::Ok(())
    };
    tokio::try_join!(futures_util::future::try_join_all(drips), meanwhile)?;
    assert_eq!(site.counts().await?, before);
    site.still_works().await?;
    table::must_be_the_rows_of("who_drips_is_given_up_and_holds_nobody_up", &["BI-020"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_only_connects_holds_nobody_up() -> anyhow::Result<()> {
    let site = Site::begin().await?;
    let before = site.counts().await?;
    for (service, path) in LISTENERS {
        idle_connections_leave_room(&site, service).await?;
        unfinished_requests_leave_room(&site, service, path).await?;
    }
    assert_eq!(site.counts().await?, before);
    site.still_works().await?;
    table::must_be_the_rows_of("who_only_connects_holds_nobody_up", &["BI-022", "OW-010"]);
    Ok(())
}

/// BI-020: one byte a second, for longer than anybody has.
async fn a_dripped_body_is_given_up(
    site: &Site,
    service: Service,
    path: &str,
) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut stream = TcpStream::connect(("127.0.0.1", site.port(service))).await?;
    let head = good(site, service, path)?
        .body("")
        .with("Content-Length", "1000");
    stream.write_all(&head.bytes()).await?;
    let (mut reading, mut writing) = stream.into_split();
    let dripping = tokio::spawn(async move {
        while writing.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let mut received = Vec::new();
    let ended = tokio::time::timeout(
        Duration::from_secs(45),
        tokio::io::AsyncReadExt::read_to_end(&mut reading, &mut received),
    );
    let _ = ended.await?;
    dripping.abort();
    let answer = Answer::read(&received);
    answer.must_refuse(408, Code::problem("request_timeout"), service.name());
    assert!(
        start.elapsed() < Duration::from_secs(40),
        "{:?}",
        start.elapsed()
    );
    Ok(())
}

/// Health is answered within this time, however many others connect.
const HEALTH_TIME_MAX: Duration = Duration::from_millis(100);

/// The best of a few tries: the machine that runs the tests has other work, the service must not be the reason.
async fn health_is_quick(site: &Site, service: Service, what: &str) -> anyhow::Result<()> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        best = best.min(health(site, service).await?);
    }
    assert!(
        best < HEALTH_TIME_MAX,
        "{what} of {}: {best:?}",
        service.name()
    );
    Ok(())
}

/// BI-022.
async fn idle_connections_leave_room(site: &Site, service: Service) -> anyhow::Result<()> {
    let mut idle = Vec::with_capacity(2_000);
    let alive = format!(
        "GET /health HTTP/1.1\r\nHost: {}\r\n\r\n",
        site.host(service)
    );
    for number in 0..2_000 {
        let mut stream = TcpStream::connect(("127.0.0.1", site.port(service))).await?;
        // Some say nothing, some begin a head, some were answered and stay.
        let said = [
            b"".as_slice(),
            b"POST /mcp HTTP/1.1\r\nHost: ",
            alive.as_bytes(),
        ][number % 3];
        let _ = stream.write_all(said).await;
        idle.push(stream);
    }
    health_is_quick(site, service, "beside idle connections").await
}

/// OW-010: requests whose bodies never come.
async fn unfinished_requests_leave_room(
    site: &Site,
    service: Service,
    path: &str,
) -> anyhow::Result<()> {
    let head = good(site, service, path)?
        .body("")
        .with("Content-Length", "1000")
        .bytes();
    let mut open = Vec::with_capacity(1_200);
    for _ in 0..1_200 {
        let mut stream = TcpStream::connect(("127.0.0.1", site.port(service))).await?;
        let _ = stream.write_all(&head).await;
        open.push(stream);
    }
    health_is_quick(site, service, "beside requests without their bodies").await
}
