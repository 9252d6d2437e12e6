//! Who is asking: the customer of the bearer that the chat page holds in memory. Cookies are never looked at.

use axum::{
    extract::FromRequestParts,
    http::{header::AUTHORIZATION, request::Parts},
};
use countersign_domain::{CustomerId, Secret};
use countersign_serve::Problem;
use uuid::Uuid;

use crate::{
    app::App,
    store::{StoreError, customer},
};

/// Digits of a bearer: 256 bits in hexadecimal.
const BEARER_LENGTH: usize = 64;

/// A customer with a live chat session. A handler that acts for somebody takes this as an argument.
pub struct Chat {
    /// Whose session it is.
    pub customer: CustomerId,
    /// The session's grant, on which the grants of turns hang.
    pub grant: Uuid,
    /// The bearer itself: every transaction presents it to the database.
    pub bearer: Secret,
    /// The customer's language and region.
    pub locale: String,
}

impl FromRequestParts<App> for Chat {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let bearer = bearer(parts).ok_or(Problem::unauthorized())?;
        let mut transaction = app.database.begin(&bearer).await?;
        let found = customer::of_session(&mut transaction)
            .await?
            .ok_or(Problem::unauthorized())?;
        transaction.commit().await.map_err(StoreError::from)?;
        Ok(Self {
            customer: found.customer,
            grant: found.grant,
            bearer,
            locale: found.locale,
        })
    }
}

/// The one bearer of a request. Two `Authorization` headers are no bearer.
fn bearer(parts: &Parts) -> Option<Secret> {
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else {
        return None;
    };
    let digits = value.to_str().ok()?.strip_prefix("Bearer ")?;
    let lower_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    (digits.len() == BEARER_LENGTH && digits.bytes().all(lower_hex)).then(|| Secret::new(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> bool {
        let mut request = axum::http::Request::builder();
        for value in values {
            request = request.header(AUTHORIZATION, *value);
        }
        let (parts, ()) = request.body(()).expect("request").into_parts();
        bearer(&parts).is_some()
    }

    #[test]
    fn a_bearer_has_one_form_and_comes_once() {
        let good = format!("Bearer {}", "0a".repeat(32));
        assert!(read(&[&good]));
        assert!(!read(&[]));
        assert!(!read(&[&good, &good]));
        for bad in [
            "Bearer ",
            "Basic abc",
            &good.to_uppercase(),
            &format!("{good}0"),
            &good[..70],
            &good.replace("0a", "0'"),
        ] {
            assert!(!read(&[bad]), "{bad}");
        }
    }
}
