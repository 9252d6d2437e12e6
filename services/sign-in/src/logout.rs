//! Logout tokens: what the provider sends when a session ended elsewhere (Back-Channel Logout 1.0, section 2.4).

use std::str::FromStr;

use openidconnect::Nonce;
use time::OffsetDateTime;

use crate::{Provider, SignInError, claims::Token, provider::LEEWAY_SECONDS};

/// The one event that ends sessions.
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
/// How old a logout token may be, in seconds.
const AGE_SECONDS_MAX: i64 = 5 * 60;
/// Types of a logout token: its own, which is recommended, or that of every token.
const LOGOUT_TOKEN: [&str; 2] = ["logout+jwt", "JWT"];
/// Longest token that is looked at, in bytes.
const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// Whose sessions the provider ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedOut {
    /// The provider.
    pub issuer: String,
    /// Whose.
    pub subject: String,
    /// Which session; all of the subject's where it names none.
    pub session: Option<String>,
    /// The token's own id, good once.
    pub token_id: String,
}

impl Provider {
    /// Checks a logout token.
    ///
    /// # Errors
    /// [`SignInError::Token`] for one that does not hold, [`SignInError::Provider`] when its key cannot be asked for.
    pub async fn logged_out(&self, token: &str) -> Result<LoggedOut, SignInError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(SignInError::Token("it is too long".into()));
        }
        let token =
            Token::from_str(token).map_err(|_| SignInError::Token("it is no token".into()))?;
        // A token with a nonce answers somebody's sign-in; it must not be good for anything else.
        let without_nonce = |nonce: Option<&Nonce>| match nonce {
            None => Ok(()),
            Some(_) => Err("it has a nonce".to_owned()),
        };
        let claims = self.held(&token, LOGOUT_TOKEN, without_nonce).await?.claims;
        let refused = |why: &str| SignInError::Token(why.to_owned());
        let now = OffsetDateTime::now_utc().unix_timestamp();
        let issued = claims.issue_time().timestamp();
        if issued > now + LEEWAY_SECONDS || now - issued > AGE_SECONDS_MAX {
            return Err(refused("it was not issued just now"));
        }
        let extra = claims.additional_claims();
        if !extra
            .events
            .as_ref()
            .is_some_and(|events| events.contains_key(EVENT))
        {
            return Err(refused("it ends nothing"));
        }
        let token_id = extra
            .jti
            .clone()
            .filter(|id| (1..=255).contains(&id.len()))
            .ok_or_else(|| refused("it has no id"))?;
        Ok(LoggedOut {
            issuer: self.issuer().to_owned(),
            subject: claims.subject().as_str().to_owned(),
            session: extra.sid.clone(),
            token_id,
        })
    }
}
