//! `countersign-door lint`: what a policy says that is not meant, or looser than it need be.

use std::path::PathBuf;
use std::process::ExitCode;

use countersign_policy::{Finding, PolicyError, Severity, lint, lint_definitions};

use super::definitions::Definitions;
use super::policy_file::read_text;
use crate::clock;

/// Something has to be changed.
const FOUND: u8 = 1;
/// It is no policy.
const NO_POLICY: u8 = 2;

/// Looks a policy over.
///
/// An error is what the policy does not do as it says: a payment or write tool that nobody acknowledged. A warning is
/// what is looser than it need be. Exit code 0: no errors; 1: errors, or warnings with --strict; 2: no policy.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The policy file.
    #[arg(long)]
    policy: PathBuf,
    /// Compare it with these definitions too: the JSON of a `tools/list` answer, as SERVER=FILE or as FILE where the
    /// policy names one server. `-` reads standard input.
    #[arg(long)]
    definitions: Vec<String>,
    /// Fail on warnings too.
    #[arg(long)]
    strict: bool,
    /// Answer in JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    let yaml = match read_text(&arguments.policy) {
        Ok(yaml) => yaml,
        Err(error) => {
            eprintln!("{error:#}");
            return Ok(ExitCode::from(NO_POLICY));
        }
    };
    let now = i64::try_from(clock::unix_seconds()).unwrap_or(i64::MAX);
    let mut findings = match lint(&yaml, now) {
        Ok(findings) => findings,
        Err(error) => {
            no_policy(arguments, &error);
            return Ok(ExitCode::from(NO_POLICY));
        }
    };
    if !arguments.definitions.is_empty() {
        let policy = countersign_policy::Policy::load(&yaml)?;
        let definitions = Definitions::read(&policy, &arguments.definitions)?;
        findings.extend(lint_definitions(&yaml, &definitions.values())?);
        findings.sort_by_key(|finding| (finding.line, finding.column));
    }
    let count = |severity| {
        let found = findings.iter();
        found.filter(|finding| finding.severity == severity).count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if arguments.json {
        let findings: Vec<_> = findings.iter().map(json).collect();
        let answer = serde_json::json!({
            "policy": arguments.policy,
            "errors": errors,
            "warnings": warnings,
            "findings": findings,
        });
        say!("{answer:#}");
    } else {
        print(arguments, &findings, errors, warnings);
    }
    let fails = errors > 0 || (arguments.strict && warnings > 0);
    Ok(ExitCode::from(if fails { FOUND } else { 0 }))
}

fn no_policy(arguments: &Args, error: &PolicyError) {
    let file = arguments.policy.display();
    if arguments.json {
        let answer = serde_json::json!({
            "policy": arguments.policy,
            "error": error.to_string(),
            "line": error.line(),
        });
        say!("{answer:#}");
    } else {
        say!("{file}: {error}");
        say!("It is no policy: a door does not start with it. Change that line and run it again.");
    }
}

fn json(finding: &Finding) -> serde_json::Value {
    serde_json::json!({
        "severity": finding.severity.name(),
        "code": finding.code,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
    })
}

fn print(arguments: &Args, findings: &[Finding], errors: usize, warnings: usize) {
    let file = arguments.policy.display();
    for finding in findings {
        say!("{file}:{finding}");
    }
    let next = match (errors, warnings) {
        (0, 0) => "Nothing to change.",
        (0, _) => "It can be used. Make it tighter where you can.",
        (_, _) => "Change what is marked error, then run it again.",
    };
    let (of_errors, of_warnings) = (plural(errors, "error"), plural(warnings, "warning"));
    say!("{errors} {of_errors}, {warnings} {of_warnings}. {next}");
}

fn plural(count: usize, word: &str) -> String {
    match count {
        1 => word.to_owned(),
        _ => format!("{word}s"),
    }
}
