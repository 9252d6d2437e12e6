//! A log against a signed head.

use countersign_receipts::{Chain, Checkpoint};

use crate::command::LogArguments;
use crate::verdict::{Verdict, read, read_key};

/// Checks a log.
pub fn verify(arguments: &LogArguments) -> Verdict {
    check(arguments).unwrap_or_else(|refused| refused)
}

fn check(arguments: &LogArguments) -> Result<Verdict, Verdict> {
    let key = read_key(&arguments.key)?;
    let head = Checkpoint::verify(&read(&arguments.checkpoint)?, &key)?.checkpoint;
    let log = std::fs::read(&arguments.file)
        .map_err(|error| Verdict::Malformed(format!("{}: {error}", arguments.file.display())))?;
    let mut chain = Chain::new();
    let mut torn = 0;
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => {
                chain
                    .push(line)
                    .map_err(|error| Verdict::ChainBreak(error.to_string()))?;
            }
            None => torn = line.len(),
        }
    }
    let size = chain.tree().size();
    if size < head.size {
        return Err(Verdict::Truncated(format!(
            "{size} lines where the head was signed for {}",
            head.size
        )));
    }
    if chain.tree().root_at(head.size) != Ok(head.root) {
        return Err(Verdict::Fork(format!(
            "the first {} lines are not the ones the head was signed for",
            head.size
        )));
    }
    let mut what = format!(
        "{} of {size} lines under the signed head of {}",
        head.size, head.origin
    );
    if torn > 0 {
        what.push_str(&format!(", and {torn} bytes of an unfinished line"));
    }
    Ok(Verdict::Holds(what))
}
