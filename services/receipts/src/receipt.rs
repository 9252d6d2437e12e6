//! A receipt: everything a stranger needs besides a public key, in one JSON file.
//!
//! ```json
//! {
//!   "format": "countersign.receipt/v1",
//!   "payload": "{\"action\":\"act_…\",\"event\":\"executed\",…}",
//!   "leaf_index": 41,
//!   "inclusion": ["<base64 of 32 bytes>", "…"],
//!   "checkpoint": "countersign.example/bank\n44\n<base64 root>\n\n— countersign.example/bank …\n"
//! }
//! ```
//!
//! `payload` is the text of the event's canonical JSON, byte for byte what was hashed into the
//! leaf. `inclusion` runs from the leaf's sibling upwards. `checkpoint` is the signed note. Nothing
//! outside `payload` says anything about the event.

use serde::{Deserialize, Serialize};

use crate::payload::check_canonical;
use crate::{Hash, HashError, LogVerifier, PayloadError, ProofText, ProofTextError};
use crate::{Node, SignedCheckpoint, inclusion_proof};

/// The one value of `format`.
const FORMAT: &str = "countersign.receipt/v1";

/// A receipt as it is exported and read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    format: String,
    /// The canonical JSON that was hashed into the leaf.
    pub payload: String,
    /// The leaf's place in the log, from zero.
    pub leaf_index: u64,
    /// The inclusion proof in base64, from the leaf upwards.
    pub inclusion: Vec<String>,
    /// The signed head the proof leads to.
    pub checkpoint: String,
}

