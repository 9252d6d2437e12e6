//! A receipt against public keys.

use countersign_receipts::{CheckpointError, ProofText, ProofTextError, Receipt, ReceiptError};

use crate::command::ReceiptArguments;
use crate::policy::Policies;
use crate::verdict::{Verdict, read, read_keys};

/// Checks a receipt.
pub fn verify(arguments: &ReceiptArguments) -> Verdict {
    check(arguments).unwrap_or_else(|refused| refused)
}

fn check(arguments: &ReceiptArguments) -> Result<Verdict, Verdict> {
    let keys = read_keys(&arguments.key)?;
    let text = read(&arguments.file)?;
    let receipt = match &arguments.proof {
        None => Receipt::read(&text).map_err(|error| refused(&error))?,
        Some(proof) => {
            let proof = ProofText::read(&read(proof)?).map_err(|error| refused(&error.into()))?;
            // Canonical JSON holds no line end: one behind it is the file's.
            Receipt::of_proof(text.strip_suffix('\n').unwrap_or(&text), proof)
        }
    };
    let policies = Policies::read(&arguments.policy)?;
    let mut last = Verdict::Key(CheckpointError::UnknownKey.to_string());
    for (_, key) in keys.usable() {
        let (payload, head) = match receipt.verify(key) {
            Ok(verified) => verified,
            Err(error) => {
                let verdict = refused(&error);
                let other_key = matches!(
                    error,
                    ReceiptError::Proof(ProofTextError::Checkpoint(CheckpointError::UnknownKey))
                );
                if !other_key {
                    return Err(verdict);
                }
                last = verdict;
                continue;
            }
        };
        if !policies.made(&payload) {
            return Err(Verdict::Policy(
                "the decision comes from a policy that is not one of those given".into(),
            ));
        }
        let mut what = format!(
            "event {} of {} in {}\n",
            receipt.leaf_index, head.checkpoint.size, head.checkpoint.origin
        );
        // Control characters of a payload come out escaped, so it cannot write over the verdict.
        what.push_str(&serde_json::to_string_pretty(&payload).unwrap_or_default());
        return Ok(Verdict::Holds(what));
    }
    Err(last)
}

fn refused(error: &ReceiptError) -> Verdict {
    let what = error.to_string();
    match error {
        ReceiptError::Malformed | ReceiptError::Missing(_) => Verdict::Malformed(what),
        ReceiptError::Payload(error) => match error {
            countersign_receipts::PayloadError::NotCanonical => Verdict::Hash(error.to_string()),
            _ => Verdict::Malformed(error.to_string()),
        },
        ReceiptError::Proof(ProofTextError::Malformed) => Verdict::Malformed(what),
        ReceiptError::Proof(ProofTextError::Checkpoint(error)) => (*error).into(),
        ReceiptError::Proof(ProofTextError::Proof(error)) => Verdict::Hash(error.to_string()),
    }
}
