//! Witnessing a log: a second key, kept elsewhere, that signs a head only when the log still holds
//! everything it held when the last head was signed (C2SP `tlog-witness`, `tlog-cosignature`).
//!
//! Whoever keeps a log can cut its tail, or keep two, and sign for both; whoever witnesses it sees
//! one of them, and never puts its name to a head that does not follow from the last one it saw.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::pkcs8::DecodePrivateKey as _;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

use crate::key::{check_origin, hint_of};
use crate::{
    CheckpointError, Hash, KeyError, LogKeyFile, ProofError, SignedCheckpoint, TrustedKeys,
    verify_consistency,
};

/// The signature type of a cosignature by Ed25519, with its time.
const COSIGNATURE: u8 = 0x04;
/// Most hashes of a consistency proof.
const HASHES_MAX: usize = 63;

/// Signs heads of other people's logs.
pub struct WitnessSigner {
    name: String,
    key: SigningKey,
}

/// Checks a witness's signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessVerifier {
    name: String,
    key: VerifyingKey,
}

/// Why a witness does not sign, with the status that `tlog-witness` gives it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WitnessRefusal {
    /// The request has another form.
    #[error("not a request to add a checkpoint")]
    Malformed,
    /// No key of the log signed the head.
    #[error("the head is not signed by a key of this log: {0}")]
    Signature(CheckpointError),
    /// The log is not one that is witnessed here.
    #[error("the head is of another log")]
    UnknownLog,
    /// The request goes on from another head than the last one.
    #[error("the last head seen was of {0} lines")]
    Conflict(u64),
    /// The log is shorter than it was.
    #[error("the log had {seen} lines and has {now}: it was rolled back")]
    RolledBack {
        /// Lines at the last head.
        seen: u64,
        /// Lines now.
        now: u64,
    },
    /// The log does not hold what it held.
    #[error("the log does not hold the {0} lines it held: it forked")]
    Forked(u64),
    /// The proof proves nothing.
    #[error("the proof does not hold: {0}")]
    Proof(ProofError),
}

impl WitnessRefusal {
    /// The HTTP status of the refusal.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Signature(_) => 403,
            Self::UnknownLog => 404,
            Self::Conflict(_) | Self::RolledBack { .. } => 409,
            Self::Forked(_) | Self::Proof(_) => 422,
        }
    }
}

/// A request to witness a head: from which size it goes on, the proof that it does, the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// Size of the last head that the witness is thought to have seen.
    pub old: u64,
    /// The consistency proof.
    pub proof: Vec<Hash>,
    /// The signed note.
    pub note: String,
}

impl AddCheckpoint {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// [`WitnessRefusal::Malformed`].
    pub fn read(text: &str) -> Result<Self, WitnessRefusal> {
        Self::parse(text).ok_or(WitnessRefusal::Malformed)
    }

    fn parse(text: &str) -> Option<Self> {
        let (head, note) = text.split_once("\n\n")?;
        let mut lines = head.split('\n');
        let digits = lines.next()?.strip_prefix("old ")?;
        let old: u64 = digits.parse().ok()?;
        if old.to_string() != digits {
            return None;
        }
        let proof = lines
            .map(|line| Hash::from_base64(line).ok())
            .collect::<Option<Vec<_>>>()?;
        (proof.len() <= HASHES_MAX).then(|| Self {
            old,
            proof,
            note: note.to_owned(),
        })
    }

    /// Checks that the head follows from the last one seen.
    ///
    /// # Errors
    /// [`WitnessRefusal`]; the head must not be signed then.
    pub fn check(
        &self,
        keys: &TrustedKeys,
        seen: Option<(u64, Hash)>,
    ) -> Result<SignedCheckpoint, WitnessRefusal> {
        let head = keys.verify(&self.note).map_err(|error| match error {
            CheckpointError::WrongOrigin => WitnessRefusal::UnknownLog,
            CheckpointError::Malformed => WitnessRefusal::Malformed,
            error => WitnessRefusal::Signature(error),
        })?;
        let (size, root) = (head.checkpoint.size, head.checkpoint.root);
        let (seen_size, seen_root) = seen.unwrap_or_else(|| (0, crate::empty_root()));
        if size < seen_size {
            return Err(WitnessRefusal::RolledBack {
                seen: seen_size,
                now: size,
            });
        }
        if self.old != seen_size {
            return Err(WitnessRefusal::Conflict(seen_size));
        }
        verify_consistency(seen_size, seen_root, size, root, &self.proof).map_err(|error| {
            match error {
                ProofError::WrongRoot => WitnessRefusal::Forked(seen_size),
                error => WitnessRefusal::Proof(error),
            }
        })?;
        Ok(head)
    }
}

