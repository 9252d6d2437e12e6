//! Where a list of several servers goes on: each server's own cursor, sealed together.
//!
//! A cursor comes back from the client, who may have changed it or kept it from another list. The
//! seal is over the list, the caller and every server's part, and its key lives as long as the door.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::clock;

/// Domain separation of the seal.
const CONTEXT: &[u8] = b"countersign/list-cursor/v1\0";
/// Length of the seal, in bytes.
const SEAL_BYTES: usize = 16;

/// Where each server's part of a list goes on, by the server's name.
pub type Cursors = BTreeMap<String, String>;

/// Makes cursors and knows its own again.
pub struct Seal(Hmac<Sha256>);

impl Seal {
    /// A seal of its own.
    ///
    /// # Errors
    /// When the kernel gives no random bytes.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self(Hmac::new_from_slice(&clock::random_key()?)?))
    }

    fn over(&self, about: &[&str], payload: &[u8]) -> Hmac<Sha256> {
        let mut seal = self.0.clone();
        seal.update(CONTEXT);
        for part in about {
            seal.update(&(part.len() as u64).to_be_bytes());
            seal.update(part.as_bytes());
        }
        seal.update(payload);
        seal
    }

    /// The cursor for these places in a list; `about` says whose and which list.
    pub fn close(&self, about: &[&str], cursors: &Cursors) -> String {
        let payload = serde_json::to_vec(cursors).unwrap_or_default();
        let seal = self.over(about, &payload).finalize().into_bytes();
        let mut cursor = seal[..SEAL_BYTES].to_vec();
        cursor.extend_from_slice(&payload);
        URL_SAFE_NO_PAD.encode(cursor)
    }

    /// The places in a list that a cursor names; none where it is not one of this seal's for it.
    pub fn open(&self, about: &[&str], cursor: &str) -> Option<Cursors> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (seal, payload) = bytes.split_at_checked(SEAL_BYTES)?;
        let sealed = self.over(about, payload).verify_truncated_left(seal);
        sealed.ok()?;
        serde_json::from_slice(payload).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_holds_for_its_list_and_caller_and_for_nothing_else() {
        let seal = Seal::new().unwrap();
        let cursors: Cursors = [
            ("files".into(), "a\"b".into()),
            ("rates".into(), "2".into()),
        ]
        .into();
        let about = ["tools/list", "ada"];
        let cursor = seal.close(&about, &cursors);
        assert_eq!(seal.open(&about, &cursor), Some(cursors.clone()));
        assert_eq!(seal.open(&["prompts/list", "ada"], &cursor), None);
        assert_eq!(seal.open(&["tools/list", "bob"], &cursor), None);
        assert_eq!(seal.open(&["tools/lista", "da"], &cursor), None);
        assert_eq!(Seal::new().unwrap().open(&about, &cursor), None);
        for at in 0..cursor.len() {
            let mut other = cursor.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(seal.open(&about, &other), None, "{at}");
        }
        for other in ["", "A", "====", &cursor[1..], &cursor[..20]] {
            assert_eq!(seal.open(&about, other), None, "{other}");
        }
    }
}
