//! A decision about a call that was held: who decided what, about exactly which call, signed.
//!
//! The record is one canonical JSON object. It names the call by a digest alone; whoever holds the
//! key can hand out the [`CallOpening`] of one call, and nobody else can try values against it.

mod call;

use serde::{Deserialize, Serialize};

use crate::payload::{canonical, check_canonical};
use crate::{Hash, LogSigner, LogVerifier, PayloadError, is_demo_key};

pub use call::{CallOpening, HeldCall};

/// The one value of `format`.
const FORMAT: &str = "countersign.approval/v1";
/// Domain separation of the signature. Signed notes hold no NUL, so neither can pass for the other.
const SIGNATURE_CONTEXT: &[u8] = b"countersign/approval/v1\0";
/// Longest name of an approver, in bytes.
pub const APPROVER_NAME_BYTES_MAX: usize = 120;
/// Longest note of an approver, in bytes.
pub const APPROVAL_NOTE_BYTES_MAX: usize = 500;
/// Length of `2026-11-30T07:32:27.000Z`. All times have this form, so that they compare as text.
const TIME_BYTES: usize = 24;

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// The call goes on, once.
    Released,
    /// It does not.
    Denied,
}

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalReason {
    /// Somebody approved it.
    Approved,
    /// Its countdown ended, and nobody had stopped it.
    Countdown,
    /// Somebody denied it.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// Whoever asked went away or took it back.
    Withdrawn,
    /// The door stopped.
    ShutDown,
    /// The policy or the tool's definition changed while it was held.
    Changed,
}

/// The way a decision came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalWay {
    /// The door's own page.
    Page,
    /// A signed call of another system, which names the person.
    Webhook,
    /// A question carried by the client. Never a person: the client could answer by itself.
    Client,
    /// The rule's countdown. Never a person.
    Countdown,
}

impl ApprovalWay {
    /// Whether a person decided, as far as this way can show it.
    #[must_use]
    pub const fn is_a_person(self) -> bool {
        matches!(self, Self::Page | Self::Webhook)
    }
}

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approver {
    /// The way it came.
    pub way: ApprovalWay,
    /// The person's name, or the rule's id for a countdown.
    pub name: String,
}

/// The decision about one held call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    format: String,
    /// The hold's own name: 32 hexadecimal digits.
    pub approval: String,
    /// The call's own name, as in the record of decisions.
    pub call: String,
    /// Leaf of the line that says the call was held.
    pub held: Hash,
    /// Digest of the exact call; see [`CallOpening::digest`].
    pub digest: Hash,
    /// What was decided.
    pub decision: ApprovalDecision,
    /// Why.
    pub reason: ApprovalReason,
    /// Who decided; absent when the door itself ended the hold, which it can only by denying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Approver>,
    /// What the approver wrote beside the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The server the call goes to.
    pub server: String,
    /// The method.
    pub method: String,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The rule that held it.
    pub rule: String,
    /// The policy's name.
    pub policy: String,
    /// SHA-256 of the policy file.
    pub policy_sha256: String,
    /// The commit the call is about, where the agent named one and the decision repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When it was held.
    pub held_at: String,
    /// When it was decided.
    pub decided_at: String,
    /// When the decision stops to count.
    pub expires_at: String,
    /// The name of the key that signs.
    pub key_id: String,
    /// Whether the key is one for demonstrations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub demo: bool,
}

impl Approval {
    /// The decision about a held call.
    #[must_use]
    pub fn about(
        held: &HeldCall,
        decision: ApprovalDecision,
        reason: ApprovalReason,
        decided_at: String,
        signer: &LogSigner,
    ) -> Self {
        Self {
            format: FORMAT.to_owned(),
            approval: hex::encode(held.approval),
            call: hex::encode(held.call),
            held: held.held,
            digest: held.opening.digest(),
            decision,
            reason,
            decided_by: None,
            note: None,
            server: held.opening.server.clone(),
            method: held.opening.method.clone(),
            tool: held.opening.tool.clone(),
            rule: held.rule.clone(),
            policy: held.policy.clone(),
            policy_sha256: held.opening.policy_sha256.clone(),
            commit: held.commit.clone(),
            held_at: held.held_at.clone(),
            decided_at,
            expires_at: held.expires_at.clone(),
            key_id: signer.key_id().to_owned(),
            demo: signer.is_demo(),
        }
    }

    /// Whether a person released the call.
    #[must_use]
    pub fn is_released_by_a_person(&self) -> bool {
        self.decision == ApprovalDecision::Released
            && self
                .decided_by
                .as_ref()
                .is_some_and(|approver| approver.way.is_a_person())
    }