impl std::fmt::Display for AddCheckpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(formatter, "old {}", self.old)?;
        for hash in &self.proof {
            writeln!(formatter, "{}", hash.to_base64())?;
        }
        write!(formatter, "\n{}", self.note)
    }
}

/// What a cosignature is over: its time, and the text of the note.
fn message(seconds: u64, note: &str) -> Option<Vec<u8>> {
    let (body, _) = note.rsplit_once("\n\n")?;
    Some(format!("cosignature/v1\ntime {seconds}\n{body}\n").into_bytes())
}

impl WitnessSigner {
    /// The witness of this name.
    ///
    /// # Errors
    /// [`KeyError`] when name or key are unusable.
    pub fn new(name: &str, file: &LogKeyFile) -> Result<Self, KeyError> {
        check_origin(name)?;
        let key = SigningKey::from_pkcs8_pem(file.pkcs8_pem.expose())
            .map_err(|_| KeyError::Private(file.key_id.clone()))?;
        Ok(Self {
            name: name.to_owned(),
            key,
        })
    }

    /// The other half.
    #[must_use]
    pub fn verifier(&self) -> WitnessVerifier {
        WitnessVerifier {
            name: self.name.clone(),
            key: self.key.verifying_key(),
        }
    }

    /// The signature line under a head that was checked, with the time of signing.
    #[must_use]
    pub fn cosign(&self, head: &SignedCheckpoint, seconds: u64) -> String {
        let message = message(seconds, &head.note).unwrap_or_default();
        let mut bytes = hint_of(&self.name, COSIGNATURE, &self.key.verifying_key()).to_vec();
        bytes.extend(seconds.to_be_bytes());
        bytes.extend(self.key.sign(&message).to_bytes());
        format!("\u{2014} {} {}\n", self.name, STANDARD.encode(bytes))
    }
}

impl WitnessVerifier {
    /// Reads the one-line form `name+hash+base64`.
    ///
    /// # Errors
    /// [`KeyError`] when it is none.
    pub fn read(line: &str) -> Result<Self, KeyError> {
        let mut parts = line.trim_end().splitn(3, '+');
        let (Some(name), Some(digits), Some(key)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(KeyError::Line);
        };
        check_origin(name)?;
        let bytes = STANDARD.decode(key).map_err(|_| KeyError::Line)?;
        let Some((&COSIGNATURE, key)) = bytes.split_first() else {
            return Err(KeyError::Line);
        };
        let key: &[u8; 32] = key.try_into().map_err(|_| KeyError::Line)?;
        let key = VerifyingKey::from_bytes(key).map_err(|_| KeyError::Public)?;
        if key.is_weak() {
            return Err(KeyError::Public);
        }
        if hex::encode(hint_of(name, COSIGNATURE, &key)) != digits {
            return Err(KeyError::Line);
        }
        Ok(Self {
            name: name.to_owned(),
            key,
        })
    }

    /// The one-line form.
    #[must_use]
    pub fn line(&self) -> String {
        let mut key = vec![COSIGNATURE];
        key.extend(self.key.as_bytes());
        let hint = hex::encode(hint_of(&self.name, COSIGNATURE, &self.key));
        format!("{}+{hint}+{}", self.name, STANDARD.encode(key))
    }

