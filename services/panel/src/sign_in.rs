//! Customers' sign-in at the bank's identity provider: what the provider says, as sessions of the panel.

use std::sync::Arc;

use anyhow::{Context, ensure};
use axum::http::{HeaderMap, HeaderValue};
use countersign_domain::Secret;
use countersign_serve::{Problem, cookie::SecretCookie};
use countersign_sign_in::{LoggedOut, Provider, SignedIn, web::Sessions};
use sqlx::PgPool;
use uuid::Uuid;

use crate::{app::App, config::Config, session};

/// The cookie of a sign-in that is under way.
pub const ROUND: SecretCookie = SecretCookie::lax("__Host-countersign-panel-sign-in");

/// The provider, where one is configured.
///
/// # Errors
/// When it cannot be meant, or stands beside the demo.
pub fn provider(config: &Config) -> anyhow::Result<Option<Arc<Provider>>> {
    ensure!(
        config.sign_in.is_none() || config.demo.is_none(),
        "sign_in and demo exclude each other: the demo's picker makes anybody anyone"
    );
    Provider::configured(config.sign_in.as_ref(), &config.panel_origin)
        .context("the identity provider cannot be used as it is configured")
}

/// The panel's sessions, for the provider to begin and to end.
#[derive(Clone, Debug)]
pub struct Customers(pub App);

impl Sessions for Customers {
    async fn open(
        &self,
        who: SignedIn,
        headers: HeaderMap,
    ) -> Result<Option<HeaderValue>, Problem> {
        let secret = begin(&self.0.pool, &who).await.map_err(problem)?;
        Ok(match secret {
            Some(secret) => Some(session::welcome(&self.0, &headers, &secret).await),
            None => None,
        })
    }

    async fn end(&self, whom: LoggedOut) -> Result<bool, Problem> {
        let ended = sqlx::query_scalar!(
            "SELECT bank.end_by_provider($1, $2, $3, $4)",
            whom.issuer,
            whom.subject,
            whom.session,
            whom.token_id,
        )
        .fetch_one(&self.0.pool)
        .await
        .map_err(problem)?;
        let Some(ended) = ended else {
            return Ok(false);
        };
        for hash in ended {
            if let Ok(hash) = hash.try_into() {
                self.0.wakes.end(hash);
            }
        }
        Ok(true)
    }
}

async fn begin(pool: &PgPool, who: &SignedIn) -> Result<Option<Secret>, sqlx::Error> {
    let secret = session::new_secret();
    let customer = sqlx::query_scalar!(
        "SELECT bank.sign_in_customer($1, $2, $3, $4, $5, $6)",
        who.issuer,
        who.subject,
        who.session,
        Uuid::now_v7(),
        &secret.hash()[..],
        i32::try_from(session::SESSION_SECONDS).unwrap_or(i32::MAX),
    )
    .fetch_one(pool)
    .await?;
    Ok(customer.map(|_| secret))
}

fn problem(error: sqlx::Error) -> Problem {
    tracing::error!(%error, "Could not keep a provider's session");
    Problem::internal()
}