    /// What no record may say, whoever signs it.
    fn check(&self) -> Result<(), ApprovalError> {
        use ApprovalDecision::{Denied, Released};
        if self.format != FORMAT {
            return Err(ApprovalError::Malformed);
        }
        if self.demo != is_demo_key(&self.key_id) {
            return Err(ApprovalError::Key);
        }
        let way = self.decided_by.as_ref().map(|approver| approver.way);
        if let Some(approver) = &self.decided_by
            && !is_plain(&approver.name, APPROVER_NAME_BYTES_MAX)
        {
            return Err(ApprovalError::Nobody);
        }
        match (self.decision, self.reason, way) {
            (Released, ApprovalReason::Countdown, Some(ApprovalWay::Countdown)) => {}
            (
                Released,
                ApprovalReason::Approved,
                Some(ApprovalWay::Page | ApprovalWay::Webhook | ApprovalWay::Client),
            ) => {}
            (
                Denied,
                ApprovalReason::Denied,
                Some(ApprovalWay::Page | ApprovalWay::Webhook | ApprovalWay::Client),
            ) => {}
            (
                Denied,
                ApprovalReason::Expired
                | ApprovalReason::Withdrawn
                | ApprovalReason::ShutDown
                | ApprovalReason::Changed,
                None,
            ) => {}
            (Released, _, None) | (Denied, ApprovalReason::Denied, None) => {
                return Err(ApprovalError::Nobody);
            }
            _ => return Err(ApprovalError::Disagree),
        }
        if let Some(note) = &self.note
            && !is_plain(note, APPROVAL_NOTE_BYTES_MAX)
        {
            return Err(ApprovalError::Note);
        }
        let times = [&self.held_at, &self.decided_at, &self.expires_at];
        if times.iter().any(|time| !is_time(time)) {
            return Err(ApprovalError::Time);
        }
        // A release after the deadline would be one nobody could have given.
        if self.decision == Released && self.decided_at > self.expires_at {
            return Err(ApprovalError::Time);
        }
        Ok(())
    }

    /// Signs the record.
    ///
    /// # Errors
    /// [`ApprovalError`] when it says what no record may say, such as a decision by nobody.
    pub fn sign(&self, signer: &LogSigner) -> Result<SignedApproval, ApprovalError> {
        self.check()?;
        if self.key_id != signer.key_id() {
            return Err(ApprovalError::Key);
        }
        let payload = String::from_utf8(canonical(self)?).map_err(|_| ApprovalError::Malformed)?;
        let signature = signer.sign_with_context(SIGNATURE_CONTEXT, payload.as_bytes());
        Ok(SignedApproval { payload, signature })
    }
}

/// One line of text: not blank, not too long, nothing that a terminal or a reader would act on.
fn is_plain(text: &str, bytes_max: usize) -> bool {
    !text.trim().is_empty() && text.len() <= bytes_max && !text.chars().any(char::is_control)
}

/// `2026-11-30T07:32:27.000Z` and no other spelling.
fn is_time(text: &str) -> bool {
    text.len() == TIME_BYTES
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            10 => byte == b'T',
            13 | 16 => byte == b':',
            19 => byte == b'.',
            23 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        })
}

/// A signed decision. Nothing outside `payload` says anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedApproval {
    /// The canonical JSON of an [`Approval`].
    pub payload: String,
    /// Ed25519 over the context and the payload, in base64.
    pub signature: String,
}

/// Why a decision cannot be signed, or shows nothing.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// It has another form.
    #[error("read an approval: not of the form countersign.approval/v1")]
    Malformed,
    /// Its bytes are not canonical.
    #[error("read an approval")]
    Payload(#[from] PayloadError),
    /// The signature is not the key's.
    #[error("check an approval: the signature is not this key's")]
    Signature,
    /// It names another key.
    #[error("check an approval: it names another key")]
    Key,
    /// Nobody decided.
    #[error("check an approval: a decision needs somebody who decided")]
    Nobody,
    /// Decision, reason and approver do not go together.
    #[error("check an approval: decision, reason and approver disagree")]
    Disagree,
    /// The note is too long or holds control characters.
    #[error("check an approval: a note is one line of at most {APPROVAL_NOTE_BYTES_MAX} bytes")]
    Note,
    /// A time has another form, or the release is later than its deadline.
    #[error("check an approval: its times are not in order")]
    Time,
}

impl SignedApproval {
    /// Checks signature, form and meaning, and returns what was decided.
    ///
    /// # Errors
    /// [`ApprovalError`] when anything about it does not hold.
    pub fn verify(&self, key: &LogVerifier) -> Result<Approval, ApprovalError> {
        let holds =
            key.verifies_with_context(SIGNATURE_CONTEXT, self.payload.as_bytes(), &self.signature);
        if !holds {
            return Err(ApprovalError::Signature);
        }
        let value = check_canonical(self.payload.as_bytes())?;
        let approval: Approval =
            serde_json::from_value(value).map_err(|_| ApprovalError::Malformed)?;
        approval.check()?;
        Ok(approval)
    }
}

