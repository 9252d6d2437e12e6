//! The one algorithm this process can sign and verify with: Ed25519 in its strict form.
//!
//! `jsonwebtoken` takes its cryptography from a provider of the process. Its own providers verify
//! a dozen algorithms and accept what plain `verify` accepts; this one knows EdDSA alone, refuses
//! small-order keys and points, and answers every other algorithm with an error.

use std::sync::Once;

use ed25519_dalek::{Signature, VerifyingKey, pkcs8::DecodePrivateKey};
use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{Error, ErrorKind, Result, new_error},
    signature,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory,
    verifier_factory,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes the strict provider the process's own, once, and says whether it is.
///
/// False means that another crate installed a provider first; nothing may be signed or verified
/// then, because the provider cannot be replaced.
pub(crate) fn is_installed() -> bool {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        // A provider that was there before shows in the comparison below.
        let _ = PROVIDER.install_default();
    });
    CryptoProvider::try_get_default().is_some_and(|current| std::ptr::eq(current, &PROVIDER))
}

fn only_ed25519(algorithm: Algorithm, family: AlgorithmFamily) -> Result<()> {
    if algorithm == Algorithm::EdDSA && family == AlgorithmFamily::Ed {
        Ok(())
    } else {
        Err(new_error(ErrorKind::InvalidAlgorithm))
    }
}

fn signer_factory(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    only_ed25519(*algorithm, key.family())?;
    let key = ed25519_dalek::SigningKey::from_pkcs8_der(key.as_bytes()).map_err(|_| bad_key())?;
    Ok(Box::new(StrictSigner(key)))
}

fn verifier_factory(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    only_ed25519(*algorithm, key.family())?;
    let bytes: &[u8; 32] = key.try_get_as_bytes()?.try_into().map_err(|_| bad_key())?;
    let key = VerifyingKey::from_bytes(bytes).map_err(|_| bad_key())?;
    Ok(Box::new(StrictVerifier(key)))
}

fn bad_key() -> Error {
    new_error(ErrorKind::InvalidEddsaKey)
}

struct StrictSigner(ed25519_dalek::SigningKey);

impl signature::Signer<Vec<u8>> for StrictSigner {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, signature::Error> {
        Ok(self.0.try_sign(message)?.to_bytes().to_vec())
    }
}

impl JwtSigner for StrictSigner {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

struct StrictVerifier(VerifyingKey);

impl signature::Verifier<Vec<u8>> for StrictVerifier {
    fn verify(
        &self,
        message: &[u8],
        signature: &Vec<u8>,
    ) -> std::result::Result<(), signature::Error> {
        self.0
            .verify_strict(message, &Signature::from_slice(signature)?)
    }
}

impl JwtVerifier for StrictVerifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_algorithm_has_a_signer_or_a_verifier() {
        assert!(is_installed());
        for algorithm in [Algorithm::HS256, Algorithm::RS256, Algorithm::ES256] {
            let secret = EncodingKey::from_secret(b"secret").unwrap();
            assert!(signer_factory(&algorithm, &secret).is_err());
            let secret = DecodingKey::from_secret(b"secret").unwrap();
            assert!(verifier_factory(&algorithm, &secret).is_err());
            assert!(verifier_factory(&algorithm, &DecodingKey::from_ed_der(&[1; 32])).is_err());
        }
    }
}
