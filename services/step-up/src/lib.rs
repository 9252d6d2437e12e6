//! Verifies what a passkey says: that it was made here, and that it signed this challenge, now, with the customer verified.
//!
//! Pure: no database, no clock, no network. Whose passkeys these are, whether a challenge was issued, how old it is and
//! whether it was used is the database's knowledge (`bank.answer_step_up`). CBOR, COSE and signatures are webauthn-rs-core's
//! work. The core is used, and not webauthn-rs, because the challenge is no random number here: it is the hash of the record
//! that the card displayed, of one showing of it and of the note, so the states that the library makes with challenges of
//! its own are built with this one. What the core leaves open is checked before it: the origin as text, frames, the user
//! handle, and the payment that a browser drew.

mod assertion;
mod client_data;
mod registration;

pub use assertion::{Assertion, AssertionError, Payment, Proof, ProofKind, StoredPasskey};
pub use client_data::Mismatch;
pub use registration::{NewPasskey, Registration, RegistrationError};

use sha2::{Digest as _, Sha256};
use webauthn_rs_core::WebauthnCore;

/// The page that passkeys are bound to: one origin, whose host is the relying party's id.
#[derive(Clone, Debug)]
pub struct RelyingParty {
    origin: String,
    id: String,
    core: WebauthnCore,
}

/// The origin is none.
#[derive(Debug, thiserror::Error)]
#[error("{0} is no origin that passkeys can be bound to")]
pub struct OriginError(String);

/// How long a prompt may stand, in milliseconds.
pub const PROMPT_MILLISECONDS: u32 = 60_000;

impl RelyingParty {
    /// The relying party of one origin, such as `https://panel.bank.example`.
    ///
    /// # Errors
    /// When the text is not an origin with a host.
    pub fn new(origin: &str) -> Result<Self, OriginError> {
        let bad = || OriginError(origin.to_owned());
        let url = url::Url::parse(origin).map_err(|_| bad())?;
        let id = url.host_str().ok_or_else(bad)?.to_owned();
        if url.origin().ascii_serialization() != origin {
            return Err(bad());
        }
        let core = WebauthnCore::new_unsafe_experts_only(
            "Countersign Bank",
            &id,
            vec![url],
            std::time::Duration::from_millis(u64::from(PROMPT_MILLISECONDS)),
            Some(false),
            Some(false),
        );
        Ok(Self {
            origin: origin.to_owned(),
            id,
            core,
        })
    }

    /// The relying party's id, for the page.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// The handle under which an authenticator files a customer's passkeys: tells a stranger nothing, and is the same each time.
pub fn user_handle(customer: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"countersign/passkey-user/v1");
    hash.update(customer.as_bytes());
    hash.finalize().into()
}

/// The hash under which a credential stands in events and receipts.
pub fn credential_hash(id: &[u8]) -> [u8; 32] {
    Sha256::digest(id).into()
}
