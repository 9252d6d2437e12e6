//! The forms of the provider's metadata and tokens, with the members that the core specification leaves to others.

use std::collections::BTreeMap;

use openidconnect::{
    AdditionalClaims, AdditionalProviderMetadata, Client, EmptyExtraTokenFields, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, IdToken, IdTokenClaims, IdTokenFields, ProviderMetadata,
    StandardErrorResponse, StandardTokenResponse,
    core::{
        CoreAuthDisplay, CoreAuthPrompt, CoreClaimName, CoreClaimType, CoreClientAuthMethod,
        CoreErrorResponseType, CoreGenderClaim, CoreGrantType, CoreJsonWebKey,
        CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreJwsSigningAlgorithm,
        CoreResponseMode, CoreResponseType, CoreRevocableToken, CoreRevocationErrorResponse,
        CoreSubjectIdentifierType, CoreTokenIntrospectionResponse, CoreTokenType,
    },
};
use serde::{Deserialize, Serialize};

/// What the discovery document says beyond Discovery 1.0.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Promises {
    /// RFC 9207: every answer names its issuer.
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
}
impl AdditionalProviderMetadata for Promises {}

/// Claims of an ID token or a logout token beyond the standard ones.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Extra {
    /// The provider's name for the session.
    pub sid: Option<String>,
    /// A logout token's own id.
    pub jti: Option<String>,
    /// What a logout token says has happened; an ID token has none.
    pub events: Option<BTreeMap<String, BTreeMap<String, String>>>,
}
impl AdditionalClaims for Extra {}

/// What a token says.
pub type Claims = IdTokenClaims<Extra, CoreGenderClaim>;

/// An ID token, or a logout token, which is signed and read in the same way.
pub type Token =
    IdToken<Extra, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;

/// What the token endpoint answers.
pub type Answered = StandardTokenResponse<
    IdTokenFields<
        Extra,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;

/// The discovery document with the provider's keys.
pub type Metadata = ProviderMetadata<
    Promises,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// This service as the provider's client, with where to send the browser and where to fetch tokens.
pub type Registered = Client<
    Extra,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Answered,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Signatures that are taken. Neither none nor a shared secret is among them.
pub const ALGORITHMS: [CoreJwsSigningAlgorithm; 4] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EdDsa,
];
