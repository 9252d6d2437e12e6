//! Requests whose head is wrong: another name, another page, another kind, headers that say something else
//! than the body, headers that try to steer.

use countersign_testkit::Service;

use crate::{
    answer::{Answer, Code},
    raw::Request,
    site::{STATELESS, Site, Way, call, stateless_call},
    table,
};

/// A good message for one way, changed.
struct Case {
    row: &'static str,
    what: &'static str,
    change: fn(Request) -> Request,
    status: u16,
    /// The codes through the door and directly.
    codes: [Option<Code>; 2],
}

fn problem(
    row: &'static str,
    what: &'static str,
    status: u16,
    code: &str,
    change: fn(Request) -> Request,
) -> Case {
    Case {
        row,
        what,
        change,
        status,
        codes: [Code::problem(code), Code::problem(code)],
    }
}

fn strangers() -> Vec<Case> {
    let host = |row, what, change| problem(row, what, 403, "wrong_host", change);
    let origin = |row, what, change| problem(row, what, 403, "wrong_origin", change);
    vec![
        host("BI-001", "a foreign host", |r| {
            r.set("Host", "evil.example.com")
        }),
        host("BI-001", "a host without its port", |r| {
            r.set("Host", "127.0.0.1")
        }),
        host("BI-001", "the other name of this machine", |r| {
            r.set("Host", "localhost:8482")
        }),
        host("BI-001", "no host", |r| r.without("Host")),
        host("BI-001", "an empty host", |r| r.set("Host", "")),
        host("BI-001", "two hosts", |r| {
            r.with("Host", "evil.example.com")
        }),
        host("BI-006", "a foreign host, the good one forwarded", |r| {
            r.set("Host", "evil.example.com")
                .with("X-Forwarded-Host", "127.0.0.1")
                .with("Forwarded", "host=127.0.0.1")
        }),
        host("BI-006", "an absolute target elsewhere", |r| {
            r.line("POST http://evil.example.com/mcp HTTP/1.1")
        }),
        origin("BI-002", "a foreign page", |r| {
            r.with("Origin", "http://evil.example.com")
        }),
        origin("BI-002", "an empty origin", |r| r.with("Origin", "")),
        origin("BI-003", "an opaque origin", |r| r.with("Origin", "null")),
        origin("BI-003", "two opaque origins", |r| {
            r.with("Origin", "null").with("Origin", "null")
        }),
        origin("BI-004", "a page that begins like ours", |r| {
            r.with("Origin", "http://localhost.evil.example")
        }),
        origin("BI-004", "our name as a user name", |r| {
            r.with("Origin", "http://127.0.0.1@evil.example")
        }),
        origin("BI-004", "a page that ends like ours", |r| {
            r.with("Origin", "http://evil-127.0.0.1")
        }),
        origin("BI-005", "another port", |r| {
            r.with("Origin", "http://127.0.0.1:1")
        }),
        origin("BI-005", "no port", |r| {
            r.with("Origin", "http://127.0.0.1")
        }),
        origin("BI-005", "another scheme", |r| {
            r.with("Origin", "https://127.0.0.1:8443")
        }),
    ]
}

fn kinds() -> Vec<Case> {
    let media = |row, what, change| problem(row, what, 415, "unsupported_media_type", change);
    let method = |row, what, change| problem(row, what, 405, "method_not_allowed", change);
    vec![
        media("BI-017", "plain text", |r| {
            r.set("Content-Type", "text/plain")
        }),
        media("BI-017", "a form", |r| {
            r.set("Content-Type", "application/x-www-form-urlencoded")
        }),
        media("BI-017", "a form with files", |r| {
            r.set("Content-Type", "multipart/form-data; boundary=x")
        }),
        media("BI-017", "a name that begins like JSON", |r| {
            r.set("Content-Type", "application/jsonx")
        }),
        media("BI-017", "no type", |r| r.without("Content-Type")),
        method("BI-018", "GET", |r| r.method("GET")),
        method("BI-018", "DELETE", |r| r.method("DELETE")),
        method("BI-018", "PUT", |r| r.method("PUT")),
        method("BI-018", "OPTIONS", |r| r.method("OPTIONS")),
        method("BI-018", "a method of their own", |r| r.method("CONFIRM")),
    ]
}

