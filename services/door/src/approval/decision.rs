//! What goes into a hold and what comes out of it.

use std::sync::Arc;

use countersign_receipts::{
    ApprovalError, ApprovalReason, ApprovalWay, Approver, Hash, HeldCall, SignedApproval,
};

use super::record::NotWritten;
use super::terms::Terms;

/// The name of a hold.
pub type HoldId = [u8; 16];

/// Takes the ending to whoever waits. Called once, from any thread, with nothing locked.
pub type Tell = Box<dyn FnOnce(Ended) + Send>;

/// Whether a held call is still what it was when it was held: the policy, the definition.
pub type Still = Box<dyn Fn() -> bool + Send>;

/// A call that is to be held.
pub struct Ask {
    /// What is asked.
    pub held: HeldCall,
    /// Under which terms.
    pub terms: Terms,
    /// Whether it may still be released; asked when it would be.
    pub still: Still,
    /// Who waits.
    pub tell: Tell,
}

/// How a hold ended, for whoever waits.
#[derive(Debug)]
pub struct Ended {
    /// The hold.
    pub hold: HoldId,
    /// Leaf of the line that says so; none when it could not be written, and then it is no release.
    pub leaf: Option<Hash>,
    /// How.
    pub why: Why,
    /// By which way somebody decided.
    pub by: Option<ApprovalWay>,
}

/// How a hold ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It goes on, exactly as it was held, once.
    Released,
    /// Somebody said no.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// Whoever asked went away.
    Withdrawn,
    /// The door stops.
    ShutDown,
    /// What it was held under has changed.
    Changed,
}

impl Why {
    /// The stable code in refusals, records and the page.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::ShutDown => "shut_down",
            Self::Changed => "changed",
        }
    }

    pub(super) const fn reason(self) -> ApprovalReason {
        match self {
            Self::Released => ApprovalReason::Approved,
            Self::Denied => ApprovalReason::Denied,
            Self::Expired => ApprovalReason::Expired,
            Self::Withdrawn => ApprovalReason::Withdrawn,
            Self::ShutDown => ApprovalReason::ShutDown,
            Self::Changed => ApprovalReason::Changed,
        }
    }
}

/// Why a call is not held. It does not go on then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HoldError {
    /// None of the ways its rule takes is open.
    #[error("hold a call: nobody can decide")]
    NoApprover,
    /// Too many calls are held, or too many bytes of them.
    #[error("hold a call: too many are held")]
    Full,
    /// The door is stopping.
    #[error("hold a call: the door stops")]
    Stopping,
}

/// What somebody chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It goes on.
    Approve,
    /// It does not.
    Deny,
}

/// A decision on its way in.
#[derive(Clone, Debug)]
pub struct Decision {
    /// About which hold.
    pub hold: HoldId,
    /// The digest of the call that was looked at.
    pub digest: Hash,
    /// What was chosen.
    pub choice: Choice,
    /// By whom.
    pub approver: Approver,
    /// What they wrote beside it.
    pub note: Option<String>,
    /// The commit that was looked at, where the decision is about one.
    pub commit: Option<String>,
}

/// Why a decision does not count.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is no such hold, or none any more.
    #[error("decide about a held call: there is no such hold")]
    Unknown,
    /// It has ended before; a final decision is final.
    #[error("decide about a held call: it has ended")]
    Final(Why),
    /// It is about another call than the one that is held.
    #[error("decide about a held call: it is not the call that was looked at")]
    OtherCall,
    /// It is about another commit than the one the hold names.
    #[error("decide about a held call: it is not the commit that was looked at")]
    OtherCommit,
    /// The rule takes no decision by this way.
    #[error("decide about a held call: its rule takes no decision this way")]
    WrongWay,
    /// It is by nobody, or says something else that is not signed.
    #[error("decide about a held call")]
    NotSigned(#[from] ApprovalError),
    /// It cannot be written down. The call stays held.
    #[error("decide about a held call: it stays held")]
    NotRecorded(#[from] NotWritten),
}

/// A hold as the page and the ways see it.
#[derive(Clone)]
pub struct Seen {
    /// What is asked.
    pub held: Arc<HeldCall>,
    /// Its digest.
    pub digest: Hash,
    /// Under which terms.
    pub terms: Terms,
    /// When its countdown ends, on the forward clock; none when there is none or it was stopped.
    pub countdown_at: Option<u64>,
    /// When it expires, on the forward clock.
    pub expires_at: u64,
}

/// A hold that has ended.
#[derive(Clone, Debug)]
pub struct Past {
    /// The hold.
    pub hold: HoldId,
    /// The server and the tool or method.
    pub server: String,
    /// The tool, or the method where there is none.
    pub name: String,
    /// How it ended.
    pub why: Why,
    /// The leaf of the line that says so.
    pub leaf: Option<Hash>,
    /// The signed record.
    pub signed: Option<SignedApproval>,
    /// When, RFC 3339.
    pub at: String,
}
