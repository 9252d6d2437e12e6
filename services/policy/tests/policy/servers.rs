//! Several servers behind one policy, how they are reached, and what is looked for.

use countersign_policy::{
    BuiltInRule, Call, Connection, InjectionMode, Live, Policy, PolicyError, RateLimiter,
};

use crate::stand::{HEAD, any_pin, refused_at};

fn load(rest: &str) -> Result<Policy, PolicyError> {
    Policy::load(&format!("{HEAD}{rest}"))
}

fn refused(rest: &str) -> (String, u64) {
    match load(rest) {
        Err(PolicyError::Meaning { path, line, .. }) => (path, line),
        other => panic!("{rest}\n{other:?}"),
    }
}

#[test]
fn a_tool_of_one_server_is_none_of_anothers() {
    let policy = load(
        "require_pins: false\nservers: {files: {}, memory: {}}\n\
         tools: {files__read: {}, memory__search: {}, memory__x__y: {}}\n\
         rules: [{id: no-search, tool: search, server: 'fi*', effect: deny}]\n",
    )
    .unwrap();
    let reason = |server: &str, name: &str| {
        let call = Call {
            server,
            name,
            arguments: None,
            live: Live::Offered(any_pin()),
            identity: "ada",
            now_milliseconds: 0,
        };
        let decision = policy.decide_call(&call, &RateLimiter::new());
        decision.reason.code()
    };
    assert_eq!(reason("files", "read"), "allowed");
    assert_eq!(reason("memory", "search"), "allowed");
    assert_eq!(reason("memory", "x__y"), "allowed");
    assert_eq!(reason("memory", "read"), "not_listed");
    assert_eq!(reason("files", "search"), "denied_by_rule");
    assert_eq!(reason("files", "files__read"), "not_listed");
    assert_eq!(reason("other", "read"), "unknown_server");
    assert_eq!(policy.tools_of("memory").count(), 2);
}

#[test]
fn a_name_that_could_be_two_things_fails_at_start() {
    for (rest, path, line) in [
        (
            "servers: {a: {}, b: {}}\ntools: {read: {}}\n",
            "tools.read",
            5,
        ),
        (
            "servers: {a: {}, b: {}}\ntools: {c__read: {}}\n",
            "tools.c__read",
            5,
        ),
        (
            "servers: {a: {}, b: {}}\ntools: {a__: {}}\n",
            "tools.a__",
            5,
        ),
        ("servers:\n  a: {}\n  a__b: {}\n", "servers.a__b", 6),
        ("servers:\n  a: {}\n  b_: {}\n", "servers.b_", 6),
        ("servers:\n  bank: {}\n  Bank: {}\n", "servers.Bank", 6),
    ] {
        assert_eq!(refused(rest), (path.to_owned(), line), "{rest}");
    }
    // Both lines are named.
    let error = load("servers:\n  bank: {}\n  Bank: {}\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 6, column 3: servers.Bank: differs from `servers.bank` in line 5 only in case"
    );
}

#[test]
fn a_server_says_how_it_is_reached() {
    let yaml = format!(
        "{HEAD}servers:\n  files:\n    label: Files\n    command: [npx, -y, '${{PACKAGE}}']\n    \
         env: {{TOKEN: '${{TOKEN}}'}}\n  web:\n    url: https://a.example/mcp\n    headers:\n      \
         Authorization: Bearer ${{TOKEN}}\n"
    );
    let environment = |name: &str| match name {
        "PACKAGE" => Some("server-files".to_owned()),
        "TOKEN" => Some("hunter2".to_owned()),
        _ => None,
    };
    let policy = Policy::load_with(&yaml, &environment).unwrap();
    let files = policy.server("files").unwrap();
    let Some(Connection::Command { command }) = files.connection() else {
        panic!("a command");
    };
    let words: Vec<_> = command.iter().map(|word| word.expose()).collect();
    assert_eq!(words, ["npx", "-y", "server-files"]);
    assert_eq!(files.env()[0].1.expose(), "hunter2");
    let web = policy.server("web").unwrap();
    assert!(
        matches!(web.connection(), Some(Connection::Url { url }) if url.expose() == "https://a.example/mcp")
    );
    assert_eq!(web.headers()[0].1.expose(), "Bearer hunter2");
    assert!(!format!("{policy:?}").contains("hunter2"));

    let error = Policy::load_with(&yaml, &|name| environment(name).filter(|_| name != "TOKEN"));
    assert_eq!(
        error.unwrap_err().to_string(),
        "line 8, column 11: servers.files.env.TOKEN: the environment has no variable TOKEN: set it"
    );
    // Judging needs no environment, and reaches nothing.
    let judged = Policy::load(&yaml).unwrap();
    assert!(judged.server("web").unwrap().connection().is_none());
}

