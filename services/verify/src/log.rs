//! A log against a signed head.

use std::collections::BTreeMap;
use std::path::Path;

use countersign_journal::{AuditError, Files, Step, line_files, read_head_line, walk};
use countersign_receipts::{Hash, TrustedKeys, WitnessVerifier};

use crate::command::LogArguments;
use crate::policy::Policies;
use crate::verdict::{Verdict, read, read_keys};

/// Events that decide something. How a call ended, and what a record writes about itself, needs no
/// head of its own.
const DECISIONS: [&str; 4] = ["allowed", "denied", "held", "released"];

/// Checks a log.
pub fn verify(arguments: &LogArguments) -> Verdict {
    check(arguments).unwrap_or_else(|refused| refused)
}

impl From<AuditError> for Verdict {
    fn from(error: AuditError) -> Self {
        let what = error.to_string();
        match error {
            AuditError::File { .. } => Self::Malformed(what),
            AuditError::Broken { .. } | AuditError::Part { .. } => Self::ChainBreak(what),
        }
    }
}

/// What is learned while the lines go by.
struct Seen {
    /// The root when the log was as long as the head says.
    root: Option<Hash>,
    /// The first decision that no given policy made.
    foreign_policy: Option<u64>,
    /// Signed heads of single lines that were not met yet.
    heads: BTreeMap<u64, Hash>,
    /// The first decision without a head of its own.
    unsigned: Option<u64>,
    /// The first line that another head was signed for.
    forked: Option<u64>,
    key_changes: u64,
}

impl Seen {
    fn line(&mut self, step: &Step<'_>, size: u64, policies: &Policies, each_signed: bool) {
        let number = step.frontier.size();
        if number == size {
            self.root = Some(step.frontier.root());
        }
        let event = step.payload.get("event").and_then(|event| event.as_str());
        let decides = event.is_some_and(|event| DECISIONS.contains(&event));
        self.key_changes += u64::from(event == Some("key_changed"));
        if self.foreign_policy.is_none() && !policies.made(step.payload) {
            self.foreign_policy = Some(number);
        }
        match self.heads.remove(&number) {
            Some(root) if root != step.frontier.root() => {
                self.forked.get_or_insert(number);
            }
            None if each_signed && decides => {
                self.unsigned.get_or_insert(number);
            }
            _ => {}
        }
    }
}

fn check(arguments: &LogArguments) -> Result<Verdict, Verdict> {
    let keys = read_keys(&arguments.key)?;
    let note = read(&arguments.checkpoint)?;
    let head = keys.verify(&note)?.checkpoint;
    let witnessed = witnessed(arguments, &note)?;
    let policies = Policies::read(&arguments.policy)?;
    let heads = if arguments.each_signed {
        read_heads(&arguments.file, &head.origin, &keys)?
    } else {
        BTreeMap::new()
    };
    let mut seen = Seen {
        root: (head.size == 0).then(countersign_receipts::empty_root),
        foreign_policy: None,
        heads,
        unsigned: None,
        forked: None,
        key_changes: 0,
    };
    let paths = line_files(&arguments.file)?;
    let walked = walk(&paths, arguments.part, |step| {
        seen.line(step, head.size, &policies, arguments.each_signed);
    })?;
    let size = walked.frontier.size();
    if size < head.size {
        return Err(Verdict::Truncated(format!(
            "{size} lines where the head was signed for {}",
            head.size
        )));
    }
    if let Some(last) = seen.heads.keys().next_back() {
        return Err(Verdict::Truncated(format!(
            "{size} lines where a line's own head was signed for {last}"
        )));
    }
    if seen.root != Some(head.root) {
        return Err(Verdict::Fork(format!(
            "the first {} lines are not the ones the head was signed for",
            head.size
        )));
    }
    if let Some(line) = seen.forked {
        return Err(Verdict::Fork(format!(
            "line {line} is not the one its own head was signed for"
        )));
    }
    if let Some(line) = seen.unsigned {
        return Err(Verdict::Signature(format!(
            "line {line} has no head of its own"
        )));
    }
    if let Some(line) = seen.foreign_policy {
        return Err(Verdict::Policy(format!(
            "line {line} was decided by a policy that is not one of those given"
        )));
    }
    let mut what = format!(
        "{} of {size} lines under the signed head of {}",
        head.size, head.origin
    );
    if walked.first > 0 {
        what.push_str(&format!("; the first {} are not here", walked.first));
    }
    if let Some(seconds) = witnessed {
        what.push_str(&format!("; witnessed at {seconds} seconds since 1970"));
    }
    if seen.key_changes > 0 {
        what.push_str(&format!("; {} changes of the key", seen.key_changes));
    }
    if walked.torn_bytes > 0 {
        what.push_str(&format!(
            ", and {} bytes of an unfinished line",
            walked.torn_bytes
        ));
    }
    Ok(Verdict::Holds(what))
}

fn witnessed(arguments: &LogArguments, note: &str) -> Result<Option<u64>, Verdict> {
    let Some(path) = &arguments.witness else {
        return Ok(None);
    };
    let witness = WitnessVerifier::read(&read(path)?)
        .map_err(|error| Verdict::Malformed(error.to_string()))?;
    let seconds = witness
        .signed_at(note)
        .ok_or_else(|| Verdict::Key("the witness did not sign this head".into()))?;
    Ok(Some(seconds))
}

/// The signed heads of single lines in a record's directory.
fn read_heads(
    directory: &Path,
    origin: &str,
    keys: &TrustedKeys,
) -> Result<BTreeMap<u64, Hash>, Verdict> {
    let paths = Files::new(directory)
        .all_heads()
        .map_err(|error| Verdict::Malformed(format!("{}: {error}", directory.display())))?;
    let mut heads = BTreeMap::new();
    for path in paths {
        let text = read(&path)?;
        // An unfinished last line is nobody's head.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for line in whole.lines() {
            let head = read_head_line(origin, line)
                .ok_or_else(|| Verdict::Malformed(format!("{}: no head", path.display())))?;
            let head = keys.verify(&head.note)?.checkpoint;
            let before = heads.insert(head.size, head.root);
            if before.is_some_and(|root| root != head.root) {
                return Err(Verdict::Fork(format!(
                    "two heads of {} lines were signed",
                    head.size
                )));
            }
        }
    }
    Ok(heads)
}
