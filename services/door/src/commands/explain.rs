//! `countersign-door explain`: every check of one decision, in order.

use std::process::ExitCode;

use countersign_policy::{Check, Outcome, Policy, Step};

use super::decide;
use super::judgement::{Judged, Question, judge};
use super::policy_file::read_policy;

/// Says which checks a policy makes about one message, in order, and what came of each. Nothing is forwarded, counted
/// or recorded.
///
/// Exit code 0: allowed; 2: denied; 3: held for a person; 1: it could not be decided.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    judged: Question,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    let (_, policy) = read_policy(&arguments.judged.policy)?;
    let judged = judge(&policy, &arguments.judged)?;
    if arguments.judged.json {
        say!("{:#}", json(&policy, &judged));
    } else {
        super::put(&text(&policy, &judged));
    }
    Ok(ExitCode::from(judged.exit_code()))
}

/// One line a check: first whether it is a message at all, then what the policy looks at.
fn rows<'j>(judged: &'j Judged<'_>) -> Vec<(&'static str, &'static str, Option<&'j Step<'j>>)> {
    match judged {
        Judged::Malformed { .. } => vec![("frame", "refused", None)],
        Judged::Plumbing { .. } => vec![("frame", "passed", None)],
        Judged::Decided { tool, steps, .. } => {
            let checks: &[Check] = match tool {
                Some(_) => &Check::OF_CALLS,
                None => &Check::OF_METHODS,
            };
            let mut rows = vec![("frame", "passed", None)];
            for check in checks {
                let step = steps.iter().find(|step| step.check == *check);
                let outcome = step.map_or("not reached", |step| match step.outcome {
                    Outcome::Passed => "passed",
                    Outcome::Refused => "refused",
                    Outcome::Held => "held",
                });
                rows.push((check.name(), outcome, step));
            }
            rows
        }
    }
}

fn text(policy: &Policy, judged: &Judged<'_>) -> String {
    let mut lines = String::new();
    for (check, outcome, step) in rows(judged) {
        lines.push_str(format!("{check:<12} {outcome:<12}").trim_end());
        if let Some(reason) = step.and_then(|step| step.reason) {
            lines.push_str(&format!(" {}", reason.code()));
        }
        if let Some(rule) = step.and_then(|step| step.rule) {
            lines.push_str(&format!(", by {rule}"));
        }
        if let Some(argument) = step.and_then(|step| step.argument) {
            lines.push_str(&format!(", about {argument}"));
        }
        lines.push('\n');
    }
    lines.push('\n');
    lines.push_str(&decide::text(policy, judged));
    lines
}

fn json(policy: &Policy, judged: &Judged<'_>) -> serde_json::Value {
    let checks: Vec<_> = rows(judged)
        .into_iter()
        .map(|(check, outcome, step)| {
            let mut row = serde_json::json!({ "check": check, "outcome": outcome });
            if let Some(step) = step
                && let Some(reason) = step.reason
            {
                row["reason"] = reason.code().into();
                row["rule"] = step.rule.into();
            }
            row
        })
        .collect();
    let mut answer = decide::json(policy, judged);
    answer["checks"] = checks.into();
    answer
}