    /// When this witness signed a note, in seconds since 1970; nothing when it did not.
    #[must_use]
    pub fn signed_at(&self, note: &str) -> Option<u64> {
        let (_, signatures) = note.rsplit_once("\n\n")?;
        signatures.lines().find_map(|line| {
            let (name, signature) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
            let bytes = STANDARD.decode(signature).ok()?;
            let (hint, rest) = bytes.split_at_checked(4)?;
            if name != self.name || hint != hint_of(&self.name, COSIGNATURE, &self.key) {
                return None;
            }
            let (seconds, signature) = rest.split_at_checked(8)?;
            let seconds = u64::from_be_bytes(seconds.try_into().ok()?);
            let signature = Signature::from_slice(signature).ok()?;
            self.key
                .verify_strict(&message(seconds, note)?, &signature)
                .ok()?;
            Some(seconds)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::tests::{pem, signer};
    use crate::{Checkpoint, MemoryTree, consistency_proof, leaf_hash};

    fn tree(leaves: &[u64]) -> MemoryTree {
        let mut tree = MemoryTree::new();
        for leaf in leaves {
            tree.append_leaf(leaf_hash(&leaf.to_be_bytes()));
        }
        tree
    }

    fn head(tree: &MemoryTree, size: u64) -> SignedCheckpoint {
        let root = tree.root_at(size).unwrap();
        let origin = "log.example/door".to_owned();
        let checkpoint = Checkpoint { origin, size, root };
        checkpoint.sign(&signer("log.example/door", 1)).unwrap()
    }

    fn keys() -> TrustedKeys {
        TrustedKeys::read(&signer("log.example/door", 1).verifier().line()).unwrap()
    }

    fn add(tree: &MemoryTree, old: u64, size: u64) -> AddCheckpoint {
        AddCheckpoint {
            old,
            proof: consistency_proof(old, size, |node| tree.node(node)).unwrap(),
            note: head(tree, size).note,
        }
    }

    #[test]
    fn a_log_that_grows_is_witnessed_and_one_that_changes_is_not() {
        let honest = tree(&(0..20).collect::<Vec<_>>());
        let seen = |size: u64| Some((size, honest.root_at(size).unwrap()));
        for old in 0..20 {
            for size in old.max(1)..=20 {
                let request = add(&honest, old, size);
                let read = AddCheckpoint::read(&request.to_string()).unwrap();
                assert_eq!(read, request);
                assert!(read.check(&keys(), seen(old)).is_ok(), "{old} {size}");
            }
        }
        let rolled = add(&honest, 7, 9).check(&keys(), seen(12)).unwrap_err();
        assert_eq!(rolled, WitnessRefusal::RolledBack { seen: 12, now: 9 });
        let other = add(&honest, 7, 15).check(&keys(), seen(12)).unwrap_err();
        assert_eq!((other.status(), other), (409, WitnessRefusal::Conflict(12)));
        let mut leaves: Vec<u64> = (0..20).collect();
        leaves[3] = 99;
        let forked = tree(&leaves);
        for size in 12..=20 {
            let refused = add(&forked, 12, size).check(&keys(), seen(12)).unwrap_err();
            assert_eq!(refused, WitnessRefusal::Forked(12), "{size}");
        }
        let mut short = add(&honest, 7, 12);
        short.proof.pop();
        assert!(short.check(&keys(), seen(7)).is_err());
    }

    #[test]
    fn heads_of_others_are_not_witnessed() {
        let tree = tree(&[1, 2]);
        let mut request = add(&tree, 0, 2);
        let other = TrustedKeys::read(&signer("log.example/door", 2).verifier().line()).unwrap();
        assert_eq!(request.check(&other, None).unwrap_err().status(), 403);
        let other = TrustedKeys::read(&signer("log.example/bank", 1).verifier().line()).unwrap();
        assert_eq!(request.check(&other, None).unwrap_err().status(), 404);
        request.note.pop();
        assert_eq!(request.check(&keys(), None).unwrap_err().status(), 400);
        for text in [
            "",
            "old 1",
            "old 01\n\nnote",
            "old 1\nx\n\nnote",
            "new 1\n\nnote",
        ] {
            assert!(AddCheckpoint::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_cosignature_holds_for_its_head_and_time_alone() {
        let file = LogKeyFile {
            key_id: "w".into(),
            pkcs8_pem: pem(8),
        };
        let witness = WitnessSigner::new("witness.example/w", &file).unwrap();
        let verifier = WitnessVerifier::read(&witness.verifier().line()).unwrap();
        assert_eq!(verifier, witness.verifier());
        let head = head(&tree(&[1, 2]), 2);
        assert_eq!(verifier.signed_at(&head.note), None);
        let line = witness.cosign(&head, 1_800_000_000);
        let note = format!("{}{line}", head.note);
        assert_eq!(verifier.signed_at(&note), Some(1_800_000_000));
        // The log's own key still reads it.
        assert!(keys().verify(&note).is_ok());
        assert_eq!(
            verifier.signed_at(&note.replacen("\n2\n", "\n3\n", 1)),
            None
        );
        let later = witness.cosign(&head, 1_800_000_001);
        let (_, signature) = line.trim_end().rsplit_once(' ').unwrap();
        let (_, later) = later.trim_end().rsplit_once(' ').unwrap();
        let mixed = format!("{}{}", &later[..16], &signature[16..]);
        assert_eq!(verifier.signed_at(&note.replace(signature, &mixed)), None);
        // A log's key is no witness's, even of the same name.
        assert!(WitnessVerifier::read(&signer("a", 1).verifier().line()).is_err());
    }
}
