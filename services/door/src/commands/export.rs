//! `countersign-door export`: decisions of the record as files that stand alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use countersign_journal::keys::{self, KeyRing};
use countersign_journal::{Files, line_files, replace_file, walk};
use countersign_receipts::permission::{Decider, Decision, ExecuteRequest, KeySet, mint};
use countersign_receipts::{
    Approval, ApprovalDecision, MemoryTree, Receipt, SignedApproval, SignedCheckpoint, TrustedKeys,
};
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::clock;

/// How long a receipt counts where no approval says it, in seconds.
const LIFE_SECONDS: u64 = 900;
/// The longest it may, in seconds.
const LIFE_SECONDS_MAX: u64 = 86_400;

/// Writes decisions of the record as files that stand alone.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The record's folder.
    #[arg(long)]
    record: PathBuf,
    /// The folder of the keys that sign the record.
    #[arg(long)]
    keys: PathBuf,
    /// The folder to write to.
    #[arg(long)]
    out: PathBuf,
    /// In the Permission Protocol's format jcs_v3, which its own verifier accepts; otherwise as
    /// receipts with their proof under the record's signed head.
    #[arg(long)]
    permission_protocol: bool,
    /// Beside each, what opens its commitment: for its owner alone.
    #[arg(long, requires = "permission_protocol")]
    openings: bool,
    /// Beside each, the proof as C2SP tlog-proof text.
    #[arg(long, conflicts_with = "permission_protocol")]
    tlog_proof: bool,
    /// Beside each that a person decided, the signed approval, which a gate reads.
    #[arg(long)]
    approvals: bool,
    /// Only the call of this name.
    #[arg(long)]
    call: Option<String>,
    /// How long a receipt counts where no approval says it, in seconds.
    #[arg(long, default_value_t = LIFE_SECONDS, value_parser = clap::value_parser!(u64).range(1..=LIFE_SECONDS_MAX))]
    life_seconds: u64,
    /// Accept keys that were made for demonstrations.
    #[arg(long)]
    demo: bool,
}

