//! A fuzzer that none of us wrote, driven by the API descriptions (docs/openapi), against every HTTP surface of a running bank.
//!
//! It looks for answers that are never right, whatever is sent: 5xx, a crash, a connection cut, an answer that its own description does not know.

use std::process::Command;

use anyhow::Context;
use countersign_testkit::{Bank, Service, checkout};

use crate::counts::Counts;
use crate::tools;

/// Its packages, pinned.
const REQUIREMENTS: &str = "services/xtask/requirements-schemathesis.txt";
/// Seconds for each surface; six of them are one minute.
const SECONDS: &str = "10";
/// The same requests every time.
const SEED: &str = "20261130";
/// What is checked of an answer. The rest of its checks are about descriptions that name every status, which these do not.
const CHECKS: &str = "not_a_server_error,unsupported_method,content_type_conformance";
/// A stream without an end, what would end the session that the run uses, and what is only there with a provider configured.
const LEFT_OUT: [&str; 7] = [
    "/api/events",
    "/logout",
    "/demo/switch",
    "/sign-in",
    "/sign-in/back",
    "/sign-in/ended",
    "/.well-known/oauth-protected-resource",
];

/// One surface with what its caller shows.
struct Visit {
    name: &'static str,
    service: Service,
    headers: Vec<String>,
}

/// Starts a bank and lets the fuzzer visit each surface.
///
/// # Errors
/// When a tool is missing or the bank does not start.
pub async fn test() -> anyhow::Result<Counts> {
    let requirements = checkout::root().join(REQUIREMENTS);
    let program = tools::python_packages("schemas-venv", &requirements)?.join("schemathesis");
    let bank = Bank::start().await?;
    let ada = bank.sign_in("Ada").await?;
    let origin = |service| format!("Origin: {}", bank.origin(service));
    let visits = [
        Visit {
            name: "panel",
            service: Service::Panel,
            headers: vec![format!("Cookie: {}", ada.cookie()), origin(Service::Panel)],
        },
        Visit {
            name: "intake",
            service: Service::Intake,
            headers: vec![
                format!("Authorization: Bearer {}", ada.bearer()),
                origin(Service::Intake),
            ],
        },
        Visit {
            name: "dashboard",
            service: Service::Dashboard,
            headers: vec![origin(Service::Dashboard)],
        },
        Visit {
            name: "agent",
            service: Service::Agent,
            headers: Vec::new(),
        },
        Visit {
            name: "door",
            service: Service::Door,
            headers: vec![format!(
                "Authorization: Bearer {}",
                bank.session_token("ada").await?
            )],
        },
        Visit {
            name: "bank-mcp",
            service: Service::BankMcp,
            headers: Vec::new(),
        },
    ];
    let mut counts = Counts::default();
    for visit in visits {
        let port = bank.stack().port(visit.service);
        let mut command = Command::new(&program);
        command
            .arg("run")
            .arg(checkout::root().join(format!("docs/openapi/{}.json", visit.name)))
            .args(["--url", &format!("http://127.0.0.1:{port}")])
            // Not every system looks `dashboard.localhost` up.
            .args(["-H", &format!("Host: {}:{port}", visit.service.host())])
            .args(["--checks", CHECKS, "--seed", SEED, "--max-time", SECONDS])
            .args([
                "--warnings",
                "off",
                "--request-timeout",
                "20",
                "--continue-on-failure",
            ])
            .env("NO_COLOR", "1");
        for path in LEFT_OUT {
            command.args(["--exclude-path", path]);
        }
        for header in &visit.headers {
            command.args(["-H", header]);
        }
        let output = command.output().context("start schemathesis")?;
        let alive = bank.stack().starts(visit.service) == 1;
        if output.status.success() && alive {
            println!("ok: {}", visit.name);
            counts.passed += 1;
        } else {
            println!(
                "FAILED: {}{}",
                visit.name,
                if alive { "" } else { " (its process ended)" }
            );
            println!("{}", String::from_utf8_lossy(&output.stdout));
            counts.failed += 1;
        }
    }
    Ok(counts)
}
