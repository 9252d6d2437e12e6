//! A new passkey.

use serde::Deserialize;
use serde_json::{Value, json};
use webauthn_rs_core::proto::{RegisterPublicKeyCredential, RegistrationState};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    PROMPT_MILLISECONDS, RelyingParty,
    client_data::{self, Mismatch},
    credential_hash, user_handle,
};

/// The algorithms a passkey may use, best first: ES256, ES384, and RS256, the only one of many machines with Windows.
const ALGORITHMS: [(i64, &str); 3] = [(-7, "ES256"), (-35, "ES384"), (-257, "RS256")];
/// Longest credential id that the specification allows.
const CREDENTIAL_ID_BYTES_MAX: usize = 1023;

/// What `navigator.credentials.create()` answered, in the JSON form of the specification.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Registration(RegisterPublicKeyCredential);

/// A passkey that can be kept.
#[derive(Clone, Debug)]
pub struct NewPasskey {
    /// The credential's id.
    pub id: Vec<u8>,
    /// Its hash, by which it is named everywhere else.
    pub hash: [u8; 32],
    /// The library's own form, with the public key in it.
    pub credential: Value,
    /// The counter it began with.
    pub counter: u32,
    /// Whether it can live on several devices.
    pub synced: bool,
    /// The client data, byte for byte.
    pub client_data: Vec<u8>,
}

/// Why a passkey was not taken.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
    /// It answers something else.
    #[error("the new passkey does not fit: {0}")]
    Mismatch(#[from] Mismatch),
    /// The library refused it: user verification, relying party, key, attestation object.
    #[error("the new passkey cannot be taken")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl RelyingParty {
    /// The options for `navigator.credentials.create()`, in their JSON form. `taken` are the ids the customer has already.
    pub fn creation_options(
        &self,
        challenge: &[u8; 32],
        customer: &str,
        name: &str,
        taken: &[Vec<u8>],
    ) -> Value {
        let handle = URL_SAFE_NO_PAD.encode(user_handle(customer));
        json!({
            "rp": {"id": self.id, "name": "Countersign Bank"},
            "user": {"id": handle, "name": name, "displayName": name},
            "challenge": URL_SAFE_NO_PAD.encode(challenge),
            "pubKeyCredParams": ALGORITHMS.map(|(number, _)| json!({"type": "public-key", "alg": number})),
            "timeout": PROMPT_MILLISECONDS,
            "excludeCredentials": descriptors(taken),
            "authenticatorSelection": {"residentKey": "preferred", "userVerification": "required"},
            "attestation": "none",
        })
    }

    /// Takes a new passkey: made for this challenge, on this page, with the customer verified.
    ///
    /// # Errors
    /// See [`RegistrationError`].
    pub fn register(
        &self,
        challenge: &[u8; 32],
        answer: &Registration,
    ) -> Result<NewPasskey, RegistrationError> {
        let data = client_data::read(&answer.0.response.client_data_json, self, challenge)?;
        if data.kind != "webauthn.create" {
            return Err(Mismatch::Type.into());
        }
        let state: RegistrationState = serde_json::from_value(json!({
            "policy": "required",
            "exclude_credentials": [],
            "challenge": URL_SAFE_NO_PAD.encode(challenge),
            "credential_algorithms": ALGORITHMS.map(|(_, name)| name),
            "require_resident_key": false,
            "authenticator_attachment": null,
            "extensions": {},
            "allow_synchronised_authenticators": true,
        }))
        .map_err(refused)?;
        let credential = self
            .core
            .register_credential(&answer.0, &state, None)
            .map_err(refused)?;
        let id: Vec<u8> = credential.cred_id.clone();
        if id.is_empty() || id.len() > CREDENTIAL_ID_BYTES_MAX || id != answer.0.raw_id {
            return Err(Mismatch::Form.into());
        }
        Ok(NewPasskey {
            hash: credential_hash(&id),
            id,
            counter: credential.counter,
            synced: credential.backup_eligible,
            client_data: answer.0.response.client_data_json.clone(),
            credential: serde_json::to_value(&credential).map_err(refused)?,
        })
    }
}

/// Credential ids as the options of a prompt name them.
pub(crate) fn descriptors(ids: &[Vec<u8>]) -> Vec<Value> {
    ids.iter()
        .map(|id| json!({"type": "public-key", "id": URL_SAFE_NO_PAD.encode(id)}))
        .collect()
}

fn refused(error: impl std::error::Error + Send + Sync + 'static) -> RegistrationError {
    RegistrationError::Refused(Box::new(error))
}