/// A decision of the record.
struct Decided {
    index: u64,
    line: String,
    payload: Value,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    let set = keys::read_public(&arguments.keys)?;
    let trusted = TrustedKeys::read(&serde_json::to_string(&set)?)?;
    let head = std::fs::read_to_string(Files::new(&arguments.record).head())
        .context("read the record's head")?;
    let head = trusted.verify(&head).context("check the record's head")?;
    let (decisions, tree) = read(arguments, &head)?;
    std::fs::create_dir_all(&arguments.out).context("make the folder")?;
    let written = if arguments.permission_protocol {
        artifacts(arguments, &decisions)?
    } else {
        receipts(arguments, &decisions, &head, tree)?
    };
    if arguments.approvals {
        approvals(arguments)?;
    }
    let public = serde_json::to_string_pretty(&set)?;
    replace_file(&arguments.out.join("keys.json"), &public).context("write the keys")?;
    println!(
        "{written} of {} decisions, and keys.json, in {}",
        decisions.len(),
        arguments.out.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// The decisions that a signed head covers, and the tree over all lines when they are all there.
fn read(
    arguments: &Args,
    head: &SignedCheckpoint,
) -> anyhow::Result<(Vec<Decided>, Option<MemoryTree>)> {
    let mut decisions = Vec::new();
    let mut tree = MemoryTree::new();
    let mut root = None;
    let size = head.checkpoint.size;
    let walked = walk(&line_files(&arguments.record)?, true, |step| {
        tree.append_leaf(step.leaf);
        if step.frontier.size() == size {
            root = Some(step.frontier.root());
        }
        let member = |name: &str| step.payload.get(name).and_then(Value::as_str);
        let is_decision = matches!(member("event"), Some("allowed" | "denied" | "released"));
        let is_asked = arguments.call.is_none() || member("call") == arguments.call.as_deref();
        if is_decision && is_asked && step.frontier.size() <= size {
            decisions.push(Decided {
                index: step.frontier.size() - 1,
                line: String::from_utf8_lossy(step.line).into_owned(),
                payload: step.payload.clone(),
            });
        }
    })?;
    if root != Some(head.checkpoint.root) {
        bail!("the record does not hold what its head was signed for; nothing is exported");
    }
    Ok((decisions, (walked.first == 0).then_some(tree)))
}

fn receipts(
    arguments: &Args,
    decisions: &[Decided],
    head: &SignedCheckpoint,
    tree: Option<MemoryTree>,
) -> anyhow::Result<usize> {
    let tree = tree.context("the record's earlier lines are not here, so there are no proofs")?;
    for decided in decisions {
        let receipt = Receipt::new(&decided.line, decided.index, head, |node| tree.node(node))?;
        let name = format!("decision-{:012}", decided.index);
        let text = serde_json::to_string_pretty(&receipt)?;
        replace_file(&arguments.out.join(format!("{name}.json")), &text)?;
        if arguments.tlog_proof {
            let proof = receipt.proof_text()?.to_string();
            replace_file(&arguments.out.join(format!("{name}.tlog-proof")), &proof)?;
            replace_file(
                &arguments.out.join(format!("{name}.payload")),
                &decided.line,
            )?;
        }
    }
    Ok(decisions.len())
}

fn artifacts(arguments: &Args, decisions: &[Decided]) -> anyhow::Result<usize> {
    let ring = KeyRing::open(&arguments.keys, arguments.demo)?;
    // A release names its call alone; what the call was stands in the line that held it.
    let calls = calls(&arguments.record)?;
    let mut written = 0;
    for decided in decisions {
        let Some(request) = request(decided, &calls, &ring.set, arguments.life_seconds)? else {
            continue;
        };
        let salt = ring
            .signer
            .salt(format!("export\n{}", request.id).as_bytes());
        let minted = mint(&request, salt, &ring.signer)?;
        let text = serde_json::to_string_pretty(&minted.envelope)?;
        let at = |ending: &str| arguments.out.join(format!("{}.{ending}", request.id));
        replace_file(&at("json"), &text)?;
        if arguments.openings {
            replace_file(&at("request.json"), &minted.request_json)?;
            replace_file(&at("salt"), &hex::encode(minted.salt))?;
        }
        written += 1;
    }
    Ok(written)
}

/// The signed approvals of the record, each under its call's name.
fn approvals(arguments: &Args) -> anyhow::Result<()> {
    let mut found = Vec::new();
    walk(&line_files(&arguments.record)?, true, |step| {
        let call = step.payload.get("call").and_then(Value::as_str);
        let is_asked = arguments.call.is_none() || call == arguments.call.as_deref();
        if let (Some(call), Some(approval)) = (call, step.payload.get("approval"))
            && is_asked
            // A name that is not one of ours must not choose where a file is written.
            && call.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            found.push((call.to_owned(), approval.to_string()));
        }
    })?;
    for (call, approval) in found {
        let path = arguments.out.join(format!("approval-{call}.json"));
        replace_file(&path, &approval)?;
    }
    Ok(())
}

/// What each call was, by its name.
fn calls(record: &Path) -> anyhow::Result<BTreeMap<String, Value>> {
    let mut calls = BTreeMap::new();
    walk(&line_files(record)?, true, |step| {
        let call = step.payload.get("call").and_then(Value::as_str);
        if let Some(call) = call
            && step.payload.get("server").is_some()
        {
            calls
                .entry(call.to_owned())
                .or_insert_with(|| step.payload.clone());
        }
    })?;
    Ok(calls)
}

/// The decision as a request of the format; nothing for what is no call to a tool.
fn request(
    decided: &Decided,
    calls: &BTreeMap<String, Value>,
    keys: &KeySet,
    life_seconds: u64,
) -> anyhow::Result<Option<ExecuteRequest>> {
    let payload = &decided.payload;
    let call = payload.get("call").and_then(Value::as_str);
    let whole = call.and_then(|call| calls.get(call)).unwrap_or(payload);
    let of = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let plain = |call: &&str| call.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (Some(call), Some(server), Some(tool)) =
        (call.filter(plain), of(whole, "server"), of(whole, "tool"))
    else {
        return Ok(None);
    };
    let at = of(payload, "at").context("a decision without its time")?;
    let signed = payload
        .get("approval")
        .and_then(|value| serde_json::from_value::<SignedApproval>(value.clone()).ok());
    let approval: Option<Approval> = signed
        .as_ref()
        .and_then(|signed| serde_json::from_str(&signed.payload).ok());
    let decision = match of(payload, "event").as_deref() {
        Some("allowed" | "released") => Decision::Approved,
        _ => Decision::Denied,
    };
    let person = approval
        .as_ref()
        .filter(|approval| {
            approval.is_released_by_a_person() || approval.decision == ApprovalDecision::Denied
        })
        .and_then(|approval| approval.decided_by.as_ref())
        .filter(|by| by.way.is_a_person());
    let decider = match person {
        Some(by) => Decider::Person {
            name: by.name.clone(),
        },
        None => Decider::Policy,
    };
    let expires_at = match &approval {
        Some(approval) if approval.expires_at > at => approval.expires_at.clone(),
        _ => later(&at, life_seconds)?,
    };
    let policy = whole.get("policy").cloned().unwrap_or_default();
    let member = |name: &str| policy.get(name).and_then(Value::as_str).unwrap_or_default();
    let rule = of(payload, "rule").unwrap_or_default();
    let reason = of(payload, "reason").unwrap_or_default();
    let commitment = whole
        .pointer("/arguments/commitment")
        .and_then(Value::as_str);
    Ok(Some(ExecuteRequest {
        id: format!("dec_{call}_{:012}", decided.index),
        agent: of(whole, "customer")
            .or_else(|| of(whole, "identity"))
            .unwrap_or_else(|| "local".into()),
        run: of(whole, "turn"),
        tool: server,
        operation: tool,
        parameters: json!({
            "arguments": whole.get("arguments"),
            "decision": payload.get("previous"),
            "received": whole.get("received"),
            "sequence": decided.index,
        }),
        origin: keys.issuer.clone(),
        call: call.to_owned(),
        input_hash: commitment.map(|hash| format!("sha256:{hash}")),
        summary: Some(format!("rule {rule}: {reason}")),
        decision,
        decider,
        reasons: vec![reason, rule],
        policy: format!("{}@{}", member("id"), member("sha256")),
        created_at: at,
        expires_at,
    }))
}

/// So many seconds after a time.
fn later(at: &str, seconds: u64) -> anyhow::Result<String> {
    let at = OffsetDateTime::parse(at, &Rfc3339).context("a decision's time")?;
    let seconds = Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
    Ok(clock::rfc3339(at.saturating_add(seconds)))
}