#[cfg(test)]
mod tests {
    use super::call::tests::opening;
    use super::*;
    use crate::key::tests::signer;

    fn held() -> HeldCall {
        HeldCall {
            approval: [1; 16],
            call: [2; 16],
            held: [3; 32].into(),
            opening: opening(),
            rule: "writes".into(),
            policy: "demo".into(),
            commit: None,
            held_at: "2026-11-30T07:00:00.000Z".into(),
            expires_at: "2026-11-30T07:15:00.000Z".into(),
        }
    }

    fn released(signer: &LogSigner) -> Approval {
        let mut approval = Approval::about(
            &held(),
            ApprovalDecision::Released,
            ApprovalReason::Approved,
            "2026-11-30T07:05:00.000Z".into(),
            signer,
        );
        approval.decided_by = Some(Approver {
            way: ApprovalWay::Page,
            name: "Grace".into(),
        });
        approval
    }

    #[test]
    fn a_decision_survives_its_signature() {
        let signer = signer("log.example/door", 3);
        let approval = released(&signer);
        let signed = approval.sign(&signer).unwrap();
        assert_eq!(signed.verify(&signer.verifier()).unwrap(), approval);
        assert!(approval.is_released_by_a_person());
        assert_eq!(approval.digest, opening().digest());
    }

    #[test]
    fn a_decision_with_anything_changed_is_refused() {
        let signer = signer("log.example/door", 3);
        let signed = released(&signer).sign(&signer).unwrap();
        let other = crate::key::tests::signer("log.example/door", 4);
        assert!(matches!(
            signed.verify(&other.verifier()),
            Err(ApprovalError::Signature)
        ));
        for (from, to) in [
            ("released", "denied"),
            ("Grace", "Mallory"),
            ("page", "webhook"),
        ] {
            let mut changed = signed.clone();
            changed.payload = changed.payload.replacen(from, to, 1);
            assert_ne!(changed, signed, "{from}");
            assert!(matches!(
                changed.verify(&signer.verifier()),
                Err(ApprovalError::Signature)
            ));
        }
        // What this key signs of a log's heads is no decision, whatever it says.
        let note = SignedApproval {
            signature: signer.sign_with_context(b"", signed.payload.as_bytes()),
            ..signed
        };
        assert!(matches!(
            note.verify(&signer.verifier()),
            Err(ApprovalError::Signature)
        ));
    }

    #[test]
    fn what_nobody_can_have_decided_is_not_signed() {
        let signer = signer("log.example/door", 3);
        let refused = |change: fn(&mut Approval)| {
            let mut approval = released(&signer);
            change(&mut approval);
            approval.sign(&signer).unwrap_err().to_string()
        };
        let name = |approval: &mut Approval, name: &str, way| {
            approval.decided_by = Some(Approver {
                way,
                name: name.into(),
            });
        };
        let nobody = ApprovalError::Nobody.to_string();
        assert_eq!(refused(|approval| approval.decided_by = None), nobody);
        for blank in ["", "  ", "a\nb", "\u{7f}"] {
            let mut approval = released(&signer);
            name(&mut approval, blank, ApprovalWay::Page);
            assert_eq!(approval.sign(&signer).unwrap_err().to_string(), nobody);
        }
        let mut by_countdown = released(&signer);
        name(&mut by_countdown, "writes", ApprovalWay::Countdown);
        assert!(matches!(
            by_countdown.sign(&signer),
            Err(ApprovalError::Disagree)
        ));
        assert_eq!(
            refused(|approval| approval.demo = true),
            ApprovalError::Key.to_string()
        );
        let disagree = ApprovalError::Disagree.to_string();
        assert_eq!(
            refused(|approval| approval.reason = ApprovalReason::Expired),
            disagree
        );
        assert_eq!(
            refused(|approval| approval.decision = ApprovalDecision::Denied),
            disagree
        );
        let time = ApprovalError::Time.to_string();
        assert_eq!(
            refused(|approval| approval.decided_at = "2026-11-30T07:15:00.001Z".into()),
            time
        );
        assert_eq!(
            refused(|approval| approval.expires_at = "tomorrow".into()),
            time
        );
        assert_eq!(
            refused(|approval| approval.note = Some("x".repeat(APPROVAL_NOTE_BYTES_MAX + 1))),
            ApprovalError::Note.to_string()
        );
    }
}
