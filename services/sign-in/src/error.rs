//! Why a sign-in did not come about.

/// A sign-in or a logout that was not accepted. The text is for the service's log and names no person and no token.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// The provider did not answer, or not in a form that can be used. Trying again later may help.
    #[error("the identity provider is not usable: {0}")]
    Provider(String),
    /// The answer does not belong to a sign-in that this browser began a short while ago.
    #[error("the answer belongs to no sign-in of this browser")]
    NoRound,
    /// The answer names another issuer, or none although the provider promised one (RFC 9207).
    #[error("the answer comes from another issuer")]
    Issuer,
    /// The person or the provider declined; the provider's code word.
    #[error("the provider declined: {0}")]
    Declined(String),
    /// A token that does not hold.
    #[error("the provider's token is not accepted: {0}")]
    Token(String),
}