/// Why a receipt shows nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// The file is no receipt of a known form.
    #[error("read a receipt: not of the form countersign.receipt/v1")]
    Malformed,
    /// The payload is not canonical JSON.
    #[error("read a receipt")]
    Payload(#[from] PayloadError),
    /// The proof or its checkpoint is not accepted.
    #[error(transparent)]
    Proof(#[from] ProofTextError),
    /// A node for the proof is missing.
    #[error("make a receipt")]
    Missing(#[from] crate::MissingNode),
}

impl From<HashError> for ReceiptError {
    fn from(_: HashError) -> Self {
        Self::Malformed
    }
}

impl Receipt {
    /// Makes the receipt of the payload at `leaf_index`, under a signed head.
    ///
    /// `node` answers with stored nodes; [`crate::nodes_for_inclusion`] says which.
    ///
    /// # Errors
    /// [`ReceiptError`] when the payload is not canonical or a node is missing.
    pub fn new(
        payload: &str,
        leaf_index: u64,
        head: &SignedCheckpoint,
        node: impl Fn(Node) -> Option<Hash>,
    ) -> Result<Self, ReceiptError> {
        check_canonical(payload.as_bytes())?;
        let inclusion = inclusion_proof(leaf_index, head.checkpoint.size, node)?;
        Ok(Self {
            format: FORMAT.to_owned(),
            payload: payload.to_owned(),
            leaf_index,
            inclusion: inclusion.iter().map(Hash::to_base64).collect(),
            checkpoint: head.note.clone(),
        })
    }

    /// Reads a receipt's file.
    ///
    /// # Errors
    /// [`ReceiptError::Malformed`] when it has another form.
    pub fn read(text: &str) -> Result<Self, ReceiptError> {
        let receipt: Self = serde_json::from_str(text).map_err(|_| ReceiptError::Malformed)?;
        if receipt.format != FORMAT {
            return Err(ReceiptError::Malformed);
        }
        Ok(receipt)
    }

    /// The receipt that a payload and its C2SP `tlog-proof` text are together.
    #[must_use]
    pub fn of_proof(payload: &str, proof: ProofText) -> Self {
        Self {
            format: FORMAT.to_owned(),
            payload: payload.to_owned(),
            leaf_index: proof.index,
            inclusion: proof.inclusion.iter().map(Hash::to_base64).collect(),
            checkpoint: proof.checkpoint,
        }
    }

    /// The same proof as C2SP `tlog-proof` text.
    ///
    /// # Errors
    /// [`ReceiptError::Malformed`] when a hash is none.
    pub fn proof_text(&self) -> Result<ProofText, ReceiptError> {
        let inclusion = self.inclusion.iter().map(|hash| Hash::from_base64(hash));
        Ok(ProofText {
            index: self.leaf_index,
            inclusion: inclusion.collect::<Result<_, _>>()?,
            checkpoint: self.checkpoint.clone(),
        })
    }

    /// Checks the receipt and returns what it proves: the payload, and the head it stands under.
    ///
    /// # Errors
    /// [`ReceiptError`] when anything about it does not hold.
    pub fn verify(
        &self,
        key: &LogVerifier,
    ) -> Result<(serde_json::Value, SignedCheckpoint), ReceiptError> {
        let payload = check_canonical(self.payload.as_bytes())?;
        let head = self.proof_text()?.verify(self.payload.as_bytes(), key)?;
        Ok((payload, head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::tests::signer;
    use crate::{Checkpoint, MemoryTree, leaf_hash};

    fn receipt() -> (Receipt, LogVerifier) {
        let signer = signer("log.example/bank", 5);
        let mut tree = MemoryTree::new();
        let payload = |number: u64| format!(r#"{{"action":"act_{number}","event":"executed"}}"#);
        for number in 0..6 {
            tree.append_leaf(leaf_hash(payload(number).as_bytes()));
        }
        let head = Checkpoint {
            origin: "log.example/bank".into(),
            size: 6,
            root: tree.root_at(6).unwrap(),
        };
        let head = head.sign(&signer).unwrap();
        let receipt = Receipt::new(&payload(4), 4, &head, |node| tree.node(node)).unwrap();
        (receipt, signer.verifier())
    }

    #[test]
    fn a_receipt_survives_its_file() {
        let (receipt, key) = receipt();
        let text = serde_json::to_string(&receipt).unwrap();
        let read = Receipt::read(&text).unwrap();
        let (payload, head) = read.verify(&key).unwrap();
        assert_eq!(payload["action"], "act_4");
        assert_eq!(head.checkpoint.size, 6);
    }

    #[test]
    fn a_receipt_with_anything_changed_is_refused() {
        let (receipt, key) = receipt();
        let changed = |change: fn(&mut Receipt)| {
            let mut receipt = receipt.clone();
            change(&mut receipt);
            receipt.verify(&key).unwrap_err()
        };
        changed(|receipt| receipt.payload = receipt.payload.replace("act_4", "act_5"));
        changed(|receipt| receipt.leaf_index = 5);
        changed(|receipt| {
            receipt.inclusion.pop();
        });
        changed(|receipt| receipt.inclusion[0] = leaf_hash(b"x").to_base64());
        changed(|receipt| receipt.inclusion[0] = "AAAA".into());
        changed(|receipt| receipt.checkpoint = receipt.checkpoint.replace("\n6\n", "\n7\n"));
        assert!(matches!(
            changed(|receipt| receipt.payload.push(' ')),
            ReceiptError::Payload(PayloadError::NotCanonical)
        ));
        let text = serde_json::to_string(&receipt).unwrap();
        assert!(Receipt::read(&text.replace("/v1", "/v2")).is_err());
        assert!(Receipt::read(&text.replacen('{', r#"{"status":"APPROVED","#, 1)).is_err());
    }

    #[test]
    fn every_changed_byte_of_a_receipt_and_of_its_proof_is_refused() {
        let (receipt, key) = receipt();
        let text = serde_json::to_string(&receipt).unwrap();
        let proof = receipt.proof_text().unwrap().to_string();
        let flipped = |text: &str, position: usize, bit: u8| {
            let mut bytes = text.as_bytes().to_vec();
            bytes[position] ^= bit;
            String::from_utf8(bytes).ok()
        };
        for bit in [0x01, 0x02, 0x20] {
            for position in 0..text.len() {
                let holds = flipped(&text, position, bit)
                    .and_then(|text| Receipt::read(&text).ok())
                    .is_some_and(|receipt| receipt.verify(&key).is_ok());
                assert!(!holds, "receipt, byte {position}, bit {bit}");
            }
            for position in 0..proof.len() {
                let holds = flipped(&proof, position, bit)
                    .and_then(|text| ProofText::read(&text).ok())
                    .is_some_and(|proof| proof.verify(receipt.payload.as_bytes(), &key).is_ok());
                assert!(!holds, "proof, byte {position}, bit {bit}");
            }
        }
    }
}
