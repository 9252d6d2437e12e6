//! What a passkey signed, against what it was asked.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use webauthn_rs_core::proto::{AuthenticationState, Credential, PublicKeyCredential};

use crate::{
    PROMPT_MILLISECONDS, RelyingParty,
    client_data::{self, ClientData, Mismatch},
    credential_hash,
    registration::descriptors,
    user_handle,
};

/// Length of the fixed head of authenticator data: hash of the relying party's id, flags, counter.
const HEAD_BYTES: usize = 37;
const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;

/// What `navigator.credentials.get()` or a payment prompt answered, in the JSON form of the specification.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Assertion(PublicKeyCredential);

impl Assertion {
    /// The hash of the credential that says it signed.
    pub fn credential_hash(&self) -> [u8; 32] {
        credential_hash(&self.0.raw_id)
    }
}

/// The payment that a browser displays by itself, from the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// The payee's name, as the card shows it.
    pub payee_name: String,
    /// A decimal string.
    pub value: String,
    /// ISO 4217.
    pub currency: String,
    /// The account the money leaves, as the card shows it.
    pub instrument: String,
}

/// Which question was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofKind {
    /// An ordinary passkey prompt.
    Passkey,
    /// A prompt in which the browser displayed the payment.
    Payment,
}

impl ProofKind {
    /// The type that stands in the client data.
    pub fn text(self) -> &'static str {
        match self {
            Self::Passkey => "webauthn.get",
            Self::Payment => "payment.get",
        }
    }
}

/// A verified assertion, with everything somebody else needs to verify it again.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Which question.
    pub kind: ProofKind,
    /// The hash of the credential's id.
    pub credential_hash: [u8; 32],
    /// The client data, byte for byte.
    pub client_data: Vec<u8>,
    /// SHA-256 of it.
    pub client_data_hash: [u8; 32],
    /// The authenticator data, byte for byte.
    pub authenticator_data: Vec<u8>,
    /// The signature over both.
    pub signature: Vec<u8>,
    /// What the authenticator's counter says.
    pub counter: u32,
}

