//! Operators' sign-in at the bank's identity provider, as a client of its own: nothing of a customer's login is good here.

use std::sync::Arc;

use anyhow::Context as _;
use axum::http::{HeaderMap, HeaderValue};
use countersign_serve::{Problem, cookie::SecretCookie};
use countersign_sign_in::{LoggedOut, Provider, SignedIn, web::Sessions};
use sqlx::PgPool;

use crate::{config::Config, cookie, session};

/// The cookie of a sign-in that is under way.
pub const ROUND: SecretCookie = SecretCookie::lax("__Host-countersign-dashboard-sign-in");

/// The provider, where one is configured.
///
/// # Errors
/// When it cannot be meant.
pub fn provider(config: &Config) -> anyhow::Result<Option<Arc<Provider>>> {
    Provider::configured(config.sign_in.as_ref(), &config.dashboard_origin)
        .context("the identity provider cannot be used as it is configured")
}

/// The dashboard's sessions, for the provider to begin and to end.
#[derive(Clone, Debug)]
pub struct Operators(pub PgPool);

impl Sessions for Operators {
    async fn open(
        &self,
        who: SignedIn,
        headers: HeaderMap,
    ) -> Result<Option<HeaderValue>, Problem> {
        let secret = session::new_secret();
        let name = sqlx::query_scalar!(
            "SELECT bank.sign_in_operator($1, $2, $3, $4, $5)",
            who.issuer,
            who.subject,
            who.session,
            &secret.hash()[..],
            i32::try_from(session::SESSION_SECONDS).unwrap_or(i32::MAX),
        )
        .fetch_one(&self.0)
        .await
        .map_err(problem)?;
        let Some(name) = name else {
            return Ok(None);
        };
        tracing::info!(operator = %name, "Operator {name} signed in");
        if let Some(older) = cookie::read(&headers)
            && let Err(error) = session::end(&self.0, &older).await
        {
            tracing::warn!(%error, "Could not end the session before this one");
        }
        Ok(Some(cookie::set(&secret, session::SESSION_SECONDS)))
    }

    async fn end(&self, whom: LoggedOut) -> Result<bool, Problem> {
        let ended = sqlx::query_scalar!(
            "SELECT bank.end_by_provider($1, $2, $3, $4)",
            whom.issuer,
            whom.subject,
            whom.session,
            whom.token_id,
        )
        .fetch_one(&self.0)
        .await
        .map_err(problem)?;
        Ok(ended.is_some())
    }
}

fn problem(error: sqlx::Error) -> Problem {
    tracing::error!(%error, "Could not keep a provider's session");
    Problem::internal()
}
