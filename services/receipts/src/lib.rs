//! Evidence that a stranger can check offline: payloads, Merkle logs, signed checkpoints, receipts.
//!
//! Every event is one leaf of an append-only log. Its payload is canonical JSON (RFC 8785), its
//! leaf hash is RFC 6962's, and the head of the log is a C2SP checkpoint: a signed note of origin,
//! size and root. A receipt carries the payload, its place in the tree and a checkpoint, so that
//! nothing else is needed but a public key.
//!
//! The crate is pure: it holds no file, no table and no clock. Whoever keeps a log passes the nodes
//! in and stores the nodes that come out; appending costs O(log n) either way.

mod approval;
mod canonical;
mod chain;
mod checkpoint;
mod frontier;
mod hash;
mod key;
mod payload;
pub mod permission;
mod proof;
mod proof_text;
mod receipt;
mod tree;
mod trust;
mod witness;

pub use approval::{
    APPROVAL_NOTE_BYTES_MAX, APPROVER_NAME_BYTES_MAX, Approval, ApprovalDecision, ApprovalError,
    ApprovalReason, ApprovalWay, Approver, CallOpening, HeldCall, SignedApproval,
};
pub use canonical::{CanonicalError, CanonicalWriter};
pub use chain::{Chain, ChainError, Follower, LOG_LINE_BYTES_MAX, LogEntry};
pub use checkpoint::{Checkpoint, CheckpointError, SignedCheckpoint};
pub use frontier::Frontier;
pub use hash::{Hash, HashError, leaf_hash, node_hash};
pub use key::{
    DEMO_PREFIX, KeyError, LogKeyFile, LogSigner, LogVerifier, PublicKeyFile, is_demo_key,
};
pub use payload::{PayloadError, canonical, check_canonical};
pub use proof::{ProofError, verify_consistency, verify_inclusion};
pub use proof_text::{ProofText, ProofTextError};
pub use receipt::{Receipt, ReceiptError};
pub use tree::{
    Compact, MemoryTree, MissingNode, Node, consistency_proof, empty_root, inclusion_proof,
    nodes_for_consistency, nodes_for_inclusion, nodes_for_peaks,
};
pub use trust::TrustedKeys;
pub use witness::{AddCheckpoint, WitnessRefusal, WitnessSigner, WitnessVerifier};