/// Good headers of the revision without sessions, then changed.
fn mirrored() -> Vec<Case> {
    let rpc = |row, what, code, change| Case {
        row,
        what,
        change,
        status: 400,
        codes: [Code::rpc(code), Code::rpc(code)],
    };
    let twice = |row, what, change| Case {
        row,
        what,
        change,
        status: 400,
        codes: [Code::rpc(-32_020), Code::problem("repeated_header")],
    };
    vec![
        rpc("BI-009", "another tool in the header", -32_020, |r| {
            r.set("Mcp-Name", "get_balance")
        }),
        rpc("BI-009", "the tool in capitals", -32_020, |r| {
            r.set("Mcp-Name", "LIST_PAYEES")
        }),
        rpc("BI-009", "another method in the header", -32_020, |r| {
            r.set("Mcp-Method", "tools/list")
        }),
        rpc("BI-010", "no name", -32_020, |r| r.without("Mcp-Name")),
        rpc("BI-010", "no method", -32_020, |r| r.without("Mcp-Method")),
        rpc("BI-010", "an empty name", -32_020, |r| {
            r.set("Mcp-Name", "")
        }),
        twice("BI-011", "the name twice", |r| {
            r.with("Mcp-Name", "list_payees")
        }),
        twice("BI-011", "two names", |r| {
            r.with("Mcp-Name", "request_transfer")
        }),
        twice("BI-011", "two methods", |r| {
            r.with("Mcp-Method", "tools/list")
        }),
        twice("BI-012", "two revisions", |r| {
            r.with("MCP-Protocol-Version", "1999-01-01")
        }),
        twice("BI-012", "two revisions, the good one last", |r| {
            r.set("MCP-Protocol-Version", "1999-01-01")
                .with("MCP-Protocol-Version", STATELESS)
        }),
        rpc(
            "BI-013",
            "a revision of the past in the header alone",
            -32_020,
            |r| r.set("MCP-Protocol-Version", "1999-01-01"),
        ),
        rpc("BI-015", "a name in broken base64", -32_020, |r| {
            r.set("Mcp-Name", "=?base64?!!!?=")
        }),
        rpc("BI-015", "base64 of another name", -32_020, |r| {
            r.set("Mcp-Name", "=?base64?Z2V0X2JhbGFuY2U=?=")
        }),
        rpc("BI-015", "base64 of what is no text", -32_020, |r| {
            r.set("Mcp-Name", "=?base64?/w==?=")
        }),
        rpc("BI-015", "base64 without its end", -32_020, |r| {
            r.set("Mcp-Name", "=?base64?bGlzdF9wYXllZXM=")
        }),
    ]
}

const ROWS: [&str; 16] = [
    "BI-001", "BI-002", "BI-003", "BI-004", "BI-005", "BI-006", "BI-009", "BI-010", "BI-011",
    "BI-012", "BI-013", "BI-014", "BI-015", "BI-017", "BI-018", "BI-007",
];

async fn refused(site: &Site, case: &Case, way: Way, request: Request) -> anyhow::Result<()> {
    let answer = (case.change)(request)
        .send(site.port(way.service()))
        .await?;
    let code = match way {
        Way::Door => case.codes[0].clone(),
        Way::Direct => case.codes[1].clone(),
    };
    answer.must_refuse(
        case.status,
        code,
        &format!("{} {} {way:?}", case.row, case.what),
    );
    Ok(())
}

#[tokio::test]
async fn a_head_that_is_wrong_is_refused_before_a_tool() -> anyhow::Result<()> {
    let site = Site::begin().await?;
    let before = site.counts().await?;
    for case in strangers().iter().chain(&kinds()) {
        for way in Way::BOTH {
            let request = site.post(way, call("list_payees", "{}"))?;
            refused(&site, case, way, request).await?;
        }
    }
    assert_eq!(site.counts().await?, before, "and no token was spent");
    for case in &mirrored() {
        for way in Way::BOTH {
            let request = stateless(&site, way)?;
            refused(&site, case, way, request).await?;
        }
    }
    // A token that the gate took is spent, whatever the server then says of the headers.
    let after = site.counts().await?;
    assert_eq!(
        after.without_used_requests(),
        before.without_used_requests()
    );
    for way in Way::BOTH {
        let answer = stateless(&site, way)?
            .send(site.port(way.service()))
            .await?;
        assert!(
            answer.content()["payees"].is_array(),
            "unchanged it passes: {answer:?}"
        );
    }
    revisions_that_nobody_serves(&site).await?;
    an_older_revision_meets_the_same_policy(&site).await?;
    headers_steer_nothing(&site).await?;
    other_listeners_know_their_names(&site).await?;
    table::must_be_the_rows_of("a_head_that_is_wrong_is_refused_before_a_tool", &ROWS);
    Ok(())
}

fn stateless(site: &Site, way: Way) -> anyhow::Result<Request> {
    Ok(site
        .post(way, stateless_call("list_payees"))?
        .with("MCP-Protocol-Version", STATELESS)
        .with("Mcp-Method", "tools/call")
        .with("Mcp-Name", "list_payees"))
}

/// BI-013: the same revision in header and body, and none that is served.
async fn revisions_that_nobody_serves(site: &Site) -> anyhow::Result<()> {
    for revision in ["1999-01-01", "2999-01-01", "latest"] {
        let body = stateless_call("list_payees").replace(STATELESS, revision);
        for way in Way::BOTH {
            let answer = site
                .post(way, body.as_str())?
                .with("MCP-Protocol-Version", revision)
                .with("Mcp-Method", "tools/call")
                .with("Mcp-Name", "list_payees")
                .send(site.port(way.service()))
                .await?;
            answer.must_refuse(
                400,
                Code::rpc(-32_022),
                &format!("BI-013 {revision} {way:?}"),
            );
        }
    }
    Ok(())
}

