//! What the browser says it did, as far as the library leaves it unchecked.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;

use crate::RelyingParty;

/// The client data of an answer (Web Authentication Level 3, section 5.8.1), with what Secure Payment Confirmation adds.
#[derive(Debug, Deserialize)]
pub(crate) struct ClientData {
    #[serde(rename = "type")]
    pub kind: String,
    challenge: String,
    origin: String,
    #[serde(rename = "crossOrigin", default)]
    cross_origin: Option<bool>,
    #[serde(rename = "topOrigin", default)]
    top_origin: Option<String>,
    pub payment: Option<PaymentData>,
}

/// What the browser itself displayed before the customer agreed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaymentData {
    /// `rp` in the first browsers.
    #[serde(alias = "rp")]
    pub rp_id: String,
    pub top_origin: String,
    pub payee_name: Option<String>,
    pub payee_origin: Option<String>,
    pub total: Total,
    pub instrument: Instrument,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Total {
    pub value: String,
    pub currency: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Instrument {
    pub display_name: String,
}

/// What is wrong with an answer before any signature is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The client data is not JSON of its form.
    #[error("the client data cannot be read")]
    Form,
    /// It answers another kind of question.
    #[error("the client data is of another type")]
    Type,
    /// It answers another challenge.
    #[error("the challenge is not the one that was issued")]
    Challenge,
    /// It was given to another page.
    #[error("the origin is not this page's")]
    Origin,
    /// It was given inside a frame of another page.
    #[error("the answer comes out of a frame")]
    Frame,
    /// The browser displayed another payment.
    #[error("the payment the browser displayed is not the one on the card")]
    Payment,
}

/// Reads client data and checks whose page answered which challenge. The type is the caller's to check.
pub(crate) fn read(
    bytes: &[u8],
    page: &RelyingParty,
    challenge: &[u8; 32],
) -> Result<ClientData, Mismatch> {
    let data: ClientData = serde_json::from_slice(bytes).map_err(|_| Mismatch::Form)?;
    if data.challenge != URL_SAFE_NO_PAD.encode(challenge) {
        return Err(Mismatch::Challenge);
    }
    // As text: a parsed address would take `http://localhost:1/x` for the origin.
    if data.origin != page.origin {
        return Err(Mismatch::Origin);
    }
    if data.cross_origin == Some(true)
        || data
            .top_origin
            .as_ref()
            .is_some_and(|top| *top != page.origin)
    {
        return Err(Mismatch::Frame);
    }
    Ok(data)
}
