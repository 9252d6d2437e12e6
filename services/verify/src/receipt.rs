//! A receipt against a public key.

use countersign_receipts::{ProofTextError, Receipt, ReceiptError};

use crate::command::ReceiptArguments;
use crate::verdict::{Verdict, read, read_key};

/// Checks a receipt.
pub fn verify(arguments: &ReceiptArguments) -> Verdict {
    check(arguments).unwrap_or_else(|refused| refused)
}

fn check(arguments: &ReceiptArguments) -> Result<Verdict, Verdict> {
    let key = read_key(&arguments.key)?;
    let receipt = Receipt::read(&read(&arguments.file)?).map_err(|error| refused(&error))?;
    let (payload, head) = receipt.verify(&key).map_err(|error| refused(&error))?;
    let mut what = format!(
        "event {} of {} in {}\n",
        receipt.leaf_index, head.checkpoint.size, head.checkpoint.origin
    );
    // Control characters of a payload come out escaped, so it cannot write over the verdict.
    what.push_str(&serde_json::to_string_pretty(&payload).unwrap_or_default());
    Ok(Verdict::Holds(what))
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