/// BI-014: who asks in an older revision, or names none, meets the same rules.
async fn an_older_revision_meets_the_same_policy(site: &Site) -> anyhow::Result<()> {
    for version in [None, Some("2025-11-25"), Some("2025-06-18")] {
        let mut request = site.post(Way::Door, call("confirm_action", "{}"))?;
        if let Some(version) = version {
            request = request.with("MCP-Protocol-Version", version);
        }
        let answer = request.send(site.port(Service::Door)).await?;
        answer.must_refuse(200, Code::rpc(-32_001), &format!("BI-014 {version:?}"));
    }
    for version in ["2025-03-26", "2024-11-05"] {
        for way in Way::BOTH {
            let request = site
                .post(way, call("list_payees", "{}"))?
                .with("MCP-Protocol-Version", version);
            let answer = request.send(site.port(way.service())).await?;
            answer.must_refuse(
                400,
                Code::rpc(-32_022),
                &format!("BI-014 {version} {way:?}"),
            );
        }
    }
    Ok(())
}

/// BI-007: a header that names a customer, a server or a path changes nothing about who is asked for whom.
async fn headers_steer_nothing(site: &Site) -> anyhow::Result<()> {
    let kabir = site.bank.customer("Kabir")?.id.to_string();
    let own = site.call(Way::Door, "list_accounts", "{}").await?.content();
    assert!(own["accounts"].is_array(), "{own}");
    for way in Way::BOTH {
        for (name, value) in [
            ("Countersign-Customer", kabir.as_str()),
            ("X-Countersign-Customer", &kabir),
            ("X-Customer-Id", &kabir),
            ("X-User", &kabir),
            ("X-Forwarded-For", "10.0.0.1"),
            ("X-Real-IP", "127.0.0.1"),
            ("X-Forwarded-Host", "evil.example.com"),
            ("Forwarded", "for=10.0.0.1;host=evil.example.com"),
            ("X-Original-URL", "/api/actions"),
            ("X-Rewrite-URL", "/health"),
            ("X-HTTP-Method-Override", "DELETE"),
            ("X-Upstream", "http://evil.example.com/mcp"),
            ("Mcp-Param-Payee", "a%0d%0aX-Customer: 2"),
            ("Last-Event-ID", "7"),
            ("Authorization", "Bearer of-somebody"),
            ("Cookie", site.ada.cookie()),
        ] {
            let request = site
                .post(way, call("list_accounts", "{}"))?
                .with(name, value);
            let answer = request.send(site.port(way.service())).await?;
            assert_eq!(answer.content(), own, "{name} {way:?}: {answer:?}");
            assert!(!answer.head.contains("mcp-session-id"), "{answer:?}");
        }
    }
    // The door keeps sessions, and this one is not the caller's; the bank's server keeps none.
    for way in Way::BOTH {
        let request = site
            .post(way, call("list_accounts", "{}"))?
            .with("Mcp-Session-Id", "a-session-of-somebody");
        let answer = request.send(site.port(way.service())).await?;
        match way {
            Way::Door => answer.must_refuse(404, Code::rpc(-32_600), "BI-007 a session"),
            Way::Direct => assert_eq!(answer.content(), own, "{answer:?}"),
        }
    }
    // The header by which the door speaks to the bank is the door's alone.
    let forged = site
        .post(Way::Door, call("list_accounts", "{}"))?
        .with("Countersign-Request", "forged");
    let answer = forged.send(site.port(Service::Door)).await?;
    assert_eq!(answer.content(), own, "{answer:?}");
    Ok(())
}

/// BI-001 to BI-005 for the listeners of people: the same exact lists.
async fn other_listeners_know_their_names(site: &Site) -> anyhow::Result<()> {
    for (service, path) in [
        (Service::Panel, "/api/cards"),
        (Service::Panel, "/login"),
        (Service::Panel, "/health"),
        (Service::Intake, "/messages"),
        (Service::Intake, "/health"),
        (Service::Agent, "/turn"),
        (Service::Agent, "/health"),
    ] {
        let send = async |change: fn(Request) -> Request| -> anyhow::Result<Answer> {
            let request = Request::new("POST", path, &site.host(service))
                .with("Content-Type", "application/json")
                .with("Cookie", site.ada.cookie())
                .with("Authorization", format!("Bearer {}", site.ada.bearer()))
                .body("{}");
            change(request).send(site.port(service)).await
        };
        for case in strangers() {
            let answer = send(case.change).await?;
            let what = format!("{} {} {path} of {}", case.row, case.what, service.name());
            answer.must_refuse(403, case.codes[0].clone(), &what);
        }
    }
    Ok(())
}