#[test]
fn a_server_that_cannot_be_reached_as_written_fails_at_start() {
    for (server, key) in [
        ("{command: [a], url: 'http://a/'}", ""),
        ("{command: []}", ".command"),
        ("{url: 'ftp://a/'}", ".url"),
        ("{url: 'file:///etc/passwd'}", ".url"),
        ("{url: 'javascript:alert(1)'}", ".url"),
        ("{url: 'http://'}", ".url"),
        ("{url: 'http://a/', env: {A: b}}", ".env"),
        ("{command: [a], headers: {A: b}}", ".headers"),
        ("{url: 'http://a/', headers: {Host: b}}", ".headers.Host"),
        (
            "{url: 'http://a/', headers: {countersign-request: b}}",
            ".headers.countersign-request",
        ),
        ("{url: 'http://a/', headers: {'a b': c}}", ".headers.a b"),
        ("{command: ['${']}", ".command.0"),
        ("{command: [a], env: {'A=B': c}}", ".env.A=B"),
    ] {
        let (path, line) = refused(&format!("servers: {{s: {server}}}\n"));
        assert_eq!((path, line), (format!("servers.s{key}"), 4), "{server}");
    }
}

#[test]
fn observing_is_nothing_for_a_server_that_needs_tokens() {
    let rest = "mode: observe\nservers: {bank: {request_tokens: true}}\n";
    assert_eq!(refused(rest), ("mode".to_owned(), 4));
    assert!(load(&rest.replace("true", "false")).is_ok());
}

#[test]
fn what_is_looked_for_is_a_plain_list() {
    let policy = load(
        "servers: {s: {}}\nredaction:\n  arguments: true\n  also: [email]\n  custom:\n    \
         - {id: customer, pattern: 'cus_[0-9a-f]{32}'}\n  suppress:\n    \
         - {server: s, rule: iban, reason: shown to its owner, expires: '2027-01-01'}\n\
         injection: {results: block}\n",
    )
    .unwrap();
    let screening = policy.screening();
    let redaction = screening.redaction.as_ref().unwrap();
    assert!(redaction.results && redaction.arguments);
    assert_eq!(redaction.built_in.len(), 13);
    assert!(redaction.built_in.contains(&BuiltInRule::Email));
    assert!(!redaction.built_in.contains(&BuiltInRule::IpAddress));
    assert_eq!(&*redaction.custom[0].id, "customer");
    assert!(!redaction.applies("iban", "s", 1_798_761_599));
    assert!(redaction.applies("iban", "s", 1_798_761_600));
    assert!(redaction.applies("iban", "other", 0));
    assert_eq!(screening.injection.results, InjectionMode::Block);
    assert_eq!(screening.injection.definitions, InjectionMode::Flag);
    let silent = load("servers: {s: {}}\n").unwrap();
    assert_eq!(silent.screening().redaction, None);
    assert_eq!(silent.screening().injection.results, InjectionMode::Off);
}

#[test]
fn what_cannot_be_looked_for_fails_at_start() {
    for (redaction, path) in [
        (
            "{custom: [{id: a, pattern: '('}]}",
            "redaction.custom.a.pattern",
        ),
        (
            "{custom: [{id: a, pattern: 'a*'}]}",
            "redaction.custom.a.pattern",
        ),
        (
            "{custom: [{id: a, pattern: 'a{1000}{1000}'}]}",
            "redaction.custom.a.pattern",
        ),
        (
            "{custom: [{id: My-Rule, pattern: a}]}",
            "redaction.custom.My-Rule",
        ),
        (
            "{custom: [{id: iban, pattern: a}]}",
            "redaction.custom.0.id",
        ),
        (
            "{custom: [{id: a, pattern: a}, {id: a, pattern: b}]}",
            "redaction.custom.1.id",
        ),
        ("{rules: []}", "redaction"),
        (
            "{suppress: [{server: x, rule: iban, reason: r, expires: '2027-01-01'}]}",
            "redaction.suppress.0.server",
        ),
        (
            "{suppress: [{server: s, rule: ibn, reason: r, expires: '2027-01-01'}]}",
            "redaction.suppress.0.rule",
        ),
        (
            "{suppress: [{server: s, rule: iban, reason: ' ', expires: '2027-01-01'}]}",
            "redaction.suppress.0.reason",
        ),
        (
            "{suppress: [{server: s, rule: iban, reason: r, expires: '2027-02-30'}]}",
            "redaction.suppress.0.expires",
        ),
    ] {
        let (found, _) = refused_at(&format!("redaction: {redaction}\n"));
        assert_eq!(found, path, "{redaction}");
    }
    let error = crate::stand::refused("redaction: {rules: [ibam]}\n").to_string();
    assert!(error.contains("did you mean `iban`?"), "{error}");
}
