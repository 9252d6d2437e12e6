//! Receipts and attestations in the Permission Protocol's format.

use countersign_receipts::permission::{
    KeySet, Opening, Refusal, Stated, VerifiedArtifact, verify_artifact, verify_attestation,
};

use crate::command::{ArtifactArguments, AttestationArguments};
use crate::policy::Policies;
use crate::verdict::{Verdict, read};

impl From<Refusal> for Verdict {
    fn from(refusal: Refusal) -> Self {
        let code = refusal.code.exit_code();
        let what = refusal.to_string();
        match code {
            1 => Self::Signature(what),
            2 => Self::Key(what),
            4 => Self::Hash(what),
            5 => Self::Unsigned(what),
            6 => Self::Withheld(what),
            7 => Self::Contradiction(what),
            8 => Self::Unsupported(what),
            9 => Self::Policy(what),
            10 => Self::Opening(what),
            64 => Self::Usage(what),
            _ => Self::Malformed(what),
        }
    }
}

/// Checks a receipt.
pub fn verify(arguments: &ArtifactArguments) -> Verdict {
    check(arguments).unwrap_or_else(|refused| refused)
}

fn check(arguments: &ArtifactArguments) -> Result<Verdict, Verdict> {
    let keys = KeySet::read(&read(&arguments.keys)?)?;
    let envelope = read(&arguments.file)?;
    let policies = Policies::read(&arguments.policy)?;
    let request = arguments.request.as_deref().map(read).transpose()?;
    let salt = arguments.salt.as_deref().map(hex::decode).transpose();
    let salt = salt
        .ok()
        .filter(|salt| salt.as_ref().is_none_or(|salt| salt.len() == 32))
        .ok_or_else(|| Verdict::Usage("the salt is not 64 hexadecimal digits".into()))?;
    let summary = arguments.summary.as_deref().map(read).transpose()?;
    let binding = arguments.binding.as_deref().map(read).transpose()?;
    let binding = binding
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|_| Verdict::Malformed("the claimed binding is not JSON".into()))?;
    let opening = match (&request, &salt) {
        (Some(request_json), Some(salt)) => Some(Opening {
            request_json,
            salt,
            summary: summary.as_deref().map_or(Stated::Nothing, |text| {
                Stated::This(Some(less_one_end(text)))
            }),
            binding: binding.map_or(Stated::Nothing, Stated::This),
        }),
        _ => None,
    };
    let verified = verify_artifact(&envelope, &keys, opening.as_ref())?;
    if !policies.named(verified.text("policyVersion")) {
        return Err(Verdict::Policy(
            "the policy version names a policy that is not one of those given".into(),
        ));
    }
    Ok(Verdict::Holds(describe(&verified)))
}

/// A text less one line end, so that what an editor wrote states what was meant.
fn less_one_end(text: &str) -> &str {
    text.strip_suffix("\r\n")
        .or_else(|| text.strip_suffix('\n'))
        .unwrap_or(text)
}

fn describe(verified: &VerifiedArtifact) -> String {
    // Signed texts are an issuer's, not ours: shown with everything but plain letters escaped.
    let text = |name| {
        verified
            .text(name)
            .unwrap_or("none")
            .escape_debug()
            .to_string()
    };
    let mut what = format!(
        "receipt {}\ndecision: {}\ndecider: {} ({})\npolicy: {}\nscope: {}",
        text("id"),
        text("status"),
        text("deciderDisplay"),
        text("deciderId"),
        text("policyVersion"),
        text("scope"),
    );
    if let Some(expires) = verified.text("expiresAt") {
        what.push_str(&format!("\ngood until: {}", expires.escape_debug()));
    }
    match &verified.opened {
        Some(opened) => what.push_str(&format!(
            "\ncommitment: opened; summary {:?}, binding {}",
            opened.summary.as_deref().unwrap_or("none"),
            serde_json::Value::from(opened.binding.clone()),
        )),
        None if verified.projection.is_some() => what.push_str("\ncommitment: not opened"),
        None => {}
    }
    what
}

/// Checks an attestation.
pub fn verify_outcome(arguments: &AttestationArguments) -> Verdict {
    check_outcome(arguments).unwrap_or_else(|refused| refused)
}

fn check_outcome(arguments: &AttestationArguments) -> Result<Verdict, Verdict> {
    let keys = KeySet::read(&read(&arguments.keys)?)?;
    let (attestation, receipt) = (read(&arguments.file)?, read(&arguments.receipt)?);
    let verified = verify_attestation(&attestation, &receipt, &keys)?;
    let outcome = verified
        .payload
        .get("outcome")
        .and_then(|text| text.as_str());
    Ok(Verdict::Holds(format!(
        "outcome {} of {}",
        outcome.unwrap_or_default().escape_debug(),
        verified
            .receipt
            .text("id")
            .unwrap_or_default()
            .escape_debug()
    )))
}
