//! Why a receipt is not accepted, in that format's words and exit codes.

/// One meaning each, on every surface (§6.2, §6.7, §9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalCode {
    /// The signature does not hold.
    SignatureInvalid,
    /// The key is not in the set.
    KeyNotFound,
    /// The key was revoked.
    KeyRevoked,
    /// The bytes are no receipt.
    Malformed,
    /// The signed commitment has another form.
    RequestCommitmentMalformed,
    /// The bytes are not the hashed ones.
    PayloadHashMismatch,
    /// The bytes are not the canonical ones.
    CanonicalMismatch,
    /// The outcome was recorded without a signature.
    AttestationUnsigned,
    /// The payload is not handed out here.
    PayloadWithheld,
    /// The claims of an attestation contradict each other.
    AttestationInconsistent,
    /// Another version's; it may well be sound.
    CanonicalizationUnsupported,
    /// Another projection's; it may well be sound.
    ProjectionUnsupported,
    /// The projection shows what its tag does not allow.
    ProjectionNotAllowed,
    /// The decider's proof and way of authentication disagree.
    DeciderProofMismatch,
    /// The decider's proof has another form.
    DeciderProofInvalid,
    /// Request and salt are not the committed ones.
    RequestCommitmentMismatch,
    /// The summary is not the committed one.
    CommittedSummaryMismatch,
    /// Workspace, idempotency key or input hash are not the committed ones.
    ReceiptBindingMismatch,
    /// The projection does not come out of the request.
    PublicProjectionMismatch,
    /// An opening was given for a receipt that needs none.
    OpeningNotApplicable,
}

impl RefusalCode {
    /// The exit code that verifiers of the format use.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::SignatureInvalid => 1,
            Self::KeyNotFound | Self::KeyRevoked => 2,
            Self::Malformed | Self::RequestCommitmentMalformed => 3,
            Self::PayloadHashMismatch | Self::CanonicalMismatch => 4,
            Self::AttestationUnsigned => 5,
            Self::PayloadWithheld => 6,
            Self::AttestationInconsistent => 7,
            Self::CanonicalizationUnsupported | Self::ProjectionUnsupported => 8,
            Self::ProjectionNotAllowed | Self::DeciderProofMismatch | Self::DeciderProofInvalid => {
                9
            }
            Self::RequestCommitmentMismatch
            | Self::CommittedSummaryMismatch
            | Self::ReceiptBindingMismatch
            | Self::PublicProjectionMismatch => 10,
            Self::OpeningNotApplicable => 64,
        }
    }
}

/// Why a receipt is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Refusal {
    /// The class.
    pub code: RefusalCode,
    /// The case, in words; nothing of it is taken from unsigned bytes.
    pub what: String,
}

impl Refusal {
    pub(super) fn new(code: RefusalCode, what: impl Into<String>) -> Self {
        Self {
            code,
            what: what.into(),
        }
    }

    pub(super) fn malformed(what: impl Into<String>) -> Self {
        Self::new(RefusalCode::Malformed, what)
    }
}
