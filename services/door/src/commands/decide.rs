//! `countersign-door decide`: what a policy decides about one message.

use std::process::ExitCode;

use countersign_policy::{Decision, Policy};

use super::judgement::{Judged, Question, judge, policy_line};
use super::policy_file::read_policy;

/// Says what a policy decides about one message. Nothing is forwarded, counted or recorded.
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

/// The decision in words.
pub fn text(policy: &Policy, judged: &Judged<'_>) -> String {
    let effect = judged.effect().name();
    let mut lines = match judged {
        Judged::Malformed { code, reason } => {
            format!("{effect}: the message is malformed ({code})\n  {reason}\n")
        }
        Judged::Plumbing { method } => {
            format!("{effect}: {method} passes under every policy; lists show what would pass\n")
        }
        Judged::Decided { decision, .. } => decided(effect, decision),
    };
    lines.push_str(&format!("policy: {}\n", policy_line(policy)));
    lines
}

fn decided(effect: &str, decision: &Decision<'_>) -> String {
    let reason = decision.reason;
    let mut lines = format!("{effect}: {} ({})\n", reason.sentence(), reason.code());
    if let Some(observed) = decision.observed {
        lines = format!(
            "{effect}, only observed, else {}: {} ({})\n",
            observed.name(),
            reason.sentence(),
            reason.code()
        );
    }
    lines.push_str(&format!("rule: {}\n", decision.rule));
    if let Some(argument) = decision.argument {
        lines.push_str(&format!("argument: {argument}\n"));
    }
    if let Some(acknowledged) = decision.acknowledged {
        lines.push_str(&format!("acknowledged: {}\n", acknowledged.text()));
    }
    if let Some(hold) = &decision.hold {
        lines.push_str(&format!("held for: {} seconds at most\n", hold.ttl_seconds));
        if let Some(countdown) = hold.countdown_seconds {
            lines.push_str(&format!(
                "released after: {countdown} seconds, unless a person says no\n"
            ));
        }
    }
    if !reason.advice().is_empty() {
        lines.push_str(&format!("next: {}\n", reason.advice()));
    }
    lines
}

/// The decision in JSON.
pub fn json(policy: &Policy, judged: &Judged<'_>) -> serde_json::Value {
    let mut answer = serde_json::json!({
        "decision": judged.effect().name(),
        "reason": judged.reason(),
        "policy": { "id": policy.id(), "sha256": hex::encode(policy.hash()) },
    });
    match judged {
        Judged::Malformed { code, .. } => answer["code"] = (*code).into(),
        Judged::Plumbing { method } => answer["method"] = method.as_str().into(),
        Judged::Decided {
            method,
            tool,
            decision,
            ..
        } => {
            answer["method"] = method.as_str().into();
            answer["rule"] = decision.rule.into();
            for (name, value) in [
                ("tool", tool.as_deref()),
                ("argument", decision.argument),
                (
                    "acknowledged",
                    decision.acknowledged.map(|words| words.text()),
                ),
                ("observed", decision.observed.map(|effect| effect.name())),
            ] {
                if let Some(value) = value {
                    answer[name] = value.into();
                }
            }
            if let Some(hold) = &decision.hold {
                answer["hold"] = serde_json::json!({
                    "ttl_seconds": hold.ttl_seconds,
                    "countdown_seconds": hold.countdown_seconds,
                    "reversible": hold.reversible,
                });
            }
        }
    }
    answer
}