/// Why an assertion does not count.
#[derive(Debug, thiserror::Error)]
pub enum AssertionError {
    /// It answers something else.
    #[error("the passkey's answer does not fit: {0}")]
    Mismatch(#[from] Mismatch),
    /// It is none of this customer's passkeys.
    #[error("this passkey is not one of the customer's")]
    UnknownPasskey,
    /// It names another customer.
    #[error("the passkey belongs to somebody else")]
    OtherUser,
    /// Nobody was verified, or it is for another relying party.
    #[error("the authenticator did not verify who pressed")]
    NotVerified,
    /// The counter did not grow: two copies of a key that counts.
    #[error("the passkey's counter went back")]
    CounterWentBack,
    /// The signature is not the key's.
    #[error("the signature is not this passkey's")]
    Signature,
    /// The stored key cannot be read.
    #[error("the stored passkey cannot be read")]
    Stored(#[source] serde_json::Error),
}

/// One of the customer's passkeys as the database keeps it.
#[derive(Clone, Debug)]
pub struct StoredPasskey {
    /// [`crate::NewPasskey::credential`].
    pub credential: Value,
    /// The highest counter that was seen.
    pub counter: u32,
}

impl RelyingParty {
    /// The options for `navigator.credentials.get()`, in their JSON form.
    pub fn request_options(&self, challenge: &[u8; 32], ids: &[Vec<u8>]) -> Value {
        json!({
            "challenge": URL_SAFE_NO_PAD.encode(challenge),
            "rpId": self.id,
            "timeout": PROMPT_MILLISECONDS,
            "allowCredentials": descriptors(ids),
            "userVerification": "required",
        })
    }

    /// Verifies an assertion for a challenge of ours by a passkey of the customer's. Where the browser displayed the payment
    /// itself, what it displayed must be `payment`.
    ///
    /// # Errors
    /// See [`AssertionError`].
    pub fn verify(
        &self,
        challenge: &[u8; 32],
        customer: &str,
        passkey: &StoredPasskey,
        payment: Option<&Payment>,
        answer: &Assertion,
    ) -> Result<Proof, AssertionError> {
        let response = &answer.0.response;
        let data = client_data::read(&response.client_data_json, self, challenge)?;
        let mut credential: Credential =
            serde_json::from_value(passkey.credential.clone()).map_err(AssertionError::Stored)?;
        credential.counter = passkey.counter;
        let id: &[u8] = &credential.cred_id;
        if id != answer.0.raw_id {
            return Err(AssertionError::UnknownPasskey);
        }
        if let Some(handle) = response.user_handle.as_deref()
            && !handle.is_empty()
            && handle != user_handle(customer)
        {
            return Err(AssertionError::OtherUser);
        }
        let counter = self.head(&response.authenticator_data)?;
        if (counter > 0 || passkey.counter > 0) && counter <= passkey.counter {
            return Err(AssertionError::CounterWentBack);
        }
        let kind = match data.kind.as_str() {
            "webauthn.get" => {
                self.by_the_library(challenge, credential, &answer.0)?;
                ProofKind::Passkey
            }
            "payment.get" => {
                self.displayed(&data, payment)?;
                signed(&credential, &answer.0)?;
                ProofKind::Payment
            }
            _ => return Err(Mismatch::Type.into()),
        };
        Ok(Proof {
            kind,
            credential_hash: answer.credential_hash(),
            client_data_hash: Sha256::digest(&response.client_data_json).into(),
            client_data: response.client_data_json.clone(),
            authenticator_data: response.authenticator_data.clone(),
            signature: response.signature.clone(),
            counter,
        })
    }

    /// Reads the fixed head of authenticator data: this relying party, present, verified. Answers the counter.
    fn head(&self, data: &[u8]) -> Result<u32, AssertionError> {
        let head: &[u8; HEAD_BYTES] = data
            .first_chunk()
            .ok_or(AssertionError::Mismatch(Mismatch::Form))?;
        let party: [u8; 32] = Sha256::digest(self.id.as_bytes()).into();
        let verified = USER_PRESENT | USER_VERIFIED;
        if head[..32] != party || head[32] & verified != verified {
            return Err(AssertionError::NotVerified);
        }
        Ok(u32::from_be_bytes([head[33], head[34], head[35], head[36]]))
    }

    fn by_the_library(
        &self,
        challenge: &[u8; 32],
        credential: Credential,
        answer: &PublicKeyCredential,
    ) -> Result<(), AssertionError> {
        let state: AuthenticationState = serde_json::from_value(json!({
            "credentials": [credential],
            "policy": "required",
            "challenge": URL_SAFE_NO_PAD.encode(challenge),
            "appid": null,
            "allow_backup_eligible_upgrade": false,
        }))
        .map_err(AssertionError::Stored)?;
        self.core
            .authenticate_credential(answer, &state)
            .map(drop)
            .map_err(|_| AssertionError::Signature)
    }

    /// Compares what the browser displayed with what the card shows (Secure Payment Confirmation, section 9).
    fn displayed(&self, data: &ClientData, expected: Option<&Payment>) -> Result<(), Mismatch> {
        let (Some(shown), Some(expected)) = (&data.payment, expected) else {
            return Err(Mismatch::Payment);
        };
        let same = shown.rp_id == self.id
            && shown.top_origin == self.origin
            && shown.payee_name.as_deref() == Some(expected.payee_name.as_str())
            // A payee of a bank has a name and an account, and no page.
            && shown.payee_origin.is_none()
            && shown.total.value == expected.value
            && shown.total.currency == expected.currency
            && shown.instrument.display_name == expected.instrument;
        same.then_some(()).ok_or(Mismatch::Payment)
    }
}

/// The signature alone: the library's procedure knows no payments, its keys verify them all the same.
fn signed(credential: &Credential, answer: &PublicKeyCredential) -> Result<(), AssertionError> {
    let mut message = answer.response.authenticator_data.clone();
    message.extend(Sha256::digest(&answer.response.client_data_json));
    match credential
        .cred
        .verify_signature(&answer.response.signature, &message)
    {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(AssertionError::Signature),
    }
}

#[cfg(test)]
mod tests;
