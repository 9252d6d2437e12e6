//! The head of a log as a signed note (C2SP `tlog-checkpoint` over `signed-note`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{Hash, LogSigner, LogVerifier};

/// Longest note that is read, in bytes: a head and room for sixteen cosignatures.
const NOTE_BYTES_MAX: usize = 128 << 10;
/// Most signature lines that are read.
const SIGNATURES_MAX: usize = 32;

/// What a log's keeper says about it: this many leaves, this root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log's name.
    pub origin: String,
    /// How many leaves.
    pub size: u64,
    /// The root over them.
    pub root: Hash,
}

/// A checkpoint whose signature was checked, with the note it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    /// What was signed.
    pub checkpoint: Checkpoint,
    /// The whole note, cosignatures included.
    pub note: String,
}

/// Why a note is no checkpoint of this log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The note's form is broken.
    #[error("read a checkpoint: not a signed note of origin, size and root")]
    Malformed,
    /// It speaks of another log.
    #[error("read a checkpoint: another log's")]
    WrongOrigin,
    /// No line is signed by the key that was asked for.
    #[error("read a checkpoint: not signed by this key")]
    UnknownKey,
    /// The line under the key's name does not hold.
    #[error("read a checkpoint: the signature does not hold")]
    BadSignature,
}

impl Checkpoint {
    /// The text that is signed.
    fn text(&self) -> String {
        format!(
            "{}\n{}\n{}\n",
            self.origin,
            self.size,
            self.root.to_base64()
        )
    }

    /// Signs this head of the signer's log.
    ///
    /// # Errors
    /// [`CheckpointError::WrongOrigin`] when it is the head of another log.
    pub fn sign(self, signer: &LogSigner) -> Result<SignedCheckpoint, CheckpointError> {
        if self.origin != signer.origin() {
            return Err(CheckpointError::WrongOrigin);
        }
        let text = self.text();
        let note = format!("{text}\n{}", signer.signature_line(&text));
        Ok(SignedCheckpoint {
            checkpoint: self,
            note,
        })
    }

    /// Reads a note and checks its signature.
    ///
    /// Lines of other keys are passed over, as the format asks; a line of this key that does not
    /// hold refuses the note.
    ///
    /// # Errors
    /// [`CheckpointError`] when the note is broken, of another log, or not signed by the key.
    pub fn verify(note: &str, key: &LogVerifier) -> Result<SignedCheckpoint, CheckpointError> {
        let malformed = CheckpointError::Malformed;
        let control = |byte: u8| byte < 0x20 && byte != b'\n';
        if note.len() > NOTE_BYTES_MAX || note.bytes().any(control) || !note.ends_with('\n') {
            return Err(malformed);
        }
        let (body, signatures) = note.rsplit_once("\n\n").ok_or(malformed)?;
        let text = &note[..=body.len()];
        let checkpoint = read_text(text).ok_or(malformed)?;
        if checkpoint.origin != key.origin() {
            return Err(CheckpointError::WrongOrigin);
        }
        let mut signed = false;
        for (count, line) in signatures.lines().enumerate() {
            let line = line.strip_prefix("\u{2014} ").ok_or(malformed)?;
            let (name, bytes) = line.split_once(' ').ok_or(malformed)?;
            let bytes = STANDARD.decode(bytes).map_err(|_| malformed)?;
            if name.is_empty() || count == SIGNATURES_MAX {
                return Err(malformed);
            }
            match key.judge(name, &bytes, text) {
                None => {}
                Some(true) => signed = true,
                Some(false) => return Err(CheckpointError::BadSignature),
            }
        }
        if !signed {
            return Err(CheckpointError::UnknownKey);
        }
        Ok(SignedCheckpoint {
            checkpoint,
            note: note.to_owned(),
        })
    }
}

/// Exactly three lines: an extension line would be one more thing nobody audits.
fn read_text(text: &str) -> Option<Checkpoint> {
    let mut lines = text.strip_suffix('\n')?.split('\n');
    let origin = lines.next().filter(|origin| !origin.is_empty())?.to_owned();
    let digits = lines.next()?;
    let size: u64 = digits.parse().ok()?;
    if size.to_string() != digits {
        return None;
    }
    let root = Hash::from_base64(lines.next()?).ok()?;
    lines
        .next()
        .is_none()
        .then_some(Checkpoint { origin, size, root })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::tests::signer;
    use crate::leaf_hash;

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            origin: "log.example/door".into(),
            size: 7,
            root: leaf_hash(b"root"),
        }
    }

    #[test]
    fn a_signed_head_reads_back() {
        let signer = signer("log.example/door", 1);
        let signed = checkpoint().sign(&signer).unwrap();
        assert_eq!(
            signed.note,
            "log.example/door\n7\nPAb5plclr2BSYfY2ZyyWINQJcx2JpFHXRV/pxK4WeCk=\n\n\
             \u{2014} log.example/door Z/La1onKBaGtKDACAD/MiPHQvpnSaff1jWXMJ5Z2X8g+\
             naMje1YCuepmIaN/KRtH6wR8EZK1gx/yBVpH827fjtnuIAM=\n"
        );
        assert_eq!(
            Checkpoint::verify(&signed.note, &signer.verifier()),
            Ok(signed)
        );
    }

    #[test]
    fn a_cosignature_is_passed_over() {
        let signer = signer("log.example/door", 1);
        let signed = checkpoint().sign(&signer).unwrap();
        let note = format!("{}\u{2014} witness.example AAAAAAAA\n", signed.note);
        let read = Checkpoint::verify(&note, &signer.verifier()).unwrap();
        assert_eq!(read.checkpoint, checkpoint());
        assert_eq!(read.note, note);
    }

    #[test]
    fn every_changed_byte_is_refused() {
        let signer = signer("log.example/door", 1);
        let note = checkpoint().sign(&signer).unwrap().note;
        for position in 0..note.len() {
            let mut bytes = note.clone().into_bytes();
            bytes[position] ^= 1;
            let Ok(changed) = String::from_utf8(bytes) else {
                continue;
            };
            assert!(
                Checkpoint::verify(&changed, &signer.verifier()).is_err(),
                "byte {position}"
            );
        }
    }

    #[test]
    fn other_logs_keys_and_forms_are_refused() {
        let ours = signer("log.example/door", 1);
        let note = checkpoint().sign(&ours).unwrap().note;
        let verify = |note: &str, key: &LogVerifier| Checkpoint::verify(note, key).unwrap_err();
        let other_key = signer("log.example/door", 2).verifier();
        assert_eq!(verify(&note, &other_key), CheckpointError::UnknownKey);
        let other_log = signer("log.example/bank", 1);
        assert_eq!(
            verify(&note, &other_log.verifier()),
            CheckpointError::WrongOrigin
        );
        assert_eq!(
            checkpoint().sign(&other_log).unwrap_err(),
            CheckpointError::WrongOrigin
        );
        for (from, to) in [
            ("\n7\n", "\n07\n"),
            ("\n7\n", "\n+7\n"),
            ("\n\n", "\nmore\n\n"),
            ("\n\n", "\n"),
        ] {
            let changed = note.replacen(from, to, 1);
            assert_eq!(
                verify(&changed, &ours.verifier()),
                CheckpointError::Malformed,
                "{changed}"
            );
        }
        assert_eq!(verify("", &ours.verifier()), CheckpointError::Malformed);
    }
}
