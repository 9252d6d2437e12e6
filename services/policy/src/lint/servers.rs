//! `servers`.

use super::Lint;

/// Parts of names that say a value is a secret.
const SECRET: [&str; 6] = [
    "authorization",
    "key",
    "token",
    "secret",
    "password",
    "cookie",
];

pub(super) fn look(lint: &mut Lint<'_>) {
    let file = lint.file;
    for (name, server) in &file.servers {
        let path = format!("servers.{name}");
        for (kind, values) in [("headers", &server.headers), ("env", &server.env)] {
            for (name, value) in values {
                let lower = name.to_ascii_lowercase();
                let secret = SECRET.iter().any(|part| lower.contains(part));
                if secret && !value.is_empty() && !value.contains("${") {
                    lint.warn(
                        "secret_in_policy",
                        &format!("{path}.{kind}.{name}"),
                        "a secret in the policy is read by whoever reads it: write ${NAME}",
                    );
                }
            }
        }
        if server.url.as_deref().is_some_and(goes_out_in_the_clear) {
            lint.warn(
                "plain_http",
                &format!("{path}.url"),
                "calls and headers go to another machine in the clear: use https",
            );
        }
    }
    let webhook = file.approval.webhook.as_ref();
    if webhook.is_some_and(|webhook| goes_out_in_the_clear(&webhook.url)) {
        lint.warn(
            "plain_http",
            "approval.webhook.url",
            "held calls are told to another machine in the clear: use https",
        );
    }
}

/// Whether an address is one of another machine, and without TLS.
fn goes_out_in_the_clear(url: &str) -> bool {
    let host = url.strip_prefix("http://").map(host);
    let loopback = ["localhost", "127.0.0.1", "[::1]"];
    host.is_some_and(|host| !loopback.contains(&host) && !host.starts_with("${"))
}

/// The host of an address without its scheme.
fn host(address: &str) -> &str {
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(_) => host.split_inclusive(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}
