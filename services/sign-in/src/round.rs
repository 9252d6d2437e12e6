//! One round to the provider and back, bound to one browser.

use countersign_domain::Secret;
use hmac::{Hmac, KeyInit, Mac};
use openidconnect::PkceCodeVerifier;
use sha2::Sha256;

/// How long a person may take at the provider, in seconds.
pub const ROUND_SECONDS: u32 = 10 * 60;

/// A sign-in that a browser has begun. Its one secret lives in a cookie of that browser; state, nonce and PKCE verifier are made
/// from it, so nothing is kept here between the two halves and none of the three tells another.
#[derive(Clone, Debug)]
pub struct Round(Secret);

impl Round {
    /// A new round.
    ///
    /// # Panics
    /// When the system has no randomness to give: then nothing here may go on.
    #[must_use]
    pub fn begin() -> Self {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the system gives random bytes");
        Self(Secret::from_random(bytes))
    }

    /// The round whose secret a browser brought back.
    #[must_use]
    pub const fn resume(secret: Secret) -> Self {
        Self(secret)
    }

    /// What the browser keeps.
    #[must_use]
    pub const fn secret(&self) -> &Secret {
        &self.0
    }

    /// What the provider must send back with the browser.
    pub(crate) fn state(&self) -> Secret {
        self.derive(b"state")
    }

    /// What the provider must write into the token.
    pub(crate) fn nonce(&self) -> Secret {
        self.derive(b"nonce")
    }

    /// What only this service can show when it fetches the token (RFC 7636: 43 to 128 unreserved characters).
    pub(crate) fn verifier(&self) -> PkceCodeVerifier {
        PkceCodeVerifier::new(self.derive(b"pkce").expose().to_owned())
    }

    fn derive(&self, what: &[u8]) -> Secret {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.expose().as_bytes())
            .expect("an HMAC key has any length");
        mac.update(what);
        Secret::from_random(mac.finalize().into_bytes().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_comes_back_as_it_left_and_its_parts_differ() {
        let round = Round::begin();
        let again = Round::resume(round.secret().clone());
        assert!(round.state().matches(again.state().expose()));
        assert_eq!(round.verifier().secret(), again.verifier().secret());
        let parts = [
            round.secret().expose().to_owned(),
            round.state().expose().to_owned(),
            round.nonce().expose().to_owned(),
            round.verifier().secret().clone(),
        ];
        for (at, one) in parts.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(parts[at + 1..].iter().all(|other| other != one));
        }
        assert!(!Round::begin().state().matches(round.state().expose()));
    }
}
