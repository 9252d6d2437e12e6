//! The C2SP `tlog-proof` text: a place in a log, its proof and a checkpoint, in one small file.

use crate::{Checkpoint, CheckpointError, Hash, LogVerifier, ProofError, SignedCheckpoint};
use crate::{leaf_hash, verify_inclusion};

/// The first line of every such text.
const HEADER: &str = "c2sp.org/tlog-proof@v1";
/// Most hashes in a proof; a tree of 2^63 leaves needs no more.
const HASHES_MAX: usize = 63;

/// A proof that some payload is at a place of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofText {
    /// The leaf's place, from zero.
    pub index: u64,
    /// The inclusion proof, from the leaf upwards.
    pub inclusion: Vec<Hash>,
    /// The signed note of the head, verbatim.
    pub checkpoint: String,
}

/// Why a proof text shows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofTextError {
    /// Its form is broken.
    #[error("read a proof: not a tlog-proof text")]
    Malformed,
    /// Its checkpoint is not accepted.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Its hashes do not lead from the payload to the checkpoint's root.
    #[error(transparent)]
    Proof(#[from] ProofError),
}

impl ProofText {
    /// Reads the text. Extra data is allowed by the format and ignored here.
    ///
    /// # Errors
    /// [`ProofTextError::Malformed`] when it has another form.
    pub fn read(text: &str) -> Result<Self, ProofTextError> {
        Self::parse(text).ok_or(ProofTextError::Malformed)
    }

    fn parse(text: &str) -> Option<Self> {
        let (head, checkpoint) = text.split_once("\n\n")?;
        let mut lines = head.split('\n');
        if lines.next() != Some(HEADER) {
            return None;
        }
        let mut line = lines.next()?;
        if line.starts_with("extra ") {
            line = lines.next()?;
        }
        let digits = line.strip_prefix("index ")?;
        let index: u64 = digits.parse().ok()?;
        if index.to_string() != digits {
            return None;
        }
        let inclusion = lines
            .map(Hash::from_base64)
            .collect::<Result<Vec<_>, _>>()
            .ok()?;
        (inclusion.len() <= HASHES_MAX).then(|| Self {
            index,
            inclusion,
            checkpoint: checkpoint.to_owned(),
        })
    }

    /// Checks that the payload is in the log that the key signs for.
    ///
    /// # Errors
    /// [`ProofTextError`] when that is not shown.
    pub fn verify(
        &self,
        payload: &[u8],
        key: &LogVerifier,
    ) -> Result<SignedCheckpoint, ProofTextError> {
        let signed = Checkpoint::verify(&self.checkpoint, key)?;
        let Checkpoint { size, root, .. } = signed.checkpoint;
        verify_inclusion(leaf_hash(payload), self.index, size, &self.inclusion, root)?;
        Ok(signed)
    }
}

impl std::fmt::Display for ProofText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(formatter, "{HEADER}\nindex {}", self.index)?;
        for hash in &self.inclusion {
            writeln!(formatter, "{}", hash.to_base64())?;
        }
        write!(formatter, "\n{}", self.checkpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::tests::signer;
    use crate::{MemoryTree, inclusion_proof};

    #[test]
    fn a_proof_reads_back_and_proves_its_payload_alone() {
        let signer = signer("log.example/door", 3);
        let mut tree = MemoryTree::new();
        for leaf in ["a", "b", "c", "d", "e"] {
            tree.append_leaf(leaf_hash(leaf.as_bytes()));
        }
        let head = Checkpoint {
            origin: "log.example/door".into(),
            size: 5,
            root: tree.root_at(5).unwrap(),
        };
        let proof = ProofText {
            index: 2,
            inclusion: inclusion_proof(2, 5, |node| tree.node(node)).unwrap(),
            checkpoint: head.sign(&signer).unwrap().note,
        };
        let text = proof.to_string();
        assert_eq!(ProofText::read(&text), Ok(proof.clone()));
        let extra = text.replacen("\nindex", "\nextra AAAA\nindex", 1);
        assert_eq!(ProofText::read(&extra), Ok(proof.clone()));
        assert!(proof.verify(b"c", &signer.verifier()).is_ok());
        assert!(proof.verify(b"d", &signer.verifier()).is_err());
        for (from, to) in [
            ("@v1", "@v2"),
            ("index 2", "index 02"),
            ("index 2\n", ""),
            ("\n\n", "\n"),
        ] {
            let broken = text.replacen(from, to, 1);
            assert_eq!(
                ProofText::read(&broken),
                Err(ProofTextError::Malformed),
                "{from}"
            );
        }
    }
}
