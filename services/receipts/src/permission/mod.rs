//! Receipts in the format of the Permission Protocol: reading `jcs_v1` to `jcs_v3` as its own
//! verifier does, and writing `jcs_v3`.
//!
//! Section numbers in this module are those of that format's SPEC. A receipt there is a flat JSON
//! object whose canonical bytes are hashed and whose *digest* is signed; around it stands an
//! envelope of which nothing is believed.

mod artifact;
mod attestation;
mod decider_proof;
mod fields;
mod keys;
mod mint;
mod opening;
mod projection;
mod refusal;
mod time_text;

pub use artifact::{Artifact, ArtifactEnvelope, VerifiedArtifact, verify_artifact};
pub use attestation::{VerifiedAttestation, verify_attestation};
pub use keys::{KeyEntry, KeySet, KeyStatus};
pub use mint::{Decider, Decision, ExecuteRequest, MintError, MintedArtifact, mint};
pub use opening::{Opened, Opening, Stated};
pub use projection::build_projection;
pub use refusal::{Refusal, RefusalCode};
pub use time_text::is_instant;

#[cfg(test)]
mod tests;
